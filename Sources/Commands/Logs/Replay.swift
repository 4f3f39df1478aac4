package import ArgumentParsing
import Glibc
import NavigationModel
import StackHistory
import WireFormat

/// `navsync replay`.
package struct Replay: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "replay", abstract: "Walk a stack's history, and show the stack after each event.",
    discussion: """
      What is walked is a stack of the daemon, a stack of a store (--store), or a file of JSON lines. What an event \
      opened and closed is marked.

      On a terminal it is interactive: step with the arrows, go far with PgUp and PgDn, play with Space, go to the next \
      conflict with c, and to an event or time with t. --text prints the steps instead, as without a terminal.
      """,
    examples: [
      CommandExample("navsync replay alice/main", "Every step at once."),
      CommandExample("navsync replay alice/main --at 14:03", "What the stack looked like at three past two."),
      CommandExample("navsync replay alice-main.jsonl --speed 10", "As it happened, ten times as fast."),
    ])

  @Argument(help: "A stack as space/stack, or a file of JSON lines; - for the standard input.") var what: String
  @Option(
    placeholder: "N|TIME|DEVICE:N",
    help: "Show only the stack as it was after that many events, at that time, or as that event's author saw it.")
  var at: HistoryPlace?
  @Option(placeholder: "N", help: "Begin with that event; those before it are taken in silently.") var from = 1
  @Option(placeholder: "N|TIME", help: "Stop after that many events, or at that time.") var to: HistoryPlace?
  @Option(placeholder: "X", help: "Take the time that it took, divided by this; without it there is no waiting.")
  var speed: Double?
  @Flag(help: "Print the steps on a terminal too.") var text: Bool
  @OptionGroup var looking: LookingBackOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func validate() throws {
    if at != nil, to != nil || speed != nil {
      throw ValueError("--at shows one moment; it goes without --to and --speed")
    }
    if let speed, speed <= 0 { throw ValueError("--speed must be above 0") }
    if from < 1 { throw ValueError("--from must be at least 1") }
    if case .event = to { throw ValueError("--to is the number of an event, or a time; --at takes DEVICE:N") }
  }

  package func run(on console: Console) async throws {
    let loaded = try await looking.load(what, on: console)
    if let at {
      let shown = try loaded.shown(at: at)
      let reachesCut = shown.count == loaded.timeline.count
      try show(shown, loaded, console)
      return reachesCut ? try loaded.finish() : ()
    }
    if from > 1 { _ = try loaded.moment(from) }
    if isInteractive(console) { await runReplay(loaded, at: from > 1 ? from : nil) }
    let end =
      switch to {
      case .number(let number): try loaded.moment(number)
      case .time(let time): loaded.timeline.moment(at: time.milliseconds(now: wallClockMilliseconds()))
      case .event, nil: loaded.timeline.count
      }
    try await walk(loaded, to: end, console)
    if !output.json { try showConflicts(loaded, at: end, console) }
    if to == nil || end == loaded.timeline.count { try loaded.finish() }
  }

  private func isInteractive(_ console: Console) -> Bool {
    console.isTerminal && isatty(console.input) == 1 && console.environment["TERM"] != "dumb" && !text && !output.json
      && speed == nil && to == nil && what != "-"
  }

  private func walk(_ loaded: LoadedHistory, to end: Int, _ console: Console) async throws {
    guard from <= end else { return }
    let buffered = BufferedOutput(descriptor: console.output, name: "the standard output")
    var steps = JSONSteps(loaded.timeline.policy)
    var last: Int?
    for number in 1..<end + 1 {
      // The conflicts of a moment need the fold of that moment.
      if output.json {
        let line = steps.line(number, loaded)
        if number >= from { try buffered.write(line + [10]) }
      } else if number >= from {
        try buffered.print(line(number, loaded, console))
      }
      guard let speed, number >= from else { continue }
      try buffered.flush()
      let time = loaded.timeline.time(of: number)
      if number < end, loaded.timeline.time(of: number + 1) > max(time, last ?? time) {
        let gap = loaded.timeline.time(of: number + 1) - max(time, last ?? time)
        try await Task.sleep(for: .milliseconds(Double(gap) / speed))
      }
      last = max(last ?? time, time)
    }
    try buffered.flush()
  }

  private func line(_ number: Int, _ loaded: LoadedHistory, _ console: Console) -> String {
    let event = loaded.timeline.event(number)
    let time = console.styled(timeText(event.timestamp.milliseconds, on: console), .dim)
    let who = console.styled(loaded.names.text(event.dot.device), .cyan)
    let isVoid = loaded.timeline.isVoid(number)
    return "\(number)  \(time)  \(who)  \(Commands.text(of: event.action))\(isVoid ? " (void)" : "")  →  "
      + Commands.text(of: loaded.timeline.effect(of: number), on: console)
  }

  /// Steps as JSON, each with all conflicts that there were.
  private struct JSONSteps: ~Copyable {
    private var fold: StackFold

    init(_ policy: Policy) { fold = StackFold(policy: policy) }

    mutating func line(_ number: Int, _ loaded: LoadedHistory) -> [UInt8] {
      let event = loaded.timeline.event(number)
      let isVoid = fold.apply(event)
      var json = JSONWriter()
      json.raw(#"{"number":\#(number),"event":"#)
      json.raw(
        JSONLines.line(
          event, stack: loaded.history.stack.description, previous: nil, deviceText: loaded.history.deviceText))
      json.raw(#","void":\#(isVoid),"stack":"#)
      json.raw(JSONLines.stack(fold.entries(), deviceText: loaded.history.deviceText))
      json.raw(#","conflicts":["#)
      json.list(JSONLines.conflicts(fold.conflicts(), deviceText: loaded.history.deviceText)) { $0.raw($1) }
      json.raw("]}")
      return json.bytes
    }
  }

  private func show(_ shown: LoadedHistory.Shown, _ loaded: LoadedHistory, _ console: Console) throws {
    if output.json {
      return try console.write(
        JSONLines.result(
          stack: shown.entries, conflicts: shown.conflicts, deviceText: loaded.history.deviceText) + [
            10
          ])
    }
    try StackPrinter(console: console, names: loaded.names).print(shown.entries, shown.conflicts)
  }

  private func showConflicts(_ loaded: LoadedHistory, at end: Int, _ console: Console) throws {
    let shown = try loaded.shown(at: .number(end))
    let values = loaded.values(of: shown.entries)
    let conflicts = shown.conflicts
    for conflict in conflicts.prefix(20) {
      console.say("! \(Commands.text(of: conflict, loaded.names, values))")
    }
    if conflicts.count > 20 { console.say("! and \(conflicts.count - 20) more; 'navsync conflicts' has all") }
  }
}
