import NavigationModel
import TestSupport
import Testing

@Suite struct FoldSnapshotTests {
  /// A fold that was written and read in the middle of its life goes on as one that wasn't.
  @Test(.case(55)) func aRestoredFoldGoesOnAsIfNothingWas() throws {
    for seed in 0..<200 {
      var history = RandomHistory(seed: UInt64(seed))
      for _ in 0..<45 { _ = history.step() }
      history.levelAll()
      let device = history.devices[0]
      for cut in [0, device.events.count / 2, device.events.count] {
        var first = StackFold(policy: device.policy)
        for event in device.events[..<cut] { first.apply(event) }
        if seed % 3 == 0 { first.forget(stable: VersionVector()) }
        let snapshot = first.snapshot()
        var second = try StackFold(snapshot)
        #expect(second.snapshot() == snapshot)
        for event in device.events[cut...] { second.apply(event) }
        #expect(second.entries() == device.fold.entries(), "seed \(seed), cut \(cut)")
        #expect(second.conflicts() == device.fold.conflicts(), "seed \(seed), cut \(cut)")
        #expect(second.vector == device.held)
      }
    }
  }

  /// Whatever the numbers are, reading throws or gives a fold that can be looked at.
  @Test func damageIsRefusedOrHarmless() {
    var refused = 0
    for seed in 0..<60 {
      var history = RandomHistory(seed: UInt64(seed))
      for _ in 0..<25 { _ = history.step() }
      history.levelAll()
      let snapshot = history.devices[0].fold.snapshot()
      for _ in 0..<60 {
        var damaged = snapshot
        guard let place = damaged.numbers.indices.randomElement(using: &history.generator) else { continue }
        switch Int.random(in: 0..<3, using: &history.generator) {
        case 0: damaged.numbers[place] = Int.random(in: -3...300, using: &history.generator)
        case 1: damaged.numbers[place] = Int.random(in: .min ... .max, using: &history.generator)
        case _: damaged.numbers.removeLast()
        }
        do {
          var fold = try StackFold(damaged)
          _ = fold.entries()
          _ = fold.conflicts()
        } catch {
          refused += 1
        }
      }
    }
    #expect(refused > 1000)
  }

  @Test(.case(55)) func anotherVersionIsRefused() {
    let snapshot = FoldSnapshot(version: 99, policy: .merge, numbers: [], values: [])
    #expect(throws: SnapshotError.otherVersion(99)) { _ = try StackFold(snapshot).count }
  }
}
