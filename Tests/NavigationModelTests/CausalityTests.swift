import NavigationModel
import TestSupport
import Testing

@Suite struct CausalityTests {
  /// Small vectors over few devices, so that all four orders come up often.
  private func vectors(_ seed: UInt64) -> (VersionVector, VersionVector, VersionVector) {
    var generator = SeededGenerator(seed: seed)
    func one() -> VersionVector {
      var result = VersionVector()
      for device in 1...4 {
        result[DeviceID(high: UInt64(device % 2), low: UInt64(device))] = Int.random(in: 0...2, using: &generator)
      }
      return result
    }
    return (one(), one(), one())
  }

  @Test func joinIsALeastUpperBound() {
    for seed in 0..<2000 {
      let (a, b, c) = vectors(UInt64(seed))
      let ab = a.joined(with: b)
      #expect(ab == b.joined(with: a))
      #expect(ab.joined(with: c) == a.joined(with: b.joined(with: c)))
      #expect(a.joined(with: a) == a)
      #expect(ab.covers(a) && ab.covers(b))
      if c.covers(a), c.covers(b) { #expect(c.covers(ab)) }
      var inPlace = a
      inPlace.join(b)
      #expect(inPlace == ab && inPlace.total == ab.total)
      #expect(ab.total == ab.elements.reduce(0) { $0 + $1.sequence })
      #expect(a.met(with: b).joined(with: a) == a)
      #expect(a.covers(a.met(with: b)) && b.covers(a.met(with: b)))
    }
  }

  @Test func orderIsAPartialOrder() {
    var seen: Set<CausalOrder> = []
    for seed in 0..<4000 {
      let (a, b, c) = vectors(UInt64(seed))
      let order = a.order(b)
      seen.insert(order)
      switch order {
      case .equal: #expect(a == b && b.order(a) == .equal)
      case .before: #expect(b.order(a) == .after && b.covers(a) && !a.covers(b))
      case .after: #expect(b.order(a) == .before && a.covers(b) && !b.covers(a))
      case .concurrent: #expect(b.order(a) == .concurrent && !a.covers(b) && !b.covers(a))
      }
      if a.order(b) == .before, b.order(c) == .before { #expect(a.order(c) == .before) }
    }
    #expect(seen.count == 4)
  }

  /// A device that only the other side has makes a difference: {A:1} is before {A:1, B:1}.
  @Test func orderLooksAtBothSides() {
    let (a, b) = (DeviceID(high: 0, low: 1), DeviceID(high: 0, low: 2))
    #expect(([a: 1] as VersionVector).order([a: 1, b: 1]) == .before)
    #expect(([a: 1, b: 1] as VersionVector).order([a: 1]) == .after)
    #expect(VersionVector().order([b: 1]) == .before)
  }

  @Test func badElementsAreRefused() {
    let (a, b) = (DeviceID(high: 0, low: 1), DeviceID(high: 0, low: 2))
    #expect(VersionVector(ascending: [.init(device: b, sequence: 1), .init(device: a, sequence: 1)]) == nil)
    #expect(VersionVector(ascending: [.init(device: a, sequence: 1), .init(device: a, sequence: 2)]) == nil)
    #expect(VersionVector(ascending: [.init(device: a, sequence: 0)]) == nil)
    #expect(VersionVector(ascending: [.init(device: a, sequence: .max), .init(device: b, sequence: 1)]) == nil)
  }

  /// The clock may stand still or jump back; stamps only grow.
  @Test func stampsNeverGoBack() {
    var generator = SeededGenerator(seed: 5)
    var stamp = Timestamp.zero
    for _ in 0..<2000 {
      let now = Int.random(in: 0...50, using: &generator)
      let next = stamp.next(at: now)
      #expect(next > stamp && next.milliseconds >= now)
      stamp = next
    }
  }

  @Test func idsReadBackAndSortAsTheirText() {
    var generator = SeededGenerator(seed: 6)
    let ids = (0..<200).map { _ in DeviceID(high: generator.next() >> 60, low: generator.next()) }
    for id in ids { #expect(DeviceID(id.description) == id && id.description.utf8.count == 32) }
    #expect(ids.sorted().map(\.description) == ids.map(\.description).sorted())
    for text in ["", "0", String(repeating: "g", count: 32), String(repeating: "A", count: 32)] {
      #expect(DeviceID(text) == nil)
    }
    #expect(Policy("lead:" + ids[0].description) == .lead(ids[0]))
    #expect(Policy("lead:x") == nil && Policy("first") == nil && Policy("merge") == .merge)
  }

  @Test func namesSayWhatIsWrong() throws {
    #expect(try StackName("alice/main").description == "alice/main")
    #expect(throws: NameError.Problem.notSpaceAndStack) { try problem { try StackName("alice") } }
    #expect(throws: NameError.Problem.badCharacter) { try problem { try StackName("alice/mAin") } }
    #expect(throws: NameError.Problem.badStart) { try problem { try StackName("alice/.x") } }
    #expect(throws: NameError.Problem.empty) { try problem { try StackName("/main") } }
    #expect(throws: NameError.Problem.badCharacter) { try problem { try StackName("a/b/c") } }
    #expect(throws: NameError.Problem.tooLong(65)) { try problem { try Name(String(repeating: "a", count: 65)) } }
    #expect(try Name(String(repeating: "a", count: 64)).description.count == 64)
  }

  private func problem<Result>(_ body: () throws -> Result) throws {
    do { _ = try body() } catch let error as NameError { throw error.problem }
  }
}

extension NameError.Problem: Error {}
