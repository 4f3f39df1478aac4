import NavigationModel
import TestSupport
import Testing
import WireFormat

/// Runs that a daemon takes in at once are what their events one by one are.
@Suite struct EventRunTests {
  private static func device(_ number: UInt64) -> DeviceID { DeviceID(high: 0, low: number) }

  @Test(arguments: 0..<20) func aBatchOfRunsIsTheBatchOfTheirEvents(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var next: [Int] = [1, 5, 1 << 40]
    var runs: [EventBatch.Run] = []
    var events: [(dot: Dot, bytes: [UInt8])] = []
    for _ in 0..<Int.random(in: 1...8, using: &random) {
      let author = Int.random(in: 0..<3, using: &random)
      var run = EventBatch.Run(device: Self.device(UInt64(author)), firstSequence: next[author], events: [])
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let bytes = [UInt8](repeating: UInt8(author), count: Int.random(in: 0...300, using: &random))
        run.events.append(bytes)
        events.append((Dot(run.device, next[author]), bytes))
        next[author] += 1
      }
      runs.append(run)
    }
    #expect(EventBatch(runs: runs) == EventBatch(events))
  }

  @Test func aRunIsTakenInUpToTheFirstThatIsNotAdmissible() throws {
    let stack = try StackName("s/main")
    var world = ServerWorld()
    let (one, other) = (Self.device(1), Self.device(2))
    world.act(one, on: stack, values: ["a", "b", "c"])
    world.act(other, on: stack, values: ["x"])
    world.learn(one, from: other, on: stack)
    world.act(one, on: stack, values: ["d"])
    let events = try #require(world.events[one]?[stack])

    var chains = StackChains(stack: stack)
    let ahead = chains.take(one, firstSequence: 1, previous: .empty, events: events, notAfter: world.wall - 1)
    #expect(ahead.count == 0)
    #expect(ahead.ahead?.dot == Dot(one, 1))
    let gap = chains.take(one, firstSequence: 2, previous: nil, events: events, notAfter: .max)
    #expect(gap.count == 0)
    #expect(gap.fault == .gap(expected: 1))
    #expect(chains == StackChains(stack: stack))

    let missing = chains.take(one, firstSequence: 1, previous: .empty, events: events, notAfter: .max)
    #expect(missing.count == 3)
    #expect(missing.newestTime == world.wall)
    #expect(missing.fault == .missingContext([other: 1]))
    var same = StackChains(stack: stack)
    for (place, bytes) in events.prefix(3).enumerated() { try same.receive(Dot(one, place + 1), bytes) }
    #expect(chains == same)
    #expect(chains.digest(of: one) == same.digest(of: one))

    let fork = chains.take(one, firstSequence: 4, previous: .empty, events: [events[3]], notAfter: .max)
    #expect(fork.count == 0)
    #expect(fork.fault == .fork(Dot(one, 4)))
    try chains.receive(Dot(other, 1), try #require(world.events[other]?[stack]?.first))
    let rest = chains.take(
      one, firstSequence: 4, previous: chains.digest(of: one), events: [events[3]], notAfter: .max)
    #expect(rest.count == 1)
    #expect(rest.fault == nil)
    #expect(rest.before.sequence == 3)
    #expect(chains.vector == [one: 4, other: 1])
  }
}
