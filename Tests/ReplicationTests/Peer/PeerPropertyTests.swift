import NavigationModel
import TestSupport
import Testing
import WireFormat

@testable import Replication

/// What holds of daemons that follow each other in any order of things: connections that break with what was on its
/// way, logs that answer late, devices that come and go, clocks that differ.
@Suite struct PeerPropertyTests {
  static let stacks = ["s/one", "s/two"].compactMap { try? StackName($0) }
  static let shapes: [(count: Int, pairs: [(Int, Int)])] = [
    (2, [(0, 1)]),
    (2, [(0, 1), (1, 0)]),
    (3, [(0, 1), (1, 2)]),
    (3, [(0, 1), (2, 1)]),
    (3, [(0, 1), (1, 2), (2, 0)]),
    (4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]),
  ]

  @Test(arguments: 0..<60) func anyOrderOfThings(_ seed: Int) {
    var run = RandomPeers(seed: UInt64(seed), Self.shapes[seed % Self.shapes.count])
    for _ in 0..<400 { run.step() }
    run.world.level()
    run.check()
  }

  /// After all are level an event crosses a link once in its direction, and nothing else crosses any.
  @Test func anEventCrossesALinkOnce() {
    var run = RandomPeers(seed: 1, Self.shapes[2])
    run.world.level()
    run.append(run.devices[0], Self.stacks[0], at: 0)
    run.world.level()
    let before = run.world.crossed
    for _ in 0..<10 {
      run.append(run.devices[0], Self.stacks[0], at: 0)
      run.world.level(milliseconds: 1000)
    }
    #expect(run.world.crossed - before == 20)
    let there = run.world.crossed
    for _ in 0..<10 {
      run.append(run.devices[2], Self.stacks[0], at: 2)
      run.world.level(milliseconds: 1000)
    }
    #expect(run.world.crossed - there == 20)
    run.check()
  }

  @Test func whatIsAheadOfTheClockIsHeldBackAndComesAgain() {
    var run = RandomPeers(seed: 2, Self.shapes[0])
    let stack = Self.stacks[0]
    run.world.level()
    run.world.worlds[1].wall += 7_200_000
    run.append(run.devices[2], stack, at: 1)
    run.world.worlds[1].wall -= 7_200_000
    run.append(run.devices[0], stack, at: 0)
    run.world.level()
    #expect(run.world.heads(of: stack, 0).map(\.device) == [run.devices[0]])
    let report = run.world.links[0].core.report
    #expect(report.heldBack > 0)
    #expect(report.behind == 1)
    // It is asked for again, but later and later.
    #expect(report.heldBack < 20)
    for place in 0...1 { run.world.worlds[place].wall += 7_200_000 }
    run.world.level()
    run.check()
  }

  /// A device that goes on at another daemon, after what both have of it was the same: the place is compared, and the
  /// rest taken in.
  @Test func aDeviceThatMovedGoesOn() {
    var run = RandomPeers(seed: 3, Self.shapes[1])
    let stack = Self.stacks[0]
    for _ in 0..<70 { run.append(run.devices[0], stack, at: 0) }
    run.world.level()
    for link in 0...1 { run.world.cut(link) }
    run.move(run.devices[0], from: 0, to: 1)
    for _ in 0..<3 { run.append(run.devices[0], stack, at: 1) }
    run.world.level()
    run.check()
    #expect(run.world.links.allSatisfy { $0.core.report.heldBack == 0 })
  }

  /// The same device id with two histories: found whatever the lengths are, both kept by both and never mixed, the one with
  /// the lower (timestamp, digest) folded, and nothing stands still.
  @Test(
    arguments: [(0, 1, 1), (0, 1, 4), (0, 4, 1), (5, 3, 3), (63, 1, 5), (64, 5, 1), (65, 2, 2), (130, 1, 9)],
    [false, true])
  func twoHistoriesAreBothKept(_ lengths: (Int, Int, Int), isMutual: Bool) {
    let (common, here, there) = lengths
    var run = RandomPeers(seed: 4, Self.shapes[isMutual ? 1 : 0])
    let stack = Self.stacks[0]
    let device = run.devices[0]
    for _ in 0..<common { run.append(device, stack, at: 0) }
    run.world.level()
    for link in run.world.links.indices { run.world.cut(link) }
    run.move(device, from: 0, to: 1)
    for _ in 0..<here { run.append(device, stack, at: 0, value: "here") }
    for _ in 0..<there { run.append(device, stack, at: 1, value: "there") }
    let before = (0...1).map { run.world.claims(of: stack, $0) }
    run.append(run.devices[1], Self.stacks[1], at: 1)
    for _ in 1...3 {
      run.world.level()
      for link in run.world.links.indices { run.world.cut(link) }
    }
    run.append(run.devices[2], Self.stacks[1], at: 0)
    run.append(run.devices[2], stack, at: 0)
    run.world.level()
    for name in Self.stacks.prefix(2) {
      #expect(run.world.heads(of: name, 0) == run.world.heads(of: name, 1))
    }
    #expect(run.world.heads(of: Self.stacks[1], 0).count == 2)
    let after = (0...1).map { run.world.claims(of: stack, $0) }
    #expect(after[0].all == after[1].all)
    #expect(after[0].all.isSuperset(of: before[0].all) && after[0].all.isSuperset(of: before[1].all))
    #expect(after[0].all.count == common + here + there + 1)
    let admission = after[0].admission
    #expect(admission.forks == [Dot(device, common + 1)])
    #expect(after[0].chains.forks == admission.forks)
    #expect(admission.waiting.isEmpty)
    let first = before.map { claims in claims.all.first { $0.event.dot == Dot(device, common + 1) } }.compactMap(\.self)
    let lower = first.min { ($0.event.timestamp, $0.digest) < ($1.event.timestamp, $1.digest) }
    #expect(admission.folded.contains { $0.digest == lower?.digest })
    #expect(admission.rivals.count == (lower?.digest == first[0].digest ? there : here))
    for link in run.world.links {
      let report = link.core.report
      #expect(report.forked == 1 && report.ahead == 0 && report.behind == 0 && report.problem == "", "\(report)")
    }
  }

  /// A stack that was made at both ends under two policies has the one of the lower first timestamp everywhere, and of
  /// equal ones the lower text.
  @Test(arguments: [0, 1, 2, 4], [-5, 0, 5])
  func aStackThatWasMadeTwiceHasOnePolicy(_ shape: Int, _ later: Int) {
    var run = RandomPeers(seed: 6, Self.shapes[shape])
    let stack = Self.stacks[0]
    let last = run.world.worlds.count - 1
    run.append(run.devices[0], stack, at: 0, policy: .merge)
    run.world.worlds[last].wall += later
    run.append(run.devices[1], stack, at: last, policy: .latest)
    run.world.level()
    run.append(run.devices[2], stack, at: last)
    run.append(run.devices[3], stack, at: 0)
    run.world.level()
    for world in run.world.worlds {
      #expect(world.core.held(stack)?.policy == (later > 0 ? .merge : .latest))
      #expect(world.log[stack]?.policy == (later > 0 ? .merge : .latest))
    }
    run.check()
  }

  @Test func itselfIsNoPeer() {
    var world = PeerWorld(1, [(0, 0)])
    world.connect(0)
    world.level(milliseconds: 2000)
    #expect(world.links[0].peer == nil)
    #expect(!world.links[0].wantsConnection)
    #expect(world.links[0].core.report.problem.contains("itself"))
  }
}

