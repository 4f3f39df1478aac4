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
      A file is read whole and checked before anything is written. What is there already is left as it is: importing \
      twice changes nothing, and an import that was interrupted is simply started again. A store's folder brings all of \
      its stacks, or one by --stack: two stores become one.
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
    if isStore(file) { return try await mergeStore(on: console) }
    let lines = try LineReader(path: file, on: console)
    var progress = ProgressLine(on: console)
    let stacks: [ImportedStack]
    switch format {
    case .jsonl: stacks = [try readExport(lines)]
    case .wikispeedia: stacks = try readSessions(lines, &progress, console)
    }
    progress.clear()
    let total = stacks.reduce(0) { $0 + $1.events.count }
    var target = try await openTarget(on: console)
    var count = 0
    for stack in stacks {
      try await target.take(stack)
      count += stack.events.count
      progress.update("\(count) of \(total) events")
    }
    let added = try await target.finish()
    progress.clear()
    tell(lines.name, total, stacks.count, added, console)
  }

  private func openTarget(on console: Console) async throws -> any ImportTarget {
    if dryRun { return DryRun() }
    if let store { return try StoreTarget(path: store) }
    return try await DaemonTarget(try await DaemonSession.open(daemon.daemon, on: console))
  }

  private func tell(_ name: String, _ total: Int, _ stacks: Int, _ added: Int, _ console: Console) {
    let what = "\(counted(total, "event")) in \(counted(stacks, "stack"))"
    if dryRun {
      console.say("\(name): \(what) can be imported; nothing was written")
    } else {
      console.say("\(name): \(what); \(added) were new, \(total - added) were there already")
    }
  }

  private func isStore(_ path: String) -> Bool { isThere(path + "/log.sqlite3") }

  /// Brings the stacks of a store, one after the other.
  private func mergeStore(on console: Console) async throws {
    guard format == .jsonl else { throw CommandError(.usage, "'\(file)' is a store; --format is about files") }
    let source = try await HistorySource.open(store: file, daemon: nil, on: console)
    guard case .store(let reader, _) = source else { return }
    var names: [StackName] = []
    do { names = try reader.stacks(in: nil).map(\.stack) } catch { throw commandError(error) }
    if let stack {
      guard names.contains(stack) else {
        throw CommandError(.notFound, "there is no stack \(stack) in the store \(file)")
      }
      names = [stack]
    }
    if let store, realpath(store) == realpath(file) {
      throw CommandError(.usage, "'\(file)' is the store that it is to be brought into")
    }
    var target = try await openTarget(on: console)
    var progress = ProgressLine(on: console)
    var total = 0
    for name in names {
      let history = try await History(name, in: source)
      var imported = ImportedStack(stack: name, policy: history.policy, events: [])
      try await history.walk { item in
        imported.events.append(item.event)
        return true
      }
      for device in history.authors { imported.names[device] = history.names[device] }
      total += imported.events.count
      try await target.take(imported)
      progress.update("\(total) events")
    }
    let added = try await target.finish()
    progress.clear()
    tell(file, total, names.count, added, console)
  }

  private func readExport(_ lines: LineReader) throws -> ImportedStack {
    let file: FileHistory
    do { file = try FileHistory(lines, stack: stack, policy: nil) } catch let error as CommandError
      where error.code == .damage
    { throw CommandError(.damage, "\(error); nothing was imported") }
    func refuse(_ problem: String) -> CommandError {
      CommandError(.damage, "\(file.name): \(problem); nothing was imported")
    }
    if let problem = file.problem { throw CommandError(problem.code, "\(problem); nothing was imported") }
    if file.isCut { throw refuse("the trailer is missing, so the file was cut") }
    guard !file.lines.isEmpty else { throw refuse("it has no events") }
    guard file.hasRealIDs else { throw refuse("its devices are not ids, so its events can't be imported, only folded") }
    guard let stack = file.stack else { throw refuse("it doesn't say of which stack it is; use --stack") }
    if let fork = file.forks.first { throw refuse("two different events are called \(fork)") }
    if let held = file.held.first { throw refuse("the event \(held) needs others that are not in the file") }
    var chains = StackChains(stack: stack)
    for item in file.items {
      if file.header != nil, item.previous != chains.digest(of: item.event.dot.device) {
        throw refuse("the digest before \(item.event.dot) is another one; 'navsync verify' says where")
      }
      do { _ = try chains.append(item.event) } catch { throw refuse("\(item.event.dot): \(error)") }
    }
    return ImportedStack(
      stack: stack, policy: file.policy, events: file.items.map(\.event), names: file.names.all)
  }

  private func readSessions(
    _ lines: LineReader, _ progress: inout ProgressLine, _ console: Console
  ) throws -> [ImportedStack] {
    var reader = WikispeediaReader(lines)
    var places: [StackName: Int] = [:]
    var stacks: [ImportedStack] = []
    var skipped = 0
    while let session = try reader.next() {
      skipped += session.skippedBacks
      guard !session.events.isEmpty else { continue }
      let place = places[session.stack] ?? stacks.count
      if place == stacks.count {
        places[session.stack] = place
        stacks.append(ImportedStack(stack: session.stack, policy: .merge, events: []))
      }
      stacks[place].events += session.events
      stacks[place].names[session.device] = session.deviceName
      progress.update("\(lines.lineNumber) sessions read")
    }
    if skipped > 0 { console.say("\(skipped) back clicks at the root were left out") }
    return stacks
  }
}

/// The path without links and dots, nil if nothing is there.
private func realpath(_ path: String) -> String? {
  guard let resolved = Foundation.realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}
