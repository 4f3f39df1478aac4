import NavigationModel
import Replication
import TestSupport
import Testing
import WireFormat

/// What holds of the daemon's half of a session in any order of things: peers that come and go, credit that runs out,
/// sockets that are full, commits that fail, answers of the log that come late and out of order.
@Suite struct ServerPropertyTests {
  @Test(arguments: 0..<40) func anyOrderOfThings(_ seed: Int) throws {
    var run = RandomRun(seed: UInt64(seed))
    for _ in 0..<400 { run.step() }
    run.end()
  }

  /// The same seed gives the same actions: the machine has no other source.
  @Test func sameInputsSameActions() throws {
    var one = RandomRun(seed: 5)
    var other = RandomRun(seed: 5)
    for _ in 0..<300 {
      one.step()
      other.step()
    }
    #expect(one.world.frames.map(\.message) == other.world.frames.map(\.message))
    #expect(one.world.frames.count > 50)
  }
}

private struct RandomRun {
  /// What a peer has seen of a stack since it followed.
  struct Seen {
    var offset: Int?
    var isLive = false
  }

  var world = ServerWorld { configuration in
    configuration.commitBytes = 100
    configuration.batchBytes = 80
    configuration.idleStacks = 1
    configuration.feedEndpoint = "ipc:///feed"
  }
  var random: SeededGenerator
  var peers: [ServerCore.Peer] = []
  var lastPeer: UInt64 = 0
  var seen: [ServerCore.Peer: [String: Seen]] = [:]
  /// The newest offset published of a stack.
  var published: [String: Int] = [:]
  var checked = 0

  let devices = (65...68).map { DeviceID(high: 0, low: $0) }
  let stacks = ["s/one", "s/two", "s/three"].compactMap { try? StackName($0) }

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func step() {
    let device = devices.randomElement(using: &random)!
    let stack = stacks.randomElement(using: &random)!
    switch Int.random(in: 0..<22, using: &random) {
    case 0: connect()
    case 1...2: follow(stack)
    case 3:
      // Not one whose answers wait: what was asked for before still arrives, and this run would take it for more.
      guard let peer = peers.randomElement(using: &random), !world.full.contains(peer) else { return }
      world.core.timerFired(at: world.moment)
      settleActions()
      world.receive(.unfollow(Unfollow(stack: stack.description)), from: peer)
      seen[peer]?[stack.description] = nil
    case 4...6:
      let credit = Int.random(in: 1...1500, using: &random)
      onPeer { $0.receive(.credit(Credit(bytes: credit)), from: $1) }
    case 7...8: act(device, stack)
    case 9...13: append(device, stack)
    case 14...17: log()
    case 18: if let peer = peers.randomElement(using: &random) { toggle(peer) }
    case 19:
      let time = Int.random(in: 1...3000, using: &random)
      world.now += time
      world.wall += time
      world.core.timerFired(at: world.moment)
    case 20:
      onPeer { $0.receive(.presence(Presence(stack: stack.description)), from: $1) }
    default:
      let head = world.log[stack]?.head ?? 0
      guard head > 0 else { return }
      let from = Int.random(in: 1...head, using: &random)
      onPeer {
        $0.receive(.ping(Ping(heads: [StackHead(stack: stack.description, offset: from)])), from: $1)
      }
    }
    settleActions()
  }

