package import ArgumentParsing
import NavigationModel
import WireFormat

/// `navsync replay`.
package struct Replay: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "replay", abstract: "Walk a stack's history, and show the stack after each event.",
    discussion: """
      What is walked is a stack of the daemon, a stack of a store (--store), or a file of JSON lines.
      """,
    examples: [
      CommandExample("navsync replay alice/main", "Every step at once."),
      CommandExample("navsync replay alice/main --at 14:03", "What the stack looked like at three past two."),
      CommandExample("navsync replay alice-main.jsonl --speed 10", "As it happened, ten times as fast."),
    ])

  @Argument(help: "A stack as space/stack, or a file of JSON lines; - for the standard input.") var what: String
  @Option(placeholder: "SPACE/STACK", help: "Which stack, if the file has events of several.") var stack: StackName?
  @Option(placeholder: "N|TIME", help: "Show only the stack as it was after that many events, or at that time.")
  var at: HistoryPlace?
  @Option(placeholder: "N|TIME", help: "Stop after that many events, or at that time.") var to: HistoryPlace?
  @Option(placeholder: "X", help: "Take the time that it took, divided by this; without it there is no waiting.")
  var speed: Double?
  @OptionGroup var source: SourceOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func validate() throws {
    if at != nil, to != nil || speed != nil {
      throw ValueError("--at shows one moment; it goes without --to and --speed")
    }
    if let speed, speed <= 0 { throw ValueError("--speed must be above 0") }
  }

  package func run(on console: Console) async throws {
    let (history, cut) = try await openHistory(on: console)
    let end = at ?? to
    var atMost = Int.max
    var before = Int.max
    switch end {
    case .number(let number): atMost = number
    case .time(let time): before = time.milliseconds(now: wallClockMilliseconds())
    case nil: break
    }
    var fold = StackFold(policy: history.policy)
    // An event of a later time is left out with what its author did after it: a chain has no holes.
    var leftOut: Set<DeviceID> = []
    var steps: [Step] = []
    try await history.walk { item in
      guard fold.count < atMost else { return false }
      guard item.event.timestamp.milliseconds <= before, !leftOut.contains(item.event.dot.device) else {
        leftOut.insert(item.event.dot.device)
        return true
      }
      let isVoid = fold.apply(item.event)
      guard at == nil else { return true }
      let step = Step(
        number: fold.count, item: item, isVoid: isVoid, entries: fold.entries(),
        conflicts: output.json ? fold.conflicts() : [])
      if speed == nil { try show(step, history, console) } else { steps.append(step) }
      return true
    }
    if at != nil { try showEnd(&fold, history, console) }
    if let speed { try await play(steps, at: speed, history, console) }
    if let cut, end == nil || fold.count == history.head {
      throw CommandError(.damage, "\(cut) ends without its trailer: it was cut; what stands before the cut was walked")
    }
    if at != nil { return }
    if fold.count < history.head, end == nil {
      throw CommandError(.damage, "only \(fold.count) of \(history.head) events could be walked; run 'navsync verify'")
    }
    if !output.json { try showConflicts(&fold, history, console) }
  }

  private struct Step {
    var number: Int
    var item: HistoryItem
    var isVoid: Bool
    var entries: [Entry]
    var conflicts: [Conflict]
  }

  /// The history, and the file's name if it is one that was cut.
  private func openHistory(on console: Console) async throws -> (History, cut: String?) {
    if what != "-", let stack = try? StackName(what), source.store != nil || !isThere(what) {
      guard self.stack == nil else { throw CommandError(.usage, "--stack chooses from a file; '\(what)' is a stack") }
      return (try await History(stack, in: try await source.open(on: console)), nil)
    }
    guard source.store == nil else { throw CommandError(.usage, "'\(what)' is not a stack; --store takes space/stack") }
    let file = try FileHistory(try LineReader(path: what, on: console), stack: stack, policy: nil)
    for dot in file.held {
      console.say("held back: \(file.text(dot.device)):\(dot.sequence); it needs others that are missing")
    }
    let stack: StackName
    do { stack = try file.stack ?? StackName("file/events") } catch { throw CommandError(.failed, "\(error)") }
    return (try await History(stack, in: .file(file)), file.isCut ? file.name : nil)
  }

  private func play(_ steps: [Step], at speed: Double, _ history: History, _ console: Console) async throws {
    var last: Int?
    for step in steps {
      let time = step.item.event.timestamp.milliseconds
      if let last, time > last { try await Task.sleep(for: .milliseconds(Double(time - last) / speed)) }
      last = max(last ?? time, time)
      try show(step, history, console)
    }
  }

  private func show(_ step: Step, _ history: History, _ console: Console) throws {
    let event = step.item.event
    guard output.json else {
      let time = console.styled(rfc3339(milliseconds: event.timestamp.milliseconds), .dim)
      let who = console.styled(history.names.text(event.dot.device), .cyan)
      return try console.print(
        "\(step.number)  \(time)  \(who)  \(text(of: event.action))\(step.isVoid ? " (void)" : "")  →  "
          + breadcrumbs(step.entries))
    }
    var json = JSONWriter()
    json.raw(#"{"number":\#(step.number),"event":"#)
    json.raw(JSONLines.line(event, stack: history.stack.description, previous: nil))
    json.raw(#","void":\#(step.isVoid),"stack":"#)
    json.raw(JSONLines.stack(step.entries))
    json.raw(#","conflicts":["#)
    json.list(JSONLines.conflicts(step.conflicts)) { $0.raw($1) }
    json.raw("]}\n")
    try console.write(json.bytes)
  }

  private func showEnd(_ fold: inout StackFold, _ history: History, _ console: Console) throws {
    if output.json {
      return try console.write(JSONLines.result(stack: fold.entries(), conflicts: fold.conflicts()) + [10])
    }
    try StackPrinter(console: console, names: history.names).print(fold.entries(), fold.conflicts())
  }

  private func showConflicts(_ fold: inout StackFold, _ history: History, _ console: Console) throws {
    let entries = fold.entries()
    let values = Dictionary(entries.map { ($0.id, $0.value) }) { first, _ in first }
    let conflicts = fold.conflicts()
    for conflict in conflicts.prefix(20) {
      console.say("! \(text(of: conflict, history.names, values))")
    }
    if conflicts.count > 20 { console.say("! and \(conflicts.count - 20) more; 'navsync show --json' has all") }
  }
}
