package import ArgumentParsing
import NavigationModel
import WireFormat

/// `navsync import`.
package struct Import: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "import", abstract: "Bring the events of a file into the daemon, or into a store.",
    discussion: """
      The file is read whole and checked before anything is written. Importing the same file twice changes nothing.
      """,
    examples: [
      CommandExample("navsync import alice-main.jsonl", "An export, into the daemon."),
      CommandExample(
        "navsync import --format wikispeedia sessions.tsv.gz --store ~/.local/state/navsync/daemon",
        "Recorded sessions, into a store that no daemon runs on."),
    ])

  package enum Format: String, CaseIterable, ArgumentValue {
    case jsonl
    case wikispeedia
  }

  @Argument(help: "The file, - for the standard input; gzip is unpacked.") var file: String
  @Option(help: "What the file is: an export, or tab-separated Wikispeedia sessions.") var format = Format.jsonl
  @Option(placeholder: "SPACE/STACK", help: "Take only this stack's lines of a jsonl file.") var stack: StackName?
  @Option(placeholder: "PATH", help: "Into the store in this folder, instead of a daemon.") var store: String?
  @Flag(help: "Read and check only; write nothing.") var dryRun: Bool
  @OptionGroup var daemon: DaemonOptions

  package init() {}

  package func run(on console: Console) async throws {
    let lines = try LineReader(path: file, on: console)
    var progress = ProgressLine(on: console)
    let stacks: [ImportedStack]
    switch format {
    case .jsonl: stacks = [try readExport(lines)]
    case .wikispeedia: stacks = try readSessions(lines, &progress, console)
    }
    progress.clear()
    let total = stacks.reduce(0) { $0 + $1.events.count }
    var target: any ImportTarget =
      if dryRun {
        DryRun()
      } else if let store {
        try StoreTarget(path: store)
      } else {
        try await DaemonTarget(try await DaemonSession.open(daemon.daemon, on: console))
      }
    var count = 0
    for stack in stacks {
      try await target.take(stack)
      count += stack.events.count
      progress.update("\(count) of \(total) events")
    }
    let added = try await target.finish()
    progress.clear()
    let what = "\(counted(total, "event")) in \(counted(stacks.count, "stack"))"
    if dryRun {
      console.say("\(lines.name): \(what) can be imported; nothing was written")
    } else {
      console.say("\(lines.name): \(what); \(added) were new, \(total - added) were there already")
    }
  }

  private func readExport(_ lines: LineReader) throws -> ImportedStack {
    let file = try FileHistory(lines, stack: stack, policy: nil)
    func refuse(_ problem: String) -> CommandError {
      CommandError(.damage, "\(file.name): \(problem); nothing was imported")
    }
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
