import NavigationModel
import TestSupport
import Testing

@Suite struct AdmissionTests {
  private let a = DeviceID(high: 0, low: 1)
  private let b = DeviceID(high: 0, low: 2)

  private func event(_ dot: Dot, _ context: VersionVector = VersionVector(), at time: Int = 0) -> Event {
    Event(
      dot: dot, context: context,
      timestamp: Timestamp(milliseconds: time == 0 ? dot.sequence : time, counter: 0),
      action: .push(on: nil, values: [Value(type: "String", payload: Array("\"x\"".utf8))]))
  }

  @Test func aHoleHoldsBackWhatComesAfterIt() {
    let events = [event(Dot(a, 1)), event(Dot(a, 3)), event(Dot(b, 1), [a: 3]), event(Dot(b, 2), [a: 3])]
    let admission = Admission(unchained: events)
    #expect(admission.events.map(\.dot) == [Dot(a, 1)])
    #expect(admission.held == [Dot(a, 3), Dot(b, 1), Dot(b, 2)])
    let whole = Admission(unchained: events + [event(Dot(a, 2))])
    #expect(whole.held.isEmpty && whole.events.count == 5)
  }

  @Test func anotherPreviousHoldsBack() {
    let first = Claim(event: event(Dot(a, 1)), previous: .empty, digest: Digest(high: 1, low: 1))
    let other = Claim(
      event: event(Dot(a, 2)), previous: Digest(high: 9, low: 9), digest: Digest(high: 1, low: 2))
    #expect(Admission([first, other]).held == [Dot(a, 2)])
    let unrooted = Claim(event: event(Dot(b, 1)), previous: Digest(high: 1, low: 1), digest: Digest(high: 3, low: 3))
    #expect(Admission([first, unrooted]).events.map(\.dot) == [Dot(a, 1)])
  }

  /// Both chains are whole; the earlier (timestamp, digest) is folded with what stands on it, the other is not.
  @Test func aForkKeepsTheEarlierChain() {
    func claim(_ sequence: Int, at time: Int, _ previous: Digest, _ digest: UInt64) -> Claim {
      Claim(
        event: event(Dot(a, sequence), at: time), previous: previous, digest: Digest(high: digest, low: 0))
    }
    let first = claim(1, at: 1, .empty, 1)
    let early = claim(2, at: 5, first.digest, 20)
    let late = claim(2, at: 6, first.digest, 10)
    let afterLate = claim(3, at: 7, late.digest, 30)
    let afterEarly = claim(3, at: 8, early.digest, 40)
    let reader = Claim(event: event(Dot(b, 1), [a: 3], at: 99), previous: .empty, digest: Digest(high: 50, low: 0))
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<20 {
      let claims = [first, early, late, afterLate, reader].shuffled(using: &generator)
      let admission = Admission(claims)
      #expect(admission.forks == [Dot(a, 2)])
      #expect(admission.events == [first.event, early.event, reader.event])
      #expect(Admission(claims + [afterEarly]).events.map(\.dot) == [Dot(a, 1), Dot(a, 2), Dot(a, 3), Dot(b, 1)])
      // A context that reaches past the chain that is folded is folded all the same.
      var fold = StackFold(policy: .merge)
      for event in admission.events { fold.apply(event) }
      #expect(fold.entries().count == 3)
    }
  }

  /// A context that goes back counts as if it had not.
  @Test func contextsOnlyGrow() {
    let events = [event(Dot(b, 1)), event(Dot(a, 1), [b: 1]), event(Dot(a, 2))]
    let admission = Admission(unchained: events.reversed())
    #expect(admission.events.map(\.dot) == [Dot(b, 1), Dot(a, 1), Dot(a, 2)])
    #expect(admission.events[2].context == [b: 1])
  }
}
