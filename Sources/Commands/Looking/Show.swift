package import ArgumentParsing
import EventLog
import NavigationClient
import NavigationModel
import WireFormat

/// `navsync show`.
package struct Show: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "show", abstract: "Show a stack, bottom to top, and what was decided between concurrent actions.",
    discussion: """
      Asks the daemon. Without one it shows what this device's own replica holds, and says as of when.
      """,
    examples: [
      CommandExample("navsync show alice/main", "The stack as the daemon has it."),
      CommandExample("navsync show alice/main --json | jq -r '.stack[-1].value'", "The top value, for a script."),
      CommandExample(
        "navsync show alice/main --store /var/lib/navsync/daemon", "Beside a running daemon, from its store."),
    ])

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @Option(placeholder: "NAME", environment: "NAVSYNC_DEVICE", help: "Whose replica to show when no daemon answers.")
  var device: String?
  @OptionGroup var source: SourceOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run(on console: Console) async throws {
    let source: HistorySource
    do {
      source = try await self.source.open(on: console)
    } catch let error as CommandError where error.code == .unreachable {
      return try await showReplica(on: console, instead: error)
    }
    let history = try await History(stack, in: source)
    try await show(history, asOf: nil, on: console)
  }

  private func showReplica(on console: Console, instead error: CommandError) async throws {
    let folder = try deviceFolder(named: device)
    let reader: any EventLogReader
    do {
      reader = try SQLiteLog.openReader(at: folder)
    } catch let missing where missing.code == .notFound {
      throw CommandError(.unreachable, "\(error); this device has no replica to show either (\(folder))")
    } catch {
      throw commandError(error)
    }
    let history: History
    do {
      history = try await History(stack, in: .store(reader, path: folder))
    } catch let missing as CommandError where missing.code == .notFound {
      throw CommandError(.unreachable, "\(error); this device's replica has no stack \(stack) to show either")
    }
    if let id = try? reader.fact("device").flatMap({ DeviceID(String(decoding: $0, as: UTF8.self)) }) {
      history.note(device ?? Device.defaultName, of: id)
    }
    let asOf = rfc3339(milliseconds: history.lastStored ?? 0)
    console.say("no daemon answers; this is the local replica as of \(asOf)")
    try await show(history, asOf: asOf, on: console)
  }

  private func show(_ history: History, asOf: String?, on console: Console) async throws {
    var fold = StackFold(policy: history.policy)
    try await history.walk { item in
      fold.apply(item.event)
      return true
    }
    let entries = fold.entries()
    let conflicts = fold.conflicts()
    guard output.json else {
      try console.print(
        console.styled("\(stack)", .bold)
          + "  \(policyText(history.policy, history.names)), \(counted(fold.count, "event"))")
      return try StackPrinter(console: console, names: history.names).print(entries, conflicts)
    }
    var json = JSONWriter()
    json.raw(#"{"stack":"#)
    json.raw(JSONLines.stack(entries))
    json.raw(#","conflicts":["#)
    json.list(JSONLines.conflicts(conflicts)) { $0.raw($1) }
    json.raw(#"],"name":"#)
    json.string(stack.description)
    json.raw(#","policy":"#)
    json.string(history.policy.description)
    json.raw(#","events":\#(fold.count)"#)
    if let asOf {
      json.raw(#","asOf":"#)
      json.string(asOf)
    }
    json.raw("}\n")
    try console.write(json.bytes)
  }
}

/// A policy with its leader by name.
func policyText(_ policy: Policy, _ names: DeviceNames) -> String {
  policy.leader.map { "lead:\(names.text($0))" } ?? policy.description
}
