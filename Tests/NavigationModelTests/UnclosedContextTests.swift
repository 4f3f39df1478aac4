import NavigationModel
import Specification
import TestSupport
import Testing

/// A faulty device names an event in its context and leaves out what the author of that event held.
@Suite struct UnclosedContextTests {
  private static func device(_ number: Int) -> DeviceID { DeviceID(high: 0, low: UInt64(number)) }

  private static func value(_ text: String) -> Value { Value(type: "String", payload: Array("\"\(text)\"".utf8)) }

  /// What a closed entry still held open showed in one order and not in the other.
  @Test func aRemovalWhoseAuthorLeftOutAScreenBetween() {
    let (p, c, d) = (Self.device(1), Self.device(2), Self.device(3))
    let entries = [p, c, d].map { EntryID(Dot($0, 1), 0) }
    func event(_ number: Int, _ context: VersionVector, _ action: Action) -> Event {
      Event(
        dot: Dot(Self.device(number), 1), context: context, timestamp: Timestamp(milliseconds: number, counter: 0),
        action: action)
    }
    let events = [
      event(1, [:], .push(on: nil, values: [Self.value("p")])),
      event(2, [p: 1], .push(on: entries[0], values: [Self.value("x")])),
      event(3, [p: 1, c: 1], .push(on: entries[1], values: [Self.value("y")])),
      event(4, [p: 1, d: 1], .pop(entries: [entries[0]])),
      event(5, [p: 1, c: 1, d: 1], .pop(entries: [entries[1], entries[2]])),
      event(6, [p: 1, c: 1], .pop(entries: [entries[0], entries[1]])),
    ]
    var shown: Set<[EntryID]> = []
    var conflicts: Set<[Conflict]> = []
    for order in [[0, 1, 2, 3, 4, 5], [0, 1, 2, 4, 3, 5], [0, 1, 5, 2, 3, 4], [0, 1, 5, 2, 4, 3]] {
      var fold = StackFold(policy: .merge)
      for place in order { fold.apply(events[place]) }
      shown.insert(fold.entryIDs())
      conflicts.insert(fold.conflicts())
    }
    #expect(shown.count == 1)
    #expect(conflicts.count == 1)
  }

  /// Whoever knew of an event knew what its author knew: so it folds, in every order, as if the context said so.
  @Test(arguments: [Policy.merge, .latest, .lead(DeviceID(high: 0, low: 2))]) func everyOrderFoldsTheSame(
    _ policy: Policy
  ) {
    for seed in 0..<400 {
      var random = SeededGenerator(seed: UInt64(seed))
      let events = Self.history(&random)
      var specification = SpecificationFold(policy: policy)
      for event in Self.closed(events) { specification.apply(event) }
      for _ in 0..<4 {
        var fold = StackFold(policy: policy)
        for event in Self.shuffled(events, &random) { fold.apply(event) }
        #expect(fold.entries() == specification.entries, "seed \(seed)")
        #expect(Set(fold.conflicts()) == specification.conflicts, "seed \(seed)")
      }
    }
  }

  private static func history(_ random: inout SeededGenerator) -> [Event] {
    var events: [Event] = []
    var held = VersionVector()
    var contexts: [DeviceID: VersionVector] = [:]
    var entries: [EntryID] = []
    for number in 1...14 {
      let author = device(Int.random(in: 1...4, using: &random))
      var context = contexts[author] ?? VersionVector()
      for element in held.elements where element.device != author && Bool.random(using: &random) {
        context[element.device] = Int.random(in: context[element.device]...element.sequence, using: &random)
      }
      contexts[author] = context
      held[author] += 1
      let dot = Dot(author, held[author])
      let some = entries.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random)).sorted()
      let action: Action
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5: action = .push(on: some.last, values: [value("v\(number)")])
      case 5..<8: action = .pop(entries: some)
      case 8: action = .popToRoot
      case _: action = .set(keep: Array(some.prefix(1)), values: [value("s\(number)")])
      }
      entries += action.values.indices.map { EntryID(dot, $0) }
      events.append(
        Event(dot: dot, context: context, timestamp: Timestamp(milliseconds: number, counter: 0), action: action))
    }
    return events
  }

  /// The same events with all in their contexts that is in the past of what they name.
  private static func closed(_ events: [Event]) -> [Event] {
    var pasts: [Dot: VersionVector] = [:]
    return events.map { event in
      var past = event.context
      for element in event.context.elements {
        if let more = pasts[Dot(element.device, element.sequence)] { past.join(more) }
      }
      if let more = pasts[Dot(event.dot.device, event.dot.sequence - 1)] { past.join(more) }
      past[event.dot.device] = event.dot.sequence
      pasts[event.dot] = past
      past[event.dot.device] = 0
      var event = event
      event.context = past
      return event
    }
  }

  private static func shuffled(_ events: [Event], _ random: inout SeededGenerator) -> [Event] {
    var left = events
    var held = VersionVector()
    var result: [Event] = []
    while !left.isEmpty {
      let ready = left.indices.filter {
        left[$0].dot.sequence == held[left[$0].dot.device] + 1 && held.covers(left[$0].context)
      }
      let event = left.remove(at: ready.randomElement(using: &random) ?? 0)
      held[event.dot.device] = event.dot.sequence
      result.append(event)
    }
    return result
  }
}