  private mutating func settleActions() {
    for action in world.drain() {
      switch action {
      case .publish(let message):
        // A commit that failed and is there all the same is a gap.
        #expect(message.previousOffset >= published[message.stack, default: 0])
        published[message.stack] = check(message)
      case .forget(let peer): peers.removeAll { $0 == peer }
      case .commit(let commit):
        #expect(world.pending.count { if case .commit = $0 { true } else { false } } == 1)
        for part in commit.parts { #expect(part.batch.count > 0) }
      case .send, .load, .read, .recall, .list, .keepName, .log: break
      }
    }
    for frame in world.frames[checked...] { check(frame) }
    checked = world.frames.count
  }

  // MARK: What happens

  private mutating func connect() {
    guard peers.count < 6 else { return }
    lastPeer += 1
    let peer = ServerCore.Peer(lastPeer)
    peers.append(peer)
    let device = Bool.random(using: &random) ? devices.randomElement(using: &random) : nil
    world.receive(.hello(Hello(device: device, name: device == nil ? "" : "d")), from: peer)
  }

  private mutating func onPeer(_ body: (inout ServerWorld, ServerCore.Peer) -> Void) {
    guard let peer = peers.randomElement(using: &random) else { return }
    body(&world, peer)
  }

  private mutating func follow(_ stack: StackName) {
    guard let peer = peers.randomElement(using: &random) else { return }
    let head = world.log[stack]?.head ?? 0
    var start = FollowStart.vector([])
    let choice = Int.random(in: 0..<3, using: &random)
    if choice == 0 {
      start = .offset(Int.random(in: 0...head, using: &random), epoch: ServerWorld.epoch)
    } else if choice == 1 {
      start = .vector(
        devices.compactMap { device in
          let count = world.events[device]?[stack]?.count ?? 0
          let sequence = Int.random(in: 0...count, using: &random)
          return sequence == 0 ? nil : DeviceHead(device: device, sequence: sequence, digest: .empty)
        })
    }
    world.receive(.follow(Follow(stack: stack.description, start: start)), from: peer)
  }

  private mutating func act(_ device: DeviceID, _ stack: StackName) {
    if Bool.random(using: &random) {
      world.learnAll(device, on: stack, from: devices.randomElement(using: &random)!)
    }
    world.act(device, on: stack, values: (0..<Int.random(in: 1...4, using: &random)).map { "v\($0)" })
  }

  private mutating func append(_ device: DeviceID, _ stack: StackName) {
    guard let count = world.events[device]?[stack]?.count, count > 0, let peer = peers.randomElement(using: &random)
    else { return }
    // Most often from where the daemon's chain ends, as a client would.
    let stored =
      (world.log[stack]?.batches ?? []).flatMap(\.batch.authors).filter { $0.device == device }
      .map(\.lastSequence).max() ?? 0
    let first =
      Int.random(in: 0..<4, using: &random) > 0 ? min(stored + 1, count) : Int.random(in: 1...count, using: &random)
    let last = min(count, first + Int.random(in: 0..<6, using: &random))
    world.receive(.append(world.append(device, on: stack, first...last)), from: peer)
  }

  private mutating func log() {
    guard !world.pending.isEmpty else { return }
    if Int.random(in: 0..<6, using: &random) == 0 { return world.storeUntold() }
    let place = Int.random(in: 0..<world.pending.count, using: &random)
    if Int.random(in: 0..<12, using: &random) == 0 { world.fail(place, "a fault") } else { world.complete(place) }
  }

  private mutating func toggle(_ peer: ServerCore.Peer) {
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      peers.removeAll { $0 == peer }
      world.gone.insert(peer)
      if Bool.random(using: &random) { world.core.peerGone(peer, at: world.moment) }
    case 1...2: world.full.insert(peer)
    default: world.full.remove(peer)
    }
  }

  // MARK: What holds

