import Access
import NavigationModel
import Replication
import TestSupport
import Testing
import WireFormat

/// Who may do what, asked of every message.
@Suite struct ServerAccessTests {
  static func key(_ number: UInt8) -> PublicKey { PublicKey(bytes: [number] + [UInt8](repeating: 9, count: 31))! }
  static func device(_ number: UInt64) -> DeviceID { DeviceID(high: 0, low: number) }

  static func rules(_ lines: (key: UInt8, space: String, may: String)...) throws -> AccessRules {
    var rules = AccessRules()
    for line in lines {
      rules.allow(
        AccessRule(
          key: key(line.key), name: try Name("key\(line.key)"), scope: try Scope(line.space),
          verbs: try #require(Verbs(line.may))))
    }
    return rules
  }

  /// A world whose rules are these, with a session of each key, by its number, and of what is local as 0.
  static func world(_ rules: AccessRules, keys: [UInt8], devices: Bool = true) -> ServerWorld {
    var world = ServerWorld()
    world.core.accessChanged(rules, at: world.moment)
    for number in [0] + keys { greet(&world, number, device: devices && number != 0 ? device(UInt64(number)) : nil) }
    world.settle()
    world.frames = []
    return world
  }

  static func peer(_ number: UInt8) -> ServerCore.Peer { ServerCore.Peer(UInt64(number)) }

  static func send(_ message: Message, _ number: UInt8, _ world: inout ServerWorld) {
    world.core.received(
      message.encoded(), from: peer(number), as: number == 0 ? .local : .key(key(number)), at: world.moment)
  }

  static func greet(_ world: inout ServerWorld, _ number: UInt8, device: DeviceID?) {
    send(.hello(Hello(device: device, name: device == nil ? "" : "d\(number)")), number, &world)
    send(.credit(Credit(bytes: 1 << 20)), number, &world)
  }

  /// What a message that isn't allowed gets, and whether it was that.
  static func isRefusal(_ message: Message) -> Bool {
    switch message {
    case .refused(let refused): refused.code == .notAuthorised
    case .rejected(let rejected): rejected.code == .notAuthorised
    case _: false
    }
  }

  static func sent(_ world: ServerWorld, to number: UInt8) -> [Message] {
    world.frames.filter { $0.peer == peer(number) }.map(\.message)
  }

  /// Every kind of request with every set of rights: carried out if, and only if, the rules have it.
  @Test func eachRequestNeedsItsVerb() throws {
    let stack = try StackName("alice/main")
    for may in (0...7).map({ Verbs(rawValue: $0) }) {
      for place in ["alice", "bob", "*"] {
        var rules = AccessRules()
        if !may.isEmpty {
          rules.allow(AccessRule(key: Self.key(1), name: try Name("one"), scope: try Scope(place), verbs: may))
        }
        // The key is known by another space, which is of no use here.
        rules.allow(AccessRule(key: Self.key(1), name: try Name("one"), scope: try Scope("zoe"), verbs: .read))
        var world = Self.world(rules, keys: [1])
        world.act(Self.device(1), on: stack, values: ["a"])
        let isHere = place != "bob"
        let requests: [(Message, Bool)] = [
          (.follow(Follow(stack: "alice/main")), isHere && may.contains(.read)),
          (.append(world.append(Self.device(1), on: stack, 1...1)), isHere && may.contains(.act)),
          (.list(List(space: "alice")), isHere && may.contains(.read)),
          (
            .range(RangeRequest(stack: "alice/main", epoch: ServerWorld.epoch, from: 1, to: 1)),
            isHere && may.contains(.read)
          ),
          (.presence(Presence(stack: "alice/main", state: .active, top: nil)), isHere && may.contains(.read)),
          (.statusRequest(StatusRequest()), place == "*" && may.contains(.admin)),
        ]
        for (message, isAllowed) in requests {
          world.frames = []
          Self.send(message, 1, &world)
          world.settle()
          let refused = Self.sent(world, to: 1).contains(where: Self.isRefusal)
          #expect(refused == !isAllowed, "\(may) in \(place): \(message)")
        }
        #expect((world.log[stack]?.head ?? 0) == (isHere && may.contains(.act) ? 1 : 0), "\(may) in \(place)")
      }
    }
  }

  @Test func aStrangerHasNoSession() throws {
    var world = Self.world(try Self.rules((1, "*", "read")), keys: [1])
    for message: Message in [
      .hello(Hello()), .follow(Follow(stack: "alice/main")), .list(List()), .statusRequest(StatusRequest()),
      .ping(Ping(heads: [])),
    ] {
      world.frames = []
      Self.send(message, 7, &world)
      world.settle()
      #expect(Self.sent(world, to: 7).map(Self.isRefusal) == [true], "\(message)")
    }
    #expect(world.core.counters[.requestsNotAuthorised] == 5)
  }

  @Test func listsShowWhatMayBeRead() throws {
    var world = Self.world(
      try Self.rules((1, "alice", "read"), (2, "*", "read"), (3, "alice", "act")), keys: [1, 2, 3])
    for (place, name) in ["alice/main", "bob/main"].enumerated() {
      let stack = try StackName(name)
      let device = Self.device(UInt64(place + 50))
      world.act(device, on: stack, values: ["a"])
      Self.send(.append(world.append(device, on: stack, 1...1)), 0, &world)
    }
    world.settle()
    for (number, expected) in [(UInt8(1), ["alice/main"]), (2, ["alice/main", "bob/main"]), (3, [])] {
      world.frames = []
      Self.send(.list(List()), number, &world)
      world.settle()
      let listed = Self.sent(world, to: number).flatMap { message -> [String] in
        if case .listing(let listing) = message { listing.stacks.map(\.stack) } else { [] }
      }
      #expect(listed == expected)
    }
  }

  /// Who follows the list is told of new stacks, but of no other's.
  @Test func newStacksAreToldToWhoMayReadThem() throws {
    var world = Self.world(try Self.rules((1, "alice", "read"), (2, "bob", "read")), keys: [1, 2])
    for number in UInt8(1)...2 { Self.send(.list(List(follows: true)), number, &world) }
    world.settle()
    world.frames = []
    let stack = try StackName("bob/main")
    world.act(Self.device(50), on: stack, values: ["a"])
    Self.send(.append(world.append(Self.device(50), on: stack, 1...1)), 0, &world)
    world.settle()
    #expect(Self.sent(world, to: 1).isEmpty)
    #expect(Self.sent(world, to: 2).count == 1)
  }

  @Test func revocationBitesAtOnce() throws {
    let stack = try StackName("alice/main")
    var world = Self.world(try Self.rules((1, "alice", "read,act"), (2, "alice", "read")), keys: [1, 2])
    for number in UInt8(1)...2 { Self.send(.follow(Follow(stack: "alice/main")), number, &world) }
    world.settle()
    world.frames = []
    world.core.accessChanged(try Self.rules((2, "alice", "read")), at: world.moment)
    world.act(Self.device(50), on: stack, values: ["secret"])
    Self.send(.append(world.append(Self.device(50), on: stack, 1...1)), 0, &world)
    world.settle()
    #expect(Self.sent(world, to: 1).isEmpty, "nothing of what comes after")
    #expect(Self.sent(world, to: 2).contains { if case .events = $0 { true } else { false } })
    world.act(Self.device(1), on: stack, values: ["late"])
    Self.send(.append(world.append(Self.device(1), on: stack, 1...1)), 1, &world)
    world.settle()
    #expect(Self.sent(world, to: 1).map(Self.isRefusal) == [true])
    #expect(world.log[stack]?.head == 1)
  }

  /// One of several rights goes: the session begins anew, and what it follows is asked of the new rules.
  @Test func aChangeBeginsTheSessionAnew() throws {
    var world = Self.world(try Self.rules((1, "alice", "read"), (1, "bob", "read")), keys: [1])
    for space in ["alice", "bob"] { Self.send(.follow(Follow(stack: "\(space)/main")), 1, &world) }
    world.settle()
    world.frames = []
    world.core.accessChanged(try Self.rules((1, "bob", "read")), at: world.moment)
    world.settle()
    guard case .refused(let refused) = try #require(Self.sent(world, to: 1).first) else {
      Issue.record("no answer")
      return
    }
    #expect(refused.code == .helloNeeded)
    for space in ["alice", "bob"] {
      let stack = try StackName("\(space)/main")
      world.act(Self.device(50), on: stack, values: ["a"])
      Self.send(.append(world.append(Self.device(50), on: stack, 1...1)), 0, &world)
    }
    world.settle()
    #expect(!Self.sent(world, to: 1).contains { if case .events = $0 { true } else { false } }, "no session, no events")
    Self.greet(&world, 1, device: Self.device(1))
    world.frames = []
    for space in ["alice", "bob"] { Self.send(.follow(Follow(stack: "\(space)/main")), 1, &world) }
    world.settle()
    let events = Self.sent(world, to: 1).compactMap { if case .events(let it) = $0 { it.stack } else { nil } }
    #expect(events == ["bob/main"])
    #expect(Self.sent(world, to: 1).filter(Self.isRefusal).count == 1)
  }

  /// What was asked while the stack was read from the log is asked of the rules that hold when it is there.
  @Test func whatWaitsIsAskedAgain() throws {
    var world = Self.world(try Self.rules((1, "alice", "read"), (1, "zoe", "read")), keys: [1])
    Self.send(.follow(Follow(stack: "alice/main")), 1, &world)
    world.drain()
    #expect(world.pending.count == 1)
    world.core.accessChanged(try Self.rules((1, "zoe", "read")), at: world.moment)
    Self.greet(&world, 1, device: Self.device(1))
    world.frames = []
    world.settle()
    #expect(Self.sent(world, to: 1).contains(where: Self.isRefusal))
    #expect(!Self.sent(world, to: 1).contains { if case .following = $0 { true } else { false } })
  }

  @Test func aDeviceBelongsToTheKeyThatUsedItFirst() throws {
    let rules = try Self.rules((1, "*", "act"), (2, "*", "act"))
    var world = Self.world(rules, keys: [1])
    #expect(world.core.takeClaims() == [ServerCore.Claim(device: Self.device(1), key: Self.key(1))])
    Self.greet(&world, 2, device: Self.device(1))
    world.settle()
    #expect(Self.sent(world, to: 2).first.map(Self.isRefusal) == true)
    #expect(world.core.takeClaims().isEmpty)
    // What is local may act as any device, and takes none.
    Self.greet(&world, 0, device: Self.device(1))
    Self.greet(&world, 0, device: Self.device(3))
    world.settle()
    #expect(!Self.sent(world, to: 0).contains(where: Self.isRefusal))
    #expect(world.core.takeClaims().isEmpty)
    // A key that is gone owns nothing any more.
    world.core.accessChanged(try Self.rules((2, "*", "act")), at: world.moment)
    world.frames = []
    Self.greet(&world, 2, device: Self.device(1))
    world.settle()
    #expect(!Self.sent(world, to: 2).contains(where: Self.isRefusal))
    #expect(world.core.takeClaims() == [ServerCore.Claim(device: Self.device(1), key: Self.key(2))])
  }

  @Test func aKeyCannotTakeAllDevices() throws {
    var world = Self.world(try Self.rules((1, "*", "act")), keys: [1], devices: false)
    for number in 0..<1100 {
      world.now += 100
      Self.greet(&world, 1, device: Self.device(UInt64(number + 100)))
    }
    world.settle()
    let codes = Self.sent(world, to: 1).compactMap { if case .refused(let it) = $0 { it.code } else { nil } }
    #expect(codes.count { $0 == .tooMany } == 1100 - 1024)
    #expect(world.core.takeClaims().count == 1024)
  }

  /// What a key may ask for and open is counted for all its connections together; another key has its own.
  @Test func connectionsOfAKeyShareItsBounds() throws {
    var world = ServerWorld {
      $0.requestsASecond = 100
      $0.limits.follows = 1
      $0.maximumSessions = 40
    }
    world.core.accessChanged(try Self.rules((1, "*", "admin"), (2, "*", "admin")), at: world.moment)
    func send(_ message: Message, from peer: UInt64, _ key: UInt8) {
      world.core.received(message.encoded(), from: ServerCore.Peer(peer), as: .key(Self.key(key)), at: world.moment)
    }
    for peer in UInt64(0)..<30 { send(.hello(Hello()), from: peer, 1) }
    world.settle()
    func welcomed() -> [UInt64] {
      world.frames.compactMap { if case .welcome = $0.message { $0.peer.number } else { nil } }
    }
    #expect(welcomed() == Array(0..<10), "a quarter of all sessions is one key's at most")
    for _ in 0..<20 { for peer in UInt64(0)..<10 { send(.statusRequest(StatusRequest()), from: peer, 1) } }
    world.settle()
    let answered = world.frames.count { if case .statusReport = $0.message { true } else { false } }
    #expect(answered == 100 - 30, "each of the thirty sessions that were asked for was a request, too")
    send(.hello(Hello()), from: 100, 2)
    send(.statusRequest(StatusRequest()), from: 100, 2)
    world.settle()
    #expect(
      world.frames.last.map { if case .statusReport = $0.message { $0.peer.number == 100 } else { false } } == true)
    // A session that ends makes room.
    world.core.peerGone(ServerCore.Peer(3), at: world.moment)
    world.now += 1000
    send(.hello(Hello()), from: 31, 1)
    world.settle()
    #expect(welcomed().last == 31)
  }

  /// Every change and every refusal has its line, and no flood of other lines takes it away.
  @Test func theAuditIsWhole() throws {
    var world = Self.world(AccessRules(), keys: [])
    func lines(_ actions: [ServerCore.Action]) -> [String] {
      actions.compactMap { if case .log(let record) = $0, record.isAudit { record.text } else { nil } }
    }
    world.core.accessChanged(try Self.rules((1, "alice", "read"), (2, "bob", "read")), at: world.moment)
    #expect(lines(world.drain()) == ["rule added", "rule added"])
    world.core.accessChanged(try Self.rules((2, "bob", "read,act")), at: world.moment)
    #expect(lines(world.drain()) == ["rule taken back", "rule taken back", "rule added"])
    Self.greet(&world, 2, device: nil)
    Self.send(.follow(Follow(stack: "alice/main")), 2, &world)
    #expect(lines(world.drain()) == ["request refused: not authorised"])
    Self.send(.hello(Hello()), 1, &world)
    #expect(lines(world.drain()) == ["session refused: no rule knows the key"])
  }
}
