import NavigationModel
import TestSupport
import Testing
import WireFormat

@testable import Replication

/// What holds of daemons that follow each other when devices are cloned and go on at several of them.
@Suite struct PeerForkTests {
  @Test(arguments: 0..<40) func everybodyHasEveryHistory(_ seed: Int) {
    var run = ForkedPeers(seed: UInt64(seed), PeerPropertyTests.shapes[seed % PeerPropertyTests.shapes.count])
    for _ in 0..<300 { run.step() }
    run.end()
  }

  /// A clone of a clone, and each goes on at a daemon of its own: the histories differ at two places.
  @Test func threeHistories() {
    var run = ForkedPeers(seed: 1, PeerPropertyTests.shapes[2])
    for _ in 0..<3 { run.act(0) }
    run.level()
    for link in run.world.links.indices { run.world.cut(link) }
    run.clone(0, to: 1)
    run.act(3)
    run.act(3)
    run.clone(3, to: 2)
    for _ in 0..<3 { run.act(4) }
    run.act(3)
    run.act(0)
    run.end()
    let claims = run.world.claims(of: ForkedPeers.stack, 0)
    let device = run.devices[0].id
    #expect(claims.chains.copies(of: device).count == 3)
    #expect(claims.all.count { $0.event.dot.device == device } == 3 + 1 + 2 + 1 + 3)
    #expect(claims.admission.forks.first == Dot(device, 4))
  }
}

/// Daemons that follow each other, and devices on one stack. A device has one history of its own id; a clone of it has
/// the same id. Who finds that its id has another history takes a new one.
struct ForkedPeers {
  struct Device {
    var id: DeviceID
    var home: Int
    var chains: StackChains
    var events: [[UInt8]] = []
    /// Of the own chain after each event.
    var digests: [Digest] = []
    let peer: ServerCore.Peer
  }

  static let stack = PeerPropertyTests.stacks[0]
  var world: PeerWorld
  var random: SeededGenerator
  var devices: [Device] = []
  /// Digests of what was accepted.
  var promised: Set<Digest> = []
  private var checked: [Int]
  private var lastID: UInt64 = 100

  init(seed: UInt64, _ shape: (count: Int, pairs: [(Int, Int)])) {
    world = PeerWorld(shape.count, shape.pairs, seed: seed)
    random = SeededGenerator(seed: seed)
    checked = Array(repeating: 0, count: shape.count)
    for place in 0..<3 { add(home: place % shape.count) }
  }

  private mutating func newID() -> DeviceID {
    lastID += 1
    return DeviceID(high: 0, low: lastID)
  }

  private mutating func add(home: Int) {
    devices.append(
      Device(
        id: newID(), home: home, chains: StackChains(stack: Self.stack),
        peer: ServerCore.Peer(1 << 30 | UInt64(devices.count))))
  }

  mutating func step() {
    let device = Int.random(in: 0..<devices.count, using: &random)
    let link = world.links.indices.randomElement(using: &random)!
    let daemon = Int.random(in: 0..<world.worlds.count, using: &random)
    switch Int.random(in: 0..<60, using: &random) {
    case 0...1: world.cut(link)
    case 2...3: world.connect(link)
    case 4: if devices.count < 6 { clone(device, to: daemon) }
    case 5: devices[device].home = daemon
    case 6...18: act(device)
    case 19...22: world.pass(Int.random(in: 1...1500, using: &random))
    case 23...42: world.arrive(link, atOther: Bool.random(using: &random))
    default: world.work(daemon, &random)
    }
    takeAnswers()
  }

  mutating func clone(_ device: Int, to home: Int) {
    let original = devices[device]
    devices.append(
      Device(
        id: original.id, home: home, chains: original.chains, events: original.events, digests: original.digests,
        peer: ServerCore.Peer(1 << 30 | UInt64(devices.count))))
  }

  /// Takes in what its daemon stored, pushes a value and sends all that it ever did under its id.
  mutating func act(_ place: Int) {
    takeIn(place)
    if devices[place].chains.retired.contains(devices[place].id) { renew(place) }
    var device = devices[place]
    let before = device.chains.authorState(of: device.id)
    let wall = world.worlds[device.home].wall + Int.random(in: -3...3, using: &random)
    let event = Event(
      dot: Dot(device.id, before.sequence + 1), context: device.chains.context(for: device.id),
      timestamp: Timestamp(
        milliseconds: max(wall, before.timestamp.milliseconds), counter: before.timestamp.counter + 1),
      action: .push(on: nil, values: [Value(type: "String", payload: Array("\"\(place)\"".utf8))]))
    do { device.events.append(try device.chains.append(event)) } catch { preconditionFailure("\(error)") }
    device.digests.append(device.chains.digest(of: device.id))
    devices[place] = device
    let append = Append(
      stack: Self.stack.description, device: device.id, firstSequence: 1, previous: .empty, events: device.events)
    world.worlds[device.home].receive(.hello(Hello(device: device.id, name: "d")), from: device.peer)
    world.worlds[device.home].receive(.append(append), from: device.peer)
    world.settle()
  }

  private mutating func takeIn(_ place: Int) {
    for stored in world.worlds[devices[place].home].log[Self.stack]?.batches ?? [] {
      for record in stored.batch.records
      where record.dot.device != devices[place].id && !devices[place].chains.retired.contains(record.dot.device) {
        _ = try? devices[place].chains.receive(record.dot, Array(stored.batch.bytes[record.range]))
      }
    }
  }

  /// A new incarnation, with what its daemon has.
  private mutating func renew(_ place: Int) {
    devices[place].id = newID()
    devices[place].chains = StackChains(stack: Self.stack)
    devices[place].events = []
    devices[place].digests = []
    takeIn(place)
  }

  mutating func takeAnswers() {
    for daemon in world.worlds.indices {
      let frames = world.worlds[daemon].frames
      for frame in frames[checked[daemon]...] {
        guard let place = devices.firstIndex(where: { $0.peer == frame.peer && $0.home == daemon }) else { continue }
        switch frame.message {
        case .accepted(let accepted) where accepted.device == devices[place].id:
          promised.formUnion(devices[place].digests.prefix(accepted.throughSequence))
        case .rejected(let rejected) where rejected.code == .fork && rejected.dot.device == devices[place].id:
          renew(place)
        case _: break
        }
      }
      checked[daemon] = frames.count
    }
  }

  mutating func level() {
    world.level(milliseconds: 90_000)
    takeAnswers()
  }

  /// Everybody has the same, all that was promised is in it, and who has the same folds the same.
  mutating func end() {
    level()
    let first = world.claims(of: Self.stack, 0)
    #expect(promised.isSubset(of: Set(first.all.map(\.digest))))
    #expect(first.chains.forks == first.admission.forks)
    #expect(first.admission.waiting.isEmpty)
    for place in world.worlds.indices {
      let claims = world.claims(of: Self.stack, place)
      #expect(claims.all == first.all, "daemon \(place)")
      #expect(claims.chains.liveHeads == first.chains.liveHeads, "daemon \(place)")
      #expect(claims.admission == first.admission)
    }
    for link in world.links {
      let report = link.core.report
      #expect(report.connected && report.ahead == 0 && report.behind == 0 && report.problem == "", "\(report)")
    }
  }
}
