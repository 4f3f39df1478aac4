package import ArgumentParsing
import NavigationModel
import StackHistory
import WireFormat

/// `navsync conflicts`.
package struct Conflicts: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "conflicts",
    abstract: "List what had to be decided: both sides, their clocks, the decision, the way to the other.",
    discussion: """
      Nothing is lost by a conflict: the log has every event. Each is listed with the command that gets what was not \
      taken. Exit code 0 also if there are some.
      """,
    examples: [
      CommandExample("navsync conflicts alice/main", "Those about what is shown, and the newest others."),
      CommandExample("navsync conflicts alice/main --all", "Those of all of history."),
      CommandExample("navsync conflicts alice/main --json | jq .decision", "For a program."),
    ])

  @Argument(help: "A stack as space/stack, or a file of JSON lines; - for the standard input.") var what: String
  @Flag(help: "All of history: also what was settled since, and more than the last ten void or overridden events.")
  var all: Bool
  @OptionGroup var looking: LookingBackOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run(on console: Console) async throws {
    let loaded = try await looking.load(what, on: console)
    var conflicts =
      loaded.timeline.conflicts() + (loaded.history.file?.forks ?? loaded.history.forks).map(Conflict.fork)
    let about = conflicts.filter { conflict in
      switch conflict {
      case .branches, .kept, .fork: true
      case .noop, .overridden: false
      }
    }
    let past = conflicts.filter { !about.contains($0) }
      .sorted { (loaded.number(of: $0) ?? 0) < (loaded.number(of: $1) ?? 0) }
    conflicts = about + (all ? past : past.suffix(10))
    let settled = all ? loaded.settledConflicts(beside: about) : []
    if settled.isEmpty, conflicts.isEmpty { console.say("nothing had to be decided on \(loaded.history.stack)") }
    for (number, conflict) in settled {
      let account = ConflictAccount(conflict, loaded, settledSince: number)
      if output.json { try console.write(account.json(loaded) + [10]) } else { try account.print(loaded, console) }
    }
    for conflict in conflicts {
      let account = ConflictAccount(conflict, loaded)
      if output.json { try console.write(account.json(loaded) + [10]) } else { try account.print(loaded, console) }
    }
    if !all, past.count > 10 { console.say("and \(past.count - 10) older void or overridden events; --all has them") }
    try loaded.finish()
  }
}

extension LoadedHistory {
  /// What was decided about entries that are no longer shown so, by the number of the event at which it was.
  fileprivate func settledConflicts(beside standing: [Conflict]) -> [(number: Int, conflict: Conflict)] {
    let standing = Set(standing)
    var result: [(number: Int, conflict: Conflict)] = []
    var number = timeline.decision(from: 1, step: 1)
    while let at = number {
      for conflict in timeline.newConflicts(at: at) where !standing.contains(conflict) {
        switch conflict {
        case .branches, .kept: result.append((at, conflict))
        case .noop, .overridden, .fork: break
        }
      }
      number = timeline.decision(from: at + 1, step: 1)
    }
    return result
  }

  /// The event that a conflict is about, for those that are about one.
  fileprivate func number(of conflict: Conflict) -> Int? {
    switch conflict {
    case .noop(let dot), .overridden(let dot), .fork(let dot): timeline.number(of: dot)
    case .branches, .kept: nil
    }
  }
}

/// A conflict told in full.
struct ConflictAccount {
  var conflict: Conflict
  var kind: String
  var about: String
  /// The events that stood against each other.
  var sides: [Dot]
  var decision: String
  /// A command line that gets the other.
  var other: String?
  /// The events of the same name that aren't folded.
  var rivals: [HistoryItem] = []

  /// The moment at which it was decided; nil: it stands now.
  var moment: Int?

