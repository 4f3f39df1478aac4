import NavigationModel
import Replication
import Testing
import WireFormat

/// What peers send with ill will, or in amounts that nobody thought of.
@Suite struct ServerHostilityTests {
  private static func device(_ number: UInt64) -> DeviceID { DeviceID(high: 0, low: number) }

  private let peer = ServerCore.Peer(1)

  private func world(
    _ configure: (inout ServerCore.Configuration) -> Void = { _ in }
  ) -> ServerWorld {
    var world = ServerWorld(configure: configure)
    world.receive(.hello(Hello(device: Self.device(1), name: "d")), from: peer)
    world.receive(.credit(Credit(bytes: 1 << 20)), from: peer)
    return world
  }

  /// Each number is one that can be, their sum isn't.
  @Test func headsThatCannotBeCounted() throws {
    var world = world()
    let heads = (1...1100).map {
      DeviceHead(device: Self.device($0), sequence: Dot.maximumSequence, digest: .empty)
    }
    world.receive(.follow(Follow(stack: "s/main", start: .vector(heads))), from: peer)
    world.settle()
    #expect(
      world.frames.contains {
        if case .refused(let it) = $0.message { it.about == .follow && it.code == .malformed } else { false }
      })
  }

  /// An append that is more than one batch, of which the second is in a commit of its own, is answered if that fails.
  @Test func theRestOfAnAppendIsAnsweredToo() throws {
    var world = world {
      $0.batchBytes = 100
      $0.commitBytes = 100
    }
    let stack = try StackName("s/main")
    world.act(Self.device(1), on: stack, values: (0..<12).map { "v\($0)" })
    world.receive(.append(world.append(Self.device(1), on: stack, 1...12)), from: peer)
    world.drain()
    world.complete(0)
    world.drain()
    world.complete(0)
    world.drain()
    #expect(world.pending.count == 1, "the second commit is under way")
    world.fail(0, "a fault")
    world.settle()
    let rejected = world.frames.compactMap { frame -> Rejected? in
      if case .rejected(let it) = frame.message { it } else { nil }
    }
    #expect(rejected.map(\.code) == [.storage])
    #expect(rejected.first.map { $0.dot.sequence } == world.log[stack].map { $0.head + 1 })
  }

  /// Very many appends wait behind one that is compared with the log.
  @Test func manyAppendsBehindOneThatIsCompared() throws {
    var world = world()
    let stack = try StackName("s/main")
    let count = 20_000
    world.act(Self.device(1), on: stack, values: ["a"])
    let first = world.append(Self.device(1), on: stack, 1...1)
    world.receive(.append(first), from: peer)
    world.settle()
    world.receive(.append(first), from: peer)
    for _ in 0..<count { world.receive(.append(first), from: peer) }
    world.act(Self.device(1), on: stack, values: ["b"])
    var next = world.append(Self.device(1), on: stack, 2...2)
    for number in 0..<count {
      next.firstSequence = 3 + number
      world.receive(.append(next), from: peer)
    }
    next.firstSequence = 2
    world.receive(.append(next), from: peer)
    world.settle()
    #expect(world.log[stack]?.head == 2)
    #expect(world.core.counters[.rejectedSequenceGap] == count)
  }

  /// However small the events of a batch and however many their authors, it fits into a message.
  @Test func aBatchOfVerySmallEventsFitsIntoAMessage() throws {
    var world = world()
    let stack = try StackName("s/main")
    for author in 0..<200 {
      let device = Self.device(UInt64(author))
      var chains = StackChains(stack: stack)
      var events: [[UInt8]] = []
      for sequence in 1...400 {
        let action = Action.popToRoot
        let event = Event(
          dot: Dot(device, sequence), context: VersionVector(),
          timestamp: Timestamp(milliseconds: world.wall, counter: sequence), action: action)
        events.append(try chains.append(event))
      }
      world.receive(
        .append(
          Append(
            stack: stack.description, policy: nil, device: device, firstSequence: 1, previous: .empty, events: events)),
        from: peer)
    }
    world.settle()
    let batches = try #require(world.log[stack]?.batches)
    #expect(batches.map(\.batch.count).reduce(0, +) == 80_000)
    for stored in batches {
      let message = Message.events(
        EventsMessage(
          stack: stack.description, epoch: .max, previousOffset: stored.firstOffset, firstOffset: stored.firstOffset,
          batch: stored.batch.bytes))
      #expect(message.encoded().count <= Message.maximumSize)
    }
  }
}
