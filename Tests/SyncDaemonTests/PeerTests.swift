import Foundation
import NavigationModel
import SyncDaemon
import TestSupport
import Testing
import WireFormat
import ZeroMQ

/// Daemons in this process that follow each other, with real sockets and stores.
@Suite struct PeerTests {
  static let main = SessionTests.name("alice/main")
  static let other = SessionTests.name("alice/other")

  /// A daemon with a store and a socket of its own, which can be ended and begun again.
  final class Node {
    let folder: String
    private(set) var daemon: SyncDaemon?
    let endpoint: Endpoint

    init(_ name: String, in folder: URL) throws {
      self.folder = folder.path + "/" + name
      endpoint = try Endpoint(path: self.folder + "/sync")
    }

    func start(peers: [Node] = [], tcp: Bool = false, store: String = "store") throws {
      var options = try SyncDaemonOptions(
        listen: [endpoint] + (tcp ? [try Endpoint("tcp://127.0.0.1:0")] : []), feed: [],
        store: .folder(folder + "/" + store), log: SessionTests.quiet())
      options.peers = peers.map(\.endpoint)
      daemon = try SyncDaemon(options)
    }

    func stop() {
      daemon?.stop()
      daemon = nil
    }

    deinit { stop() }
  }

  /// So many nodes, ended after the body.
  static func withNodes(_ count: Int, _ body: ([Node]) throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      let nodes = try (0..<count).map { try Node(String("abcdef".dropFirst($0).prefix(1)), in: folder) }
      defer { for node in nodes { node.stop() } }
      try body(nodes)
    }
  }

  /// Acts through a daemon, and waits until it has it.
  static func append(_ device: inout TestDevice, _ count: Int, at endpoint: Endpoint, size: Int = 4) throws {
    let first = device.events.count + 1
    try device.act(count: count, size: size)
    let client = try TestClient.connected(to: endpoint, device: device.id)
    for from in stride(from: first, to: first + count, by: 100) {
      try client.send(device.append(from: from, count: min(100, first + count - from)))
    }
    try client.waitForAccepted(device.id, through: first + count - 1)
  }

  /// Follows a stack until so many events have come.
  static func waitForEvents(_ count: Int, of stack: StackName, at endpoint: Endpoint) throws -> [Dot] {
    let client = try TestClient.connected(to: endpoint)
    try client.send(.follow(Follow(stack: stack.description)))
    var dots: [Dot] = []
    while dots.count < count {
      let message = try client.receive()
      guard case .events(let events) = message else { continue }
      try EventBatch(bytes: events.batch).forEach { dots.append($0.dot) }
      try client.send(.credit(Credit(bytes: message.encoded().count)))
    }
    #expect(Set(dots).count == dots.count, "an event stands twice in the log")
    return dots
  }

  static func heads(of stack: StackName, at endpoint: Endpoint) throws -> [DeviceHead] {
    let client = try TestClient.connected(to: endpoint)
    try client.send(.follow(Follow(stack: stack.description)))
    guard case .following(let following) = try client.wait(for: { if case .following = $0 { true } else { false } })
    else { return [] }
    return following.heads
  }

  static func status(
    at endpoint: Endpoint, until fits: (StatusReport) -> Bool = { _ in true }
  ) throws -> StatusReport {
    let client = try TestClient.connected(to: endpoint)
    while true {
      try client.send(.statusRequest(StatusRequest()))
      let answer = try client.wait { if case .statusReport = $0 { true } else { false } }
      if case .statusReport(let report) = answer, fits(report) { return report }
    }
  }

  /// All have the same events of a stack: so many.
  static func expectLevel(_ nodes: [Node], _ stack: StackName, _ count: Int) throws {
    for node in nodes { #expect(try waitForEvents(count, of: stack, at: node.endpoint).count == count) }
    let first = try heads(of: stack, at: nodes[0].endpoint)
    #expect(first.reduce(0) { $0 + $1.sequence } == count)
    for node in nodes.dropFirst() { #expect(try heads(of: stack, at: node.endpoint) == first) }
  }

  @Test func twoLevelBothWays() async throws {
    try await Self.withNodes(2) { nodes in
      var one = TestDevice(1, on: Self.main)
      var two = TestDevice(2, on: Self.main)
      var three = TestDevice(3, on: Self.other)
      try nodes[1].start()
      try nodes[0].start(peers: [nodes[1]])
      try Self.append(&one, 300, at: nodes[0].endpoint)
      try Self.append(&two, 300, at: nodes[1].endpoint)
      // A stack that only the one that is followed has.
      try Self.append(&three, 10, at: nodes[1].endpoint)
      try Self.expectLevel(nodes, Self.main, 600)
      try Self.expectLevel(nodes, Self.other, 10)
      // And live.
      for _ in 0..<5 {
        try Self.append(&one, 1, at: nodes[0].endpoint)
        try Self.append(&two, 1, at: nodes[1].endpoint)
      }
      try Self.expectLevel(nodes, Self.main, 610)
      let report = try Self.status(at: nodes[0].endpoint) {
        $0.peers.first.map { $0.connected && $0.stacks == 2 && $0.ahead == 0 && $0.behind == 0 } ?? false
      }
      #expect(report.peers.map(\.endpoint) == [nodes[1].endpoint.description])
      #expect(report.peers[0].daemon == (try Self.status(at: nodes[1].endpoint)).daemon)
      #expect(report.peers[0].problem == "")
      // Each event was stored once.
      for node in nodes {
        let counters = try Self.status(at: node.endpoint).counters
        #expect(counters.first { $0.name == "events_accepted" }?.value == 620)
      }
    }
  }

  @Test func threeInALine() async throws {
    try await Self.withNodes(3) { nodes in
      try nodes[2].start()
      try nodes[1].start(peers: [nodes[2]])
      try nodes[0].start(peers: [nodes[1]])
      var first = TestDevice(1, on: Self.main)
      var last = TestDevice(2, on: Self.main)
      var far = TestDevice(3, on: Self.other)
      try Self.append(&first, 50, at: nodes[0].endpoint)
      try Self.append(&last, 50, at: nodes[2].endpoint)
      try Self.append(&far, 5, at: nodes[2].endpoint)
      try Self.expectLevel(nodes, Self.main, 100)
      try Self.expectLevel(nodes, Self.other, 5)
    }
  }

  @Test func aRingAndBothWays() async throws {
    try await Self.withNodes(3) { nodes in
      for place in 0..<3 { try nodes[place].start(peers: [nodes[(place + 1) % 3], nodes[(place + 2) % 3]]) }
      var devices = (1...3).map { TestDevice($0, on: Self.main) }
      for _ in 0..<4 {
        for place in 0..<3 { try Self.append(&devices[place], 60, at: nodes[place].endpoint) }
      }
      try Self.expectLevel(nodes, Self.main, 720)
      for node in nodes {
        let report = try Self.status(at: node.endpoint) {
          $0.peers.allSatisfy { $0.connected && $0.ahead == 0 && $0.behind == 0 }
        }
        #expect(report.counters.first { $0.name == "events_accepted" }?.value == 720)
        #expect(report.peers.allSatisfy { $0.forked == 0 && $0.problem.isEmpty })
      }
    }
  }

  @Test func bothWorkAloneAndLevelWhenTheyMeet() async throws {
    try await Self.withNodes(2) { nodes in
      var one = TestDevice(1, on: Self.main)
      var two = TestDevice(2, on: Self.main)
      try nodes[0].start(peers: [nodes[1]])
      try Self.append(&one, 100, at: nodes[0].endpoint)
      let alone = try Self.status(at: nodes[0].endpoint) { $0.peers.first?.ahead == 0 || $0.peers.first?.ahead == 100 }
      #expect(alone.peers.first?.connected == false)
      #expect(alone.peers.first?.daemon == nil)
      try nodes[1].start()
      try Self.expectLevel(nodes, Self.main, 100)
      // A partition: both go on.
      nodes[1].stop()
      _ = try Self.status(at: nodes[0].endpoint) { $0.peers.first?.connected == false }
      try Self.append(&one, 70, at: nodes[0].endpoint)
      _ = try Self.status(at: nodes[0].endpoint) { $0.peers.first?.ahead == 70 }
      nodes[0].stop()
      try nodes[1].start()
      try Self.append(&two, 70, at: nodes[1].endpoint)
      // Also what the first has of the second's, and goes on.
      try nodes[0].start(peers: [nodes[1]])
      try Self.expectLevel(nodes, Self.main, 240)
      // A device moves to the other daemon, and on: both chains go on where they were.
      nodes[1].stop()
      try Self.append(&two, 30, at: nodes[0].endpoint)
      try nodes[1].start()
      try Self.expectLevel(nodes, Self.main, 270)
      try Self.append(&one, 30, at: nodes[1].endpoint)
      try Self.expectLevel(nodes, Self.main, 300)
    }
  }

  @Test func whoLostEverythingIsHealed() async throws {
    try await Self.withNodes(2) { nodes in
      var one = TestDevice(1, on: Self.main)
      try nodes[1].start()
      try nodes[0].start(peers: [nodes[1]])
      try Self.append(&one, 3000, at: nodes[0].endpoint, size: 100)
      try Self.expectLevel(nodes, Self.main, 3000)
      // The followed one.
      nodes[1].stop()
      try nodes[1].start(store: "new")
      try Self.expectLevel(nodes, Self.main, 3000)
      // The following one.
      nodes[0].stop()
      try nodes[0].start(peers: [nodes[1]], store: "new")
      try Self.expectLevel(nodes, Self.main, 3000)
      try Self.append(&one, 10, at: nodes[1].endpoint)
      try Self.expectLevel(nodes, Self.main, 3010)
    }
  }

  @Test(arguments: [(0, 3, 3), (0, 5, 2), (0, 2, 5), (70, 2, 9), (70, 9, 2), (64, 1, 1)])
  func twoHistoriesOfADeviceAreBothKept(_ common: Int, _ here: Int, _ there: Int) async throws {
    try await Self.withNodes(2) { nodes in
      try nodes[0].start()
      try nodes[1].start()
      var one = TestDevice(1, on: Self.main)
      if common > 0 { try Self.append(&one, common, at: nodes[0].endpoint) }
      var clone = one
      if common > 0 {
        let client = try TestClient.connected(to: nodes[1].endpoint, device: one.id)
        try client.send(one.append(from: 1, count: common))
        try client.waitForAccepted(one.id, through: common)
      }
      try Self.append(&one, here, at: nodes[0].endpoint, size: 5)
      try Self.append(&clone, there, at: nodes[1].endpoint, size: 9)
      var innocent = TestDevice(2, on: Self.other)
      try Self.append(&innocent, 20, at: nodes[1].endpoint)
      nodes[0].stop()
      try nodes[0].start(peers: [nodes[1]])
      // The other stacks don't mind.
      try Self.expectLevel(nodes, Self.other, 20)
      let report = try Self.status(at: nodes[0].endpoint) { status in
        status.peers.first.map { $0.forked == 1 && $0.ahead == 0 && $0.behind == 0 } == true
      }
      #expect(report.peers.first?.problem == "")
      #expect(report.peers.first?.connected == true)
      try Self.append(&innocent, 20, at: nodes[0].endpoint)
      try Self.expectLevel(nodes, Self.other, 40)
      // Both have copies of both, and nothing else.
      let (left, right) = (
        try Self.heads(of: Self.main, at: nodes[0].endpoint), try Self.heads(of: Self.main, at: nodes[1].endpoint)
      )
      #expect(left == right)
      #expect(Set(left.map(\.sequence)) == [common + here + 1, common + there + 1])
      #expect(left.count == 2 && left.allSatisfy { Fork.mayBeCopy($0.device) })
    }
  }

  @Test func aStackThatWasMadeTwiceHasOnePolicy() async throws {
    try await Self.withNodes(2) { nodes in
      for node in nodes { try node.start() }
      var devices = (1...2).map { TestDevice($0, on: Self.main) }
      for (place, policy) in [Policy.merge, .latest].enumerated() {
        try devices[place].act(count: 3)
        guard case .append(var append) = devices[place].append(from: 1, count: 3) else { return }
        append.policy = policy
        let client = try TestClient.connected(to: nodes[place].endpoint, device: devices[place].id)
        try client.send(.append(append))
        try client.waitForAccepted(devices[place].id, through: 3)
      }
      // Who follows is told that it is another one now.
      let follower = try TestClient.connected(to: nodes[0].endpoint)
      try follower.send(.follow(Follow(stack: Self.main.description, policy: .merge)))
      try follower.wait { if case .live = $0 { true } else { false } }
      nodes[1].stop()
      try nodes[1].start(peers: [nodes[0]])
      try follower.wait { if case .refused(let it) = $0 { it.code == .policyMismatch } else { false } }
      try Self.expectLevel(nodes, Self.main, 6)
      // The first events are of the same time, so the lower text stands; also after a restart.
      for node in nodes {
        node.stop()
        try node.start()
        let client = try TestClient.connected(to: node.endpoint)
        try client.send(.follow(Follow(stack: Self.main.description)))
        let following = try client.wait { if case .following = $0 { true } else { false } }
        if case .following(let following) = following { #expect(following.policy == .latest) }
        try client.send(.list(List()))
        let listing = try client.wait { if case .listing = $0 { true } else { false } }
        if case .listing(let listing) = listing { #expect(listing.stacks.map(\.policy) == [.latest]) }
      }
    }
  }

  @Test func aDaemonDoesNotFollowItself() async throws {
    try await Self.withNodes(1) { nodes in
      #expect(throws: SyncDaemonError.self) { try nodes[0].start(peers: [nodes[0]]) }
      // Under another name of it.
      let link = nodes[0].folder + "-link"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: nodes[0].folder)
      var options = try SyncDaemonOptions(
        listen: [nodes[0].endpoint], feed: [], store: .memory, log: DaemonLog(level: .error, descriptor: -1))
      options.peers = [try Endpoint(path: link + "/sync")]
      let daemon = try SyncDaemon(options)
      defer { daemon.stop() }
      let report = try Self.status(at: nodes[0].endpoint) { $0.peers.first?.problem.isEmpty == false }
      #expect(report.peers.first?.connected == false)
      #expect(report.peers.first?.problem.contains("itself") == true)
    }
  }
}
