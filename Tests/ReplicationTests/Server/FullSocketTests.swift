import NavigationModel
import Replication
import Testing
import WireFormat

/// Followers whose socket has no room.
@Suite struct FullSocketTests {
  private static let author = DeviceID(high: 0, low: 1)
  private static let stack: StackName = {
    guard let name = try? StackName("s/main") else { preconditionFailure("a name") }
    return name
  }()
  private let peer = ServerCore.Peer(1)
  private let reader = ServerCore.Peer(2)

  /// A daemon with so many batches of one event each, and a reader that follows from the beginning.
  private func world(batches: Int, room: Int) -> ServerWorld {
    var world = ServerWorld()
    world.receive(.hello(Hello(device: Self.author, name: "author")), from: peer)
    world.receive(.credit(Credit(bytes: 1 << 20)), from: peer)
    world.act(Self.author, on: Self.stack, values: (1...batches).map { "v\($0)" })
    for sequence in 1...batches {
      world.receive(.append(world.append(Self.author, on: Self.stack, sequence...sequence)), from: peer)
      world.settle()
    }
    world.receive(.hello(Hello(name: "reader")), from: reader)
    world.receive(.credit(Credit(bytes: 1 << 20)), from: reader)
    world.settle()
    world.room[reader] = room
    world.receive(.follow(Follow(stack: "\(Self.stack)", start: .vector([]))), from: reader)
    world.settle()
    return world
  }

  private func isLive(_ world: ServerWorld) -> Bool {
    world.frames.contains { frame in
      if frame.peer == reader, case .live = frame.message { true } else { false }
    }
  }

  /// Many small batches fill the socket again and again; whoever takes all that fits waits no longer each time. A history of
  /// 1,100 single actions took four seconds to follow.
  @Test func oneThatReadsIsNotWaitedForLongerAndLonger() {
    var world = world(batches: 300, room: 15)
    var tries = 0
    while !isLive(world), let deadline = world.core.deadline, tries < 1000 {
      tries += 1
      // It read all that was there.
      world.room[reader] = 15
      world.now = max(world.now, deadline)
      world.core.timerFired(at: world.moment)
      world.settle()
    }
    #expect(isLive(world))
    #expect(world.now <= 300 / 15 * 20 + 20, "twenty milliseconds for each time that it was full")
  }

  /// Finding out that there is still no room costs a read.
  @Test func oneThatDoesNotReadIsTriedLessAndLess() {
    var world = world(batches: 100, room: 10)
    var waits: [Int] = []
    for _ in 0..<6 {
      guard let deadline = world.core.deadline else { break }
      waits.append(deadline - world.now)
      world.now = deadline
      world.core.timerFired(at: world.moment)
      world.settle()
    }
    #expect(waits == [20, 20, 40, 80, 160, 320])
  }
}
