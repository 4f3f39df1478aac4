import Access
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

  // MARK: What peers take from each other

  private func refusals(_ world: ServerWorld, _ code: RefusalCode) -> [ServerCore.Peer] {
    world.frames.compactMap { frame in
      switch frame.message {
      case .refused(let it) where it.code == code: frame.peer
      case .rejected(let it) where it.code == code: frame.peer
      case _: nil
      }
    }
  }

  /// However many peers fill what may wait for the disk, who wants little still has room, and all that was admitted is
  /// stored and answered.
  @Test func thereIsAlwaysRoomForOneMore() throws {
    var world = world { $0.maximumBacklog = 20_000 }
    let greedy = (2...9).map { ServerCore.Peer($0) }
    for (place, peer) in greedy.enumerated() {
      let device = Self.device(UInt64(place + 2))
      let stack = try StackName("s/greedy\(place)")
      world.receive(.hello(Hello(device: device, name: "g")), from: peer)
      world.receive(.follow(Follow(stack: stack.description)), from: peer)
      world.act(device, on: stack, values: (0..<400).map { "value \($0)" })
    }
    world.settle()
    for first in 1...400 {
      for (place, peer) in greedy.enumerated() {
        let stack = try StackName("s/greedy\(place)")
        world.receive(.append(world.append(Self.device(UInt64(place + 2)), on: stack, first...first)), from: peer)
      }
    }
    world.drain()
    #expect(Set(refusals(world, .busy)) == Set(greedy))
    #expect(world.core.backlogBytes <= 20_000)
    let stack = try StackName("s/main")
    world.act(Self.device(1), on: stack, values: ["little"])
    world.receive(.append(world.append(Self.device(1), on: stack, 1...1)), from: peer)
    #expect(!refusals(world, .busy).contains(peer))
    world.settle()
    #expect(world.log[stack]?.head == 1)
    #expect(world.core.backlogBytes == 0)
  }

  /// Requests for stacks that aren't loaded are few at a time for each peer: the others' loads wait behind them.
  @Test func fewLoadsAtATime() throws {
    var world = world()
    let other = ServerCore.Peer(2)
    world.receive(.hello(Hello(device: nil, name: "")), from: other)
    for number in 0..<1000 { world.receive(.follow(Follow(stack: "s/n\(number)")), from: peer) }
    world.receive(.follow(Follow(stack: "s/other")), from: other)
    world.drain()
    #expect(refusals(world, .busy).count == 1000 - 256)
    #expect(!refusals(world, .busy).contains(other))
    world.settle()
    world.receive(.follow(Follow(stack: "s/n999")), from: peer)
    world.settle()
    #expect(world.frames.contains { if case .following(let it) = $0.message { it.stack == "s/n999" } else { false } })
  }

  /// A session that begins again on its connection has used up what it used up.
  @Test func beginningAgainIsNoNewBudget() throws {
    var world = world {
      $0.requestsASecond = 100
      $0.limits.follows = 1
    }
    for _ in 0..<50 {
      world.receive(.hello(Hello(device: nil, name: "")), from: peer)
      world.receive(.statusRequest(StatusRequest()), from: peer)
    }
    world.settle()
    #expect(world.frames.count { if case .statusReport = $0.message { true } else { false } } < 50)
    #expect(refusals(world, .tooMany).count > 0)
    // It passes.
    world.now += 10_000
    let before = world.frames.count
    world.receive(.hello(Hello(device: nil, name: "")), from: peer)
    world.receive(.statusRequest(StatusRequest()), from: peer)
    world.settle()
    #expect(world.frames[before...].contains { if case .statusReport = $0.message { true } else { false } })
  }

  /// What is told to many counts for more.
  @Test func presenceCountsByItsFollowers() throws {
    var world = world {
      $0.requestsASecond = 1000
      $0.limits.follows = 1000
    }
    for number in 2..<200 {
      world.receive(.hello(Hello(device: nil, name: "")), from: ServerCore.Peer(UInt64(number)))
      world.receive(.follow(Follow(stack: "s/main")), from: ServerCore.Peer(UInt64(number)))
    }
    world.receive(.follow(Follow(stack: "s/main")), from: peer)
    world.settle()
    for _ in 0..<1000 { world.receive(.presence(Presence(stack: "s/main")), from: peer) }
    world.settle()
    let told = world.frames.count { if case .presence = $0.message { true } else { false } }
    #expect(told > 0 && told < 20_000)
    #expect(refusals(world, .tooMany).count > 900)
  }

  /// One list at a time is read for a session, and few wait.
  @Test func listsOneAtATime() throws {
    var world = world()
    for _ in 0..<30 { world.receive(.list(List()), from: peer) }
    world.drain()
    #expect(world.pending.count { if case .list = $0 { true } else { false } } == 1)
    world.settle()
    #expect(refusals(world, .tooMany).count == 30 - 17)
    #expect(world.frames.count { if case .listing(let it) = $0.message { it.last } else { false } } == 17)
  }

  /// A device is named once among heads: each would be compared with the log.
  @Test func headsAreOfDifferentDevices() throws {
    var world = world()
    let heads = [1, 2].map { DeviceHead(device: Self.device(5), sequence: $0, digest: .empty) }
    world.receive(.follow(Follow(stack: "s/main", start: .vector(heads))), from: peer)
    world.settle()
    #expect(refusals(world, .malformed) == [peer])
  }

  /// Who sends more than is served has no session any more.
  @Test func whoFloodsIsGone() {
    var world = world()
    world.core.peerFlooded(peer, as: .local, at: world.moment)
    world.settle()
    #expect(world.core.counters[.peersMuted] == 1)
    #expect(world.core.gauges.first { $0.name == "sessions" }?.value == 0)
  }
}