  /// - Parameter moment: the event at which it was decided, if it is settled since.
  init(_ conflict: Conflict, _ loaded: LoadedHistory, settledSince moment: Int? = nil) {
    self.conflict = conflict
    self.moment = moment
    let stack = loaded.history.stack
    let shown = loaded.timeline.entries(at: moment ?? loaded.timeline.count)
    let values = loaded.values(of: shown)
    func name(_ id: EntryID) -> String { values[id].map { text(of: $0) } ?? loaded.text(id) }
    func restore(_ dot: Dot) -> String { "navsync restore \(stack) --at \(loaded.text(dot))" }
    switch conflict {
    case .branches(let on, let entries):
      kind = "branches"
      sides = entries.map(\.dot)
      let order = shown.map(\.id)
      let top = entries.max { (order.firstIndex(of: $0) ?? -1) < (order.firstIndex(of: $1) ?? -1) }
      about =
        entries.map(name).joined(separator: " and ") + " were put on \(on.map(name) ?? "the root") at the same time"
      decision =
        "all are kept, each branch whole; the one with the newest push is on top\(top.map { ": \(name($0))" } ?? "")"
      let under = entries.filter { $0 != top }
      other = under.first.map { restore($0.dot) }
    case .kept(let entry, let removal):
      kind = "kept"
      sides = [removal] + loaded.pushes(on: entry, notSeenBy: removal, at: moment)
      about = "\(name(entry)) was closed by \(loaded.text(removal)), which had not seen what was put on it"
      decision = "it is kept, with what is on it"
      other = restore(removal)
    case .overridden(let dot):
      kind = "overridden"
      sides = [dot]
      about = "\(loaded.text(dot)) isn't part of what is shown"
      decision = "a later action won, or the leader's"
      other = restore(dot)
    case .noop(let dot):
      kind = "void"
      sides = [dot]
      about = "\(loaded.text(dot)) did nothing"
      decision = loaded.timeline.number(of: dot).map { reasonForVoid($0, in: loaded) } ?? "it is void"
      other = nil
    case .fork(let dot):
      kind = "fork"
      sides = [dot]
      about = "two events are called \(loaded.text(dot)): a copied device, or one restored from a backup"
      decision = "the earlier one is folded; the other stays in the log"
      rivals = loaded.history.unfolded.filter { $0.event.dot == dot }
      // The device that made it acts it again under a new id as soon as it syncs.
      other = "navsync sync \(stack) --device DEVICE on the machine that made it: what isn't shown is done again"
    }
  }

  func print(_ loaded: LoadedHistory, _ console: Console) throws {
    let then = moment.map { "  (at event \($0), settled since)" } ?? ""
    try console.print(console.styled("\(kind)", .yellow) + "  \(about)\(then)")
    for dot in sides where loaded.timeline.number(of: dot) != nil {
      try console.print("  \(line(about: dot, loaded, on: console))")
    }
    for rival in rivals {
      try console.print(
        "  \(loaded.text(rival.event.dot))  \(timeText(rival.event.timestamp.milliseconds, on: console))  "
          + "\(text(of: rival.event.action))  (not folded)")
    }
    try console.print("  decided: \(decision)")
    if let other { try console.print("  the other: \(other)") }
  }

  /// A side on a line: who, when, what, and what it had seen.
  func line(about dot: Dot, _ loaded: LoadedHistory, on console: Console) -> String {
    guard let number = loaded.timeline.number(of: dot) else { return loaded.text(dot) }
    let event = loaded.timeline.event(number)
    let counter = event.timestamp.counter > 0 ? "+\(event.timestamp.counter)" : ""
    return "\(loaded.text(dot))  \(timeText(event.timestamp.milliseconds, on: console))\(counter)  "
      + "\(text(of: event.action))  (had seen \(seen(event, loaded)))"
  }

  /// An event's context for people: what it had of each other device.
  private func seen(_ event: Event, _ loaded: LoadedHistory) -> String {
    let others = event.context.elements.map { "\(loaded.names.text($0.device)):\($0.sequence)" }
    if others.isEmpty { return "no other device" }
    return others.prefix(6).joined(separator: " ") + (others.count > 6 ? " and \(others.count - 6) more" : "")
  }

  func json(_ loaded: LoadedHistory) -> [UInt8] {
    var json = JSONWriter()
    json.raw(#"{"conflict":"#)
    json.raw(JSONLines.conflicts([conflict], deviceText: loaded.history.deviceText)[0])
    json.raw(#","sides":["#)
    json.list(sides.compactMap { loaded.timeline.number(of: $0) }) { json, number in
      json.raw(
        JSONLines.line(loaded.timeline.event(number), stack: nil, previous: nil, deviceText: loaded.history.deviceText))
    }
    json.raw(#"],"about":"#)
    json.string(about)
    json.raw(#","decision":"#)
    json.string(decision)
    if let moment { json.raw(#","settledSince":\#(moment)"#) }
    json.raw(#","other":"#)
    if let other { json.string(other) } else { json.raw("null") }
    json.raw("}")
    return json.bytes
  }
}

extension LoadedHistory {
  /// The stack as an event's author saw it after the event; nil if there is no such event.
  func seen(by dot: Dot) -> [Entry]? {
    guard var fold = timeline.fold(seenBy: dot) else { return nil }
    return fold.entries()
  }

  /// The pushes of shown entries on an entry that the author of a removal had not seen; the first few.
  fileprivate func pushes(on entry: EntryID, notSeenBy removal: Dot, at moment: Int?) -> [Dot] {
    guard let number = timeline.number(of: removal) else { return [] }
    var seen = timeline.event(number).context
    seen[removal.device] = removal.sequence
    let shown = timeline.entries(at: moment ?? timeline.count)
    guard let place = shown.firstIndex(where: { $0.id == entry }) else { return [] }
    var result: [Dot] = []
    for above in shown[(place + 1)...] where !seen.contains(above.id.dot) && !result.contains(above.id.dot) {
      result.append(above.id.dot)
      if result.count == 3 { break }
    }
    return result
  }
}
