package import ArgumentParsing
import EventLog
import NavigationClient
import NavigationModel
import StackHistory
import WireFormat

/// `navsync show`.
package struct Show: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "show", abstract: "Show a stack, bottom to top, and what was decided between concurrent actions.",
    discussion: """
      Asks the daemon. Without one it shows what a device of this machine holds, and says as of when. Of a file of JSON \
      lines it shows what its events come to.

      --at shows an earlier moment: after so many events of the log, of all that was made by a time, or as the author \
      of an event saw the stack right after it.
      """,
    examples: [
      CommandExample("navsync show alice/main", "The stack as the daemon has it."),
      CommandExample("navsync show alice/main --at 14:03", "What it looked like at three past two today."),
      CommandExample("navsync show alice/main --at phone:4", "What the phone saw right after its fourth action."),
      CommandExample("navsync show alice/main --json | jq -r '.stack[-1].value'", "The top value, for a script."),
      CommandExample(
        "navsync show alice/main --store /var/lib/navsync/daemon", "Beside a running daemon, from its store."),
      CommandExample("navsync show alice-main.jsonl --at 120", "What an export shows after its first 120 events."),
    ])

  @Argument(help: "A stack as space/stack, or a file of JSON lines; - for the standard input.") var what: String
  @Option(
    placeholder: "NAME", environment: "NAVSYNC_DEVICE",
    help: "Whose replica to show when no daemon answers; without it the one that has most.")
  var device: String?
  @Option(placeholder: "N|TIME|DEVICE:N", help: "The stack as it was then.") var at: HistoryPlace?
  @OptionGroup var looking: LookingBackOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run(on console: Console) async throws {
    let found: (history: History, asOf: String?)
    if let stack = try looking.stack(named: what) {
      found = try await historyOrReplica(
        of: stack, store: looking.source.store, daemon: looking.source.daemon.daemon, device: device, on: console)
    } else {
      guard what == "-" || isThere(what) || (try? StackName(what)) != nil else {
        throw CommandError(.usage, "'\(what)' is neither a stack, as space/stack, nor a file that is there")
      }
      found = (try await looking.file(what, on: console), nil)
    }
    let loaded = try await LoadedHistory(found.history, on: console)
    try show(loaded, asOf: found.asOf, on: console)
    try loaded.finish()
  }

  private func show(_ loaded: LoadedHistory, asOf: String?, on console: Console) throws {
    let history = loaded.history
    let shown = try loaded.shown(at: at)
    let (entries, conflicts) = (shown.entries, shown.conflicts)
    guard output.json else {
      let then = at.map { " as of \($0.argumentText)" } ?? ""
      try console.print(
        console.styled("\(history.stack)", .bold)
          + "  \(policyText(history.policy, history.names)), \(counted(shown.count, "event"))\(then)")
      return try StackPrinter(console: console, names: history.names).print(entries, conflicts)
    }
    var json = JSONWriter()
    json.raw(#"{"stack":"#)
    json.raw(JSONLines.stack(entries, deviceText: history.deviceText))
    json.raw(#","conflicts":["#)
    json.list(JSONLines.conflicts(conflicts, deviceText: history.deviceText)) { $0.raw($1) }
    json.raw(#"],"name":"#)
    json.string(history.stack.description)
    json.raw(#","policy":"#)
    json.string(history.policy.description)
    json.raw(#","events":\#(shown.count)"#)
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
