package import ArgumentParsing
import EventLog
import Foundation
import NavigationModel
import WireFormat

/// `navsync import`.
package struct Import: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "import", abstract: "Bring the events of a file into the daemon, or into a store.",
    discussion: """
      All of it is checked before anything is written, and then it is gone through again: an export of any size needs \
      no more memory than a small one. What is there already is left as it is, so importing twice changes nothing, and \
      an import that was interrupted goes on where it was when it is started again. A store's folder brings all of its \
      stacks, or one by --stack: two stores become one.
      """,
    examples: [
      CommandExample("navsync import alice-main.jsonl", "An export, into the daemon."),
      CommandExample(
        "navsync import --format wikispeedia sessions.tsv.gz --store ~/.local/state/navsync/daemon",
        "Recorded sessions, into a store that no daemon runs on."),
      CommandExample("navsync import backup/ --store ~/.local/state/navsync/daemon", "All that another store has."),
    ])

  package enum Format: String, CaseIterable, ArgumentValue {
    case jsonl
    case wikispeedia
  }

  @Argument(help: "The file, - for the standard input, or a store's folder; gzip is unpacked.") var file: String
  @Option(help: "What the file is: an export of either form, or tab-separated Wikispeedia sessions.") var format =
    Format.jsonl
  @Option(placeholder: "SPACE/STACK", help: "Take only this stack of a store, or this stack's lines of a file.")
  var stack: StackName?
  @Option(placeholder: "PATH", help: "Into the store in this folder, instead of a daemon.") var store: String?
  @Flag(help: "Read and check only; write nothing.") var dryRun: Bool
  @OptionGroup var daemon: DaemonOptions

  package init() {}

  package func run(on console: Console) async throws {
    let source: ImportSource
    let target: (any ImportTarget)?
    let check: ImportCheck
    do {
      source = try await openSource(on: console)
      target = try await openTarget(on: console)
      check = try await ImportCheck(source, target, console)
      guard check.entries > 0 else { throw CommandError(.damage, "\(source.name): it has no events") }
    } catch var error as CommandError where error.code == .damage || error.code == .refused {
      error.message += "; nothing was imported"
      throw error
    }
    let what = "\(source.name): \(counted(check.entries, "event")) in \(counted(check.stacks, "stack"))"
    let isThere = check.entries - check.fresh
    guard !dryRun, let target else {
      let known = target == nil ? "" : ": \(check.fresh) new, \(isThere) there already"
      return console.say("\(what) can be imported\(known); nothing was written")
    }
    var progress = ProgressLine(on: console)
    var count = 0
    try await source.forEach { stack, entry in
      count += 1
      progress.update("\(count) of \(check.entries) events")
      if !check.isKnown(entry, of: stack) { try await target.take(entry, of: stack) }
    }
    try await target.finish()
    progress.clear()
    // What others do meanwhile counts there, too.
    let added = min(target.added ?? check.fresh, check.fresh)
    console.say("\(what); \(added) were new, \(check.entries - added) were there already")
  }

  /// Nil for a try without a daemon: what it holds isn't known then.
  private func openTarget(on console: Console) async throws -> (any ImportTarget)? {
    if let store { return try StoreTarget(path: store, writes: !dryRun) }
    do {
      return DaemonTarget(try await DaemonSession.open(daemon.daemon, on: console))
    } catch let error as CommandError where dryRun && error.code == .unreachable {
      return nil
    }
  }

  private func openSource(on console: Console) async throws -> ImportSource {
    if isThere(file + "/log.sqlite3") { return try await openStore(on: console) }
    let input = try RereadableInput(path: file, on: console)
    if format == .wikispeedia { return .sessions(input) }
    if let export = try ExportFile(input, stack: stack) { return .export(export) }
    return .export(try rearranged(input, stack: stack, on: console))
  }

  private func openStore(on console: Console) async throws -> ImportSource {
    guard format == .jsonl else { throw CommandError(.usage, "'\(file)' is a store; --format is about files") }
    if let store, realpath(store) == realpath(file) {
      throw CommandError(.usage, "'\(file)' is the store that it is to be brought into")
    }
    do {
      let reader = try SQLiteLog.openReader(at: file)
      let names = try reader.stacks(in: nil).map(\.stack)
      guard let stack else { return .store(reader, path: file, names) }
      guard names.contains(stack) else {
        throw CommandError(.notFound, "there is no stack \(stack) in the store \(file)")
      }
      return .store(reader, path: file, [stack])
    } catch let error as LogError { throw commandError(error) }
  }
}

/// The path without links and dots, nil if nothing is there.
private func realpath(_ path: String) -> String? {
  guard let resolved = Foundation.realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}