/// Daemons that follow each other, and devices that act at them.
struct RandomPeers {
  var world: PeerWorld
  var random: SeededGenerator
  let devices = (65...68).map { DeviceID(high: 0, low: $0) }
  /// Where each device is.
  var homes: [DeviceID: Int] = [:]

  static func client(_ device: DeviceID) -> ServerCore.Peer { ServerCore.Peer(1 << 30 | device.low) }

  init(seed: UInt64, _ shape: (count: Int, pairs: [(Int, Int)])) {
    world = PeerWorld(shape.count, shape.pairs, seed: seed)
    random = SeededGenerator(seed: seed)
    for (place, device) in devices.enumerated() { homes[device] = place % shape.count }
  }

  mutating func step() {
    let device = devices.randomElement(using: &random)!
    let link = world.links.indices.randomElement(using: &random)!
    switch Int.random(in: 0..<40, using: &random) {
    case 0: world.cut(link)
    case 1...3: world.connect(link)
    case 4...8: append(device, PeerPropertyTests.stacks.randomElement(using: &random)!, at: homes[device]!)
    case 9...11: world.pass(Int.random(in: 1...1500, using: &random))
    case 12...24: world.arrive(link, atOther: Bool.random(using: &random))
    default: world.work(Int.random(in: 0..<world.worlds.count, using: &random), &random)
    }
  }

  /// A device takes in what its daemon stored, acts, and sends what the daemon lacks.
  mutating func append(
    _ device: DeviceID, _ stack: StackName, at daemon: Int, value: String = "v", policy: Policy? = nil
  ) {
    var chains = world.worlds[daemon].chains(of: device, on: stack)
    for stored in world.worlds[daemon].log[stack]?.batches ?? [] {
      for record in stored.batch.records where !chains.vector.contains(record.dot) {
        do {
          try chains.receive(record.dot.device, record.dot.sequence, stored.batch.bytes, in: record.range)
        } catch { Issue.record("\(error)") }
      }
    }
    world.worlds[daemon].devices[device, default: [:]][stack] = chains
    world.worlds[daemon].act(device, on: stack, values: [value])
    let count = world.worlds[daemon].events[device]![stack]!.count
    let append = world.worlds[daemon].append(device, on: stack, count...count, policy: policy)
    world.worlds[daemon].receive(.hello(Hello(device: device, name: "d")), from: Self.client(device))
    world.worlds[daemon].receive(.append(append), from: Self.client(device))
    world.worlds[daemon].settle()
    world.settle()
  }

  /// A device goes to another daemon, with all that it knows; what it leaves behind could go on.
  mutating func move(_ device: DeviceID, from: Int, to: Int) {
    world.worlds[to].devices[device] = world.worlds[from].devices[device]
    world.worlds[to].events[device] = world.worlds[from].events[device]
    homes[device] = to
  }

  /// All daemons have all events, each once, and know that they have.
  func check() {
    for stack in PeerPropertyTests.stacks {
      let first = world.heads(of: stack, 0)
      for place in world.worlds.indices {
        #expect(world.heads(of: stack, place) == first, "daemon \(place)")
        let dots = world.dots(of: stack, place)
        #expect(Set(dots).count == dots.count)
      }
      for device in devices {
        let made = world.worlds.map { $0.events[device]?[stack]?.count ?? 0 }.max() ?? 0
        #expect(first.first { $0.device == device }?.sequence ?? 0 == made)
      }
    }
    for link in world.links {
      let report = link.core.report
      #expect(report.connected && report.ahead == 0 && report.behind == 0 && report.forked == 0, "\(report)")
      #expect(report.problem == "")
    }
  }
}
