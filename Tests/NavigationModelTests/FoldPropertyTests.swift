import NavigationModel
import Specification
import TestSupport
import Testing

@Suite struct FoldPropertyTests {
  @Test func specificationAgreesWithTheReference() throws {
    for vector in try Vector.all().prefix(600) {
      var specification = SpecificationFold(policy: vector.policy)
      for event in Admission(unchained: vector.arrivals).events { specification.apply(event) }
      #expect(specification.entries == vector.stack, "seed \(vector.seed)")
      #expect(specification.conflicts == vector.conflicts, "seed \(vector.seed)")
    }
  }

  @Test func aDeviceShowsWhatItsActionSays() {
    for seed in 0..<400 {
      var history = RandomHistory(seed: UInt64(seed))
      for _ in 0..<40 {
        let (device, expected) = history.step()
        if let expected { #expect(device.fold.entries().map(\.value) == expected, "seed \(seed)") }
      }
    }
  }

  @Test func replicasAgreeWhateverTheOrder() {
    for seed in 1000..<1300 {
      var history = RandomHistory(seed: UInt64(seed))
      for _ in 0..<Int.random(in: 2...45, using: &history.generator) { _ = history.step() }
      history.levelAll()
      var specification = SpecificationFold(policy: history.devices[0].policy)
      for event in history.devices[0].events { specification.apply(event) }
      for device in history.devices {
        #expect(device.fold.entries() == specification.entries, "seed \(seed)")
        #expect(Set(device.fold.conflicts()) == specification.conflicts, "seed \(seed)")
        #expect(device.fold.vector == device.held)
      }
    }
  }

  /// Every device forgets as soon as it may; nobody can tell, whatever comes after.
  @Test func forgettingChangesNothing() {
    var forgotten = 0
    for seed in 2000..<2300 {
      var history = RandomHistory(seed: UInt64(seed), policy: .merge)
      for _ in 0..<60 {
        let (device, _) = history.step()
        var plain = StackFold(policy: .merge)
        for event in device.events { plain.apply(event) }
        let before = device.fold.rememberedEntries
        device.fold.forget(stable: history.stable(to: device))
        forgotten += before - device.fold.rememberedEntries
        #expect(device.fold.entries() == plain.entries(), "seed \(seed)")
        #expect(device.fold.conflicts() == plain.conflicts(), "seed \(seed)")
      }
      history.levelAll()
      var plain = StackFold(policy: .merge)
      for event in history.devices[0].events { plain.apply(event) }
      for device in history.devices {
        #expect(device.fold.entries() == plain.entries(), "seed \(seed)")
        #expect(device.fold.conflicts() == plain.conflicts(), "seed \(seed)")
      }
    }
    #expect(forgotten > 1000)
  }

  /// A device that acts on entries that it saw closed, pops from the middle or repeats itself is void, not harmful.
  @Test func faultyActionsAreVoid() {
    for seed in 3000..<3200 {
      var history = RandomHistory(seed: UInt64(seed))
      for _ in 0..<30 { _ = history.step() }
      history.levelAll()
      let device = history.devices[0]
      let policy = device.policy
      var specification = SpecificationFold(policy: policy)
      for event in device.events { specification.apply(event) }
      let ids = device.events.flatMap { event in
        event.action.values.indices.map { EntryID(event.dot, $0) }
      }
      let faulty = DeviceID(high: 9, low: 9)
      for number in 1...12 {
        let some = (0..<Int.random(in: 0...3, using: &history.generator)).compactMap { _ in
          ids.randomElement(using: &history.generator)
        }
        let actions: [Action] = [
          .pop(entries: some), .push(on: some.first, values: [history.value("z")]), .push(on: nil, values: []),
          .set(keep: some, values: [history.value("z")]), .pop(entries: [EntryID(Dot(faulty, 99), 0)]),
          .replace(entry: some.first ?? EntryID(Dot(device.id, 1), 7), value: history.value("z")),
        ]
        var context = device.held
        context[faulty] = 0
        let event = Event(
          dot: Dot(faulty, number), context: context,
          timestamp: Bool.random(using: &history.generator)
            ? device.fold.newestTimestamp.next(at: 9_000_000) : Timestamp(milliseconds: -1, counter: 0),
          action: actions.randomElement(using: &history.generator) ?? .popToRoot)
        device.receive(event)
        specification.apply(event)
        #expect(device.fold.entries() == specification.entries, "seed \(seed)")
        #expect(Set(device.fold.conflicts()) == specification.conflicts, "seed \(seed)")
      }
    }
  }
}