  private mutating func check(_ frame: ServerWorld.Frame) {
    switch frame.message {
    case .following(let message):
      // An answer that waited for room in the socket is of its time.
      #expect(message.head <= world.log[name(message.stack)]?.head ?? 0)
      #expect(message.exists == (message.head > 0))
      seen[frame.peer, default: [:]][message.stack] = Seen()
    case .events(let message):
      guard let before = seen[frame.peer]?[message.stack] else {
        Issue.record("events of a stack that isn't followed: \(frame.peer) \(message.stack) \(message.previousOffset)")
        return
      }
      if let offset = before.offset { #expect(message.previousOffset == offset, "a gap or a double") }
      let last = check(message)
      #expect(last > message.previousOffset)
      seen[frame.peer]![message.stack]!.offset = last
    case .live(let message):
      #expect(seen[frame.peer]?[message.stack]?.isLive == false, "live once")
      if let offset = seen[frame.peer]?[message.stack]?.offset { #expect(offset <= message.offset) }
      seen[frame.peer]?[message.stack]?.isLive = true
      seen[frame.peer]?[message.stack]?.offset = message.offset
    case .accepted(let message):
      let held =
        world.log[name(message.stack)]?.batches.flatMap(\.batch.authors).filter { $0.device == message.device }
        .map(\.lastSequence).max() ?? 0
      #expect(held >= message.throughSequence, "accepted before it is stored")
      expectOffset(message)
    case .rejected(let message):
      #expect(message.code != .fork, "no device forked")
    case .refused(let message):
      if message.about == .follow { seen[frame.peer]?[message.stack] = nil }
      if message.code == .storage { #expect(message.reason == "a fault") }
    case .welcome: seen[frame.peer] = [:]
    default: break
    }
  }

  private func expectOffset(_ message: Accepted) {
    for stored in world.log[name(message.stack)]?.batches ?? [] {
      var offset = stored.firstOffset
      stored.batch.forEach { record in
        if offset == message.offset { #expect(record.dot == Dot(message.device, message.throughSequence)) }
        offset += 1
      }
    }
  }

  /// A batch is one that is stored, whole.
  @discardableResult
  private func check(_ message: EventsMessage) -> Int {
    let stored = world.log[name(message.stack)]?.batches.first { $0.firstOffset == message.firstOffset }
    #expect(stored?.batch.bytes == message.batch, "the very bytes that are stored")
    return message.firstOffset + (stored?.batch.count ?? 0) - 1
  }

  private func name(_ text: String) -> StackName {
    stacks.first { $0.description == text } ?? stacks[0]
  }

  /// Room for all, credit for all: every follower comes to the head, every event that is sent again is stored, and
  /// nothing is left over.
  mutating func end() {
    world.full = []
    for peer in world.gone.sorted(by: { $0.number < $1.number }) { world.core.peerGone(peer, at: world.moment) }
    for peer in peers { world.receive(.credit(Credit(bytes: 1 << 20)), from: peer) }
    settle()
    // Answers first, then what has to be read.
    for _ in 0..<3 {
      world.now += 700
      world.core.timerFired(at: world.moment)
      settle()
    }
    connect()
    let peer = peers.last ?? ServerCore.Peer(lastPeer)
    world.receive(.credit(Credit(bytes: 1 << 20)), from: peer)
    // Two rounds more than devices: an event may wait for another device's.
    for _ in 0..<40 {
      for stack in stacks {
        for device in devices {
          guard let count = world.events[device]?[stack]?.count else { continue }
          for first in stride(from: 1, through: count, by: 5) {
            world.receive(.append(world.append(device, on: stack, first...min(count, first + 4))), from: peer)
          }
        }
      }
      settle()
    }
    for stack in stacks {
      var loader = StackLoader(stack, policy: nil)
      for stored in world.log[stack]?.batches ?? [] {
        do { try loader.add(stored.batch) } catch { Issue.record("the log doesn't fold: \(error)") }
      }
      for device in devices {
        #expect(loader.chains.vector[device] == world.events[device]?[stack]?.count ?? 0)
      }
      #expect(published[stack.description, default: 0] == loader.head)
    }
    for (peer, stacks) in seen where peers.contains(peer) {
      for (stack, seen) in stacks where seen.offset != nil || seen.isLive {
        #expect(seen.offset == world.log[name(stack)]?.head ?? 0, "a follower stays behind")
        #expect(seen.isLive)
      }
    }
    #expect(world.core.isQuiet)
    for gauge in world.core.gauges where gauge.name == "backlog_bytes" || gauge.name == "followers_behind" {
      #expect(gauge.value == 0, "\(gauge.name) is left over")
    }
  }

  private mutating func settle() {
    settleActions()
    while !world.pending.isEmpty {
      world.complete(0)
      settleActions()
    }
  }
}
