package import ArgumentParsing
import NavigationModel
import StackHistory
import WireFormat

/// `navsync restore`.
package struct Restore: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "restore", abstract: "Make a stack what it was at an earlier moment. The log is never rewritten.",
    discussion: """
      An event like any other: a set to the values of then. So everybody sees it, it can be undone, and it meets \
      concurrent actions as any deep link does.
      """,
    examples: [
      CommandExample("navsync restore alice/main --at 14:03", "What was shown at three past two."),
      CommandExample("navsync restore alice/main --at 120", "After the first 120 events of the log."),
      CommandExample("navsync restore alice/main --at phone:7", "What the phone saw: the other side of a conflict."),
    ])

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @Option(
    placeholder: "N|TIME|DEVICE:N", help: "After that many events, at that time, or as that event's author saw it.")
  var at: HistoryPlace
  @Flag(short: "n", help: "Only show what the stack would be.") var dryRun: Bool
  @OptionGroup var options: ActOptions

  package init() {}

  package func run(on console: Console) async throws {
    let loaded = try await options.history(of: stack, on: console)
    let entries = try loaded.entries(at: at)
    if dryRun { return try console.print(breadcrumbs(entries)) }
    try await options.act(on: stack, .set(entries.map(\.value)), console: console)
  }
}

/// `navsync undo`.
package struct Undo: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "undo", abstract: "Take back what an event did to a stack. The log is never rewritten.",
    discussion: """
      What the event opened is closed, what it closed is put back where it stood, and what came after it stays. This is \
      an event like any other, so undo again undoes the undo.
      """,
    examples: [
      CommandExample("navsync undo alice/main", "The newest event that did something, whoever's it was."),
      CommandExample("navsync undo alice/main phone:4", "What the phone did in its fourth action."),
      CommandExample("navsync undo alice/main --mine --device phone", "The newest thing that the phone did."),
    ])

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @Argument(help: "The event as DEVICE:N, or its number in the log.") var event: HistoryPlace?
  @Flag(help: "The newest of the acting device, not of all.") var mine: Bool
  @Flag(short: "n", help: "Only show what the stack would be.") var dryRun: Bool
  @OptionGroup var options: ActOptions

  package init() {}

  package func validate() throws {
    if event != nil, mine { throw ValueError("--mine chooses the event; leave one of them out") }
  }

  package func run(on console: Console) async throws {
    let loaded = try await options.history(of: stack, on: console)
    let number = try chosen(loaded)
    let event = loaded.timeline.event(number)
    let what = "event \(number), \(loaded.text(event.dot)): \(text(of: event.action))"
    if loaded.timeline.isVoid(number) {
      return console.say("\(what) did nothing, so there is nothing to undo")
    }
    guard let path = loaded.timeline.pathUndoing(number) else {
      return console.say("nothing is left to undo of \(what)")
    }
    console.say("\(dryRun ? "would undo" : "undoing") \(what)")
    if dryRun { return try console.print(breadcrumbs(path)) }
    try await options.act(on: stack, .set(path), console: console)
  }

  private func chosen(_ loaded: LoadedHistory) throws -> Int {
    if let event { return try loaded.number(ofEvent: event) }
    let own = mine ? Set(loaded.names.devices(named: options.device.name)) : nil
    var number = loaded.timeline.count
    while number >= 1 {
      let isCandidate = !loaded.timeline.isVoid(number) && own?.contains(loaded.timeline.author(of: number)) ?? true
      if isCandidate, !loaded.timeline.effect(of: number).isEmpty { return number }
      number -= 1
    }
    throw CommandError(.notFound, "\(stack) has no event\(mine ? " of this device" : "") that changed what is shown")
  }
}

extension ActOptions {
  /// All of a stack's history as the daemon has it, or the acting device's own replica if none answers.
  func history(of stack: StackName, on console: Console) async throws -> LoadedHistory {
    let found = try await historyOrReplica(
      of: stack, store: nil, daemon: device.daemon.daemon, device: device.name, on: console)
    let loaded = try await LoadedHistory(found.history, on: console)
    try loaded.finish()
    return loaded
  }
}
