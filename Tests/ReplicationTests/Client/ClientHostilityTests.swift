import NavigationModel
import Replication
import TestSupport
import Testing
import WireFormat

/// Whatever a daemon sends, in whatever order and with whatever numbers, a client neither traps nor says what can't be
/// said.
@Suite struct ClientHostilityTests {
  @Test(arguments: 0..<200) func anythingGoes(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var core = ClientCore(ClientCore.Settings(device: device("a"), name: "phone", seed: seed))
    var replica = FakeReplica(device: device("a"))
    let stack = try StackName("alice/main")
    core.follow(stack, policy: nil, now: 0)
    core.start(now: 0)
    core.connected(now: 0)
    var now = 0
    for _ in 0..<200 {
      now += Int.random(in: 0...800, using: &random)
      switch Int.random(in: 0..<20, using: &random) {
      case 0: core.timerFired(now: now)
      case 1: replica.act(1, on: stack, of: &core)
      case 2:
        core.hurry(now: now)
        core.connected(now: now)
      case 3: core.follow(stack, policy: nil, now: now)
      case _: core.received(message(&random), bytes: Int.random(in: 0...300_000, using: &random), now: now)
      }
      for output in core.drain() {
        switch output {
        case .send(let message): #expect(try Message(decoding: message.encoded()) == message)
        // A log would refuse such events; here they are only done with.
        case .deliver(_, _, _, let bytes): core.consumed(bytes)
        case _: replica.answer(output, of: &core, now: now)
        }
      }
    }
  }

  /// A daemon that says that all was sent when something is lacking is asked anew, and not again and again.
  @Test func aGapAtTheEndIsAskedForLaterAndLater() throws {
    var core = ClientCore(ClientCore.Settings(device: device("a"), name: "phone", seed: 1))
    var replica = FakeReplica(device: device("a"))
    let stack = try StackName("alice/main")
    core.follow(stack, policy: nil, now: 0)
    core.start(now: 0)
    core.connected(now: 0)
    core.received(.welcome(Welcome(daemon: device("d"), epoch: 1, serverTime: 0, limits: Limits())), bytes: 0, now: 0)
    var now = 0
    var askedAt: [Int] = []
    var lies: [Message] = []
    let batch = EventBatch([(dot: Dot(device("b"), 1), bytes: [UInt8(1)])]).bytes
    while now < 60_000 {
      while case let outputs = core.drain(), !outputs.isEmpty || !lies.isEmpty {
        // After what is asked of the log is answered.
        let due = lies
        lies = []
        for output in outputs {
          switch output {
          case .send(.follow(let follow)):
            askedAt.append(now)
            try #require(askedAt.count < 1000)
            let heads = [DeviceHead(device: device("b"), sequence: 2, digest: .empty)]
            core.received(
              .following(Following(stack: follow.stack, exists: true, policy: .merge, head: 2, heads: heads)),
              bytes: 0, now: now)
          case .checkHeads:
            replica.answer(output, of: &core, now: now)
            // Offset 2 never comes.
            for first in [1, 3] {
              lies.append(
                .events(
                  EventsMessage(
                    stack: "alice/main", epoch: 1, previousOffset: first - 1, firstOffset: first, batch: batch)))
            }
            lies.append(.live(Live(stack: "alice/main", offset: 3)))
          case .deliver(_, _, _, let bytes): core.consumed(bytes)
          case _: replica.answer(output, of: &core, now: now)
          }
        }
        for lie in due { core.received(lie, bytes: 9, now: now) }
      }
      now = max(now + 1, core.deadline ?? 60_000)
      core.timerFired(now: now)
    }
    #expect(askedAt.count { $0 == 0 } == 2)
    #expect((4...12).contains(askedAt.count), "\(askedAt)")
  }

  private func number(_ random: inout SeededGenerator) -> Int {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: 0
    case 1: Dot.maximumSequence - Int.random(in: 0...2, using: &random)
    case _: Int.random(in: 0...6, using: &random)
    }
  }

  private func someDevice(_ random: inout SeededGenerator) -> DeviceID {
    Bool.random(using: &random) ? device("a") : DeviceID(high: 1, low: UInt64.random(in: 0...1500, using: &random))
  }

  private func message(_ random: inout SeededGenerator) -> Message {
    let name =
      ["alice/main", "alice/main", "alice/main", "nobody/here", "no name", ""].randomElement(using: &random) ?? ""
    let code = RefusalCode(rawValue: Int.random(in: 0...20, using: &random))
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1:
      var limits = Limits()
      limits.credit = number(&random)
      limits.message = number(&random)
      limits.eventsAnAppend = number(&random)
      return .welcome(
        Welcome(
          daemon: device("d"), epoch: UInt64.random(in: 1...2, using: &random), serverTime: number(&random),
          limits: limits))
    case 2:
      return .refused(
        Refused(
          about: Subject(rawValue: Int.random(in: 0...9, using: &random)), stack: name,
          code: Int.random(in: 0..<3, using: &random) == 0 ? code : .busy, reason: ""))
    case 3, 4:
      let count = [0, 1, 3, 1100].randomElement(using: &random) ?? 0
      let heads = (0..<count).map { _ in
        DeviceHead(device: someDevice(&random), sequence: number(&random), digest: .empty)
      }
      return .following(Following(stack: name, exists: true, policy: .merge, head: number(&random), heads: heads))
    case 5, 6:
      let authors = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        (dot: Dot(someDevice(&random), max(1, number(&random) - 5)), bytes: [UInt8(1)])
      }
      let once = Dictionary(authors.map { ($0.dot.device, $0) }) { first, _ in first }.values
      return .events(
        EventsMessage(
          stack: name, epoch: UInt64.random(in: 1...2, using: &random), previousOffset: number(&random),
          firstOffset: number(&random),
          batch: Int.random(in: 0..<9, using: &random) == 0
            ? [7, 7] : EventBatch(once.sorted { $0.dot < $1.dot }).bytes))
    case 7: return .live(Live(stack: name, offset: number(&random)))
    case 8:
      return .accepted(
        Accepted(
          stack: name, device: someDevice(&random), throughSequence: number(&random), offset: number(&random)))
    case 9:
      return .rejected(
        Rejected(
          stack: name, dot: Dot(someDevice(&random), max(1, number(&random))), code: code, detail: "",
          expectedSequence: number(&random)))
    case 10: return .pong(Pong(serverTime: number(&random), heads: [StackHead(stack: name, offset: number(&random))]))
    case _:
      return .presence(
        Presence(stack: name, device: someDevice(&random), name: "x", state: .active, top: nil))
    }
  }
}
