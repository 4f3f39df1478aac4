import Foundation
import HostilePeers
import NavigationModel
import TestSupport
import Testing
import WireFormat
import ZeroMQ

/// Peers of ill will at a real daemon: it goes on, others are served meanwhile, and it says what it refused.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HostilePeerTests {
  private static let stack = SessionTests.stack

  private func counters(_ client: TestClient) throws -> [String: Int] {
    try client.send(.statusRequest(StatusRequest()))
    let answer = try client.wait { if case .statusReport = $0 { true } else { false } }
    guard case .statusReport(let report) = answer else { return [:] }
    return Dictionary(report.counters.map { ($0.name, $0.value) }) { $1 }
  }

  private func arguments(_ folder: URL) -> [String] {
    [
      "--store", folder.path + "/store", "--listen", "tcp://127.0.0.1:0", "--listen", "ipc://\(folder.path)/sync",
      "--feed", "tcp://127.0.0.1:0",
    ]
  }

  /// What each attack has to show up as in the status.
  private static let shown: [String: [String]] = [
    "handshakes": ["handshakes_failed"],
    "names": ["requests_refused"], "rubbish": ["messages_malformed"], "follows": ["requests_refused"],
    "everything": ["requests_refused"], "heads": ["requests_refused"],
    "deaf": ["requests_refused"],
  ]

  @Test(arguments: Attack.all.map(\.name)) func othersAreServedMeanwhile(_ name: String) async throws {
    try await withTemporaryFolder { folder in
      let daemon = try DaemonProcess(arguments(folder), in: folder)
      defer { daemon.end() }
      let attack = try #require(Attack.all.first { $0.name == name })
      let ports = (try #require(daemon.endpoint(0).port), try #require(daemon.feedPort()))
      func target(_ seconds: Double) -> Target {
        Target(port: ports.0, feedPort: ports.1, stack: Self.stack.description, seconds: seconds)
      }
      try HostileStacks.prepare(target(30), events: 2000, stacks: 20)
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: 40)
      let writer = try TestClient.connected(to: daemon.endpoint(0), device: device.id)
      let reader = try TestClient.connected(to: daemon.endpoint(0))
      try reader.send(.follow(Follow(stack: Self.stack.description)))
      // Sockets stay on this thread.
      let attacked = DispatchGroup()
      DispatchQueue.global().async(group: attacked) { [target = target(2)] in
        do {
          let times = try attack.run(target)
          #expect(times > 0)
        } catch { Issue.record("\(error)") }
      }
      var seen = 0
      for number in 1...40 {
        try writer.send(device.append(from: number, count: 1))
        try writer.waitForAccepted(device.id, through: number)
        while seen < number {
          guard case .events(let events) = try reader.receive() else { continue }
          #expect(events.previousOffset == seen)
          seen += try EventBatch(bytes: events.batch).count
        }
      }
      attacked.wait()
      // Who comes now gets in, and sees what was counted.
      let late = try TestClient.connected(to: daemon.endpoint(0))
      #expect(try late.readAll(Self.stack).count == 40)
      let counted = try counters(try TestClient.connected(to: daemon.endpoint(1)))
      for counter in Self.shown[name] ?? [] { #expect(counted[counter, default: 0] > 0, "\(counter): \(counted)") }
      daemon.signal(SIGTERM)
      #expect(daemon.wait() == 0, "\(daemon.log)")
      // What was refused was said, and was no flood.
      #expect(daemon.log.split(separator: "\n").count < 200)
    }
  }

  @Test(.case(39)) func connectionsAreCappedBelowTheLimitOfFiles() async throws {
    try await withTemporaryFolder { folder in
      let daemon = try DaemonProcess(arguments(folder), in: folder, files: 256)
      defer { daemon.end() }
      let early = try TestClient.connected(to: daemon.endpoint(0))
      let port = try #require(daemon.endpoint(0).port)
      var silent: [RawConnection] = []
      for _ in 0..<600 { silent.append(try RawConnection(toPort: port)) }
      // Those over the limit are ended; those of a burst that is faster are closed as they are accepted.
      let local = try TestClient.connected(to: daemon.endpoint(1))
      var counted: [String: Int] = [:]
      func ended() -> Int {
        ["connections_ended", "connections_not_accepted"].reduce(0) { $0 + counted[$1, default: 0] }
      }
      while ended() < 400 { counted = try counters(local) }
      #expect(daemon.log.contains("a connection was ended: there are more than this daemon takes"))
      for peer in silent[..<20] { peer.waitForEnd() }
      // Who has said something stays, and who comes and says something gets in.
      #expect(try early.readAll(Self.stack).isEmpty)
      #expect(try TestClient.connected(to: daemon.endpoint(0)).readAll(Self.stack).isEmpty)
      withExtendedLifetime(silent) {}
    }
  }

  /// More subscriptions than are kept: the feed begins anew, and who wants little subscribes again by itself.
  @Test func subscriptionsAreBounded() async throws {
    try await withTemporaryFolder { folder in
      let daemon = try DaemonProcess(arguments(folder), in: folder)
      defer { daemon.end() }
      let client = try TestClient.connected(to: daemon.endpoint(1))
      let feed = try Endpoint("tcp://127.0.0.1:\(try #require(daemon.feedPort()))")
      let honest = try SessionTests.Subscriber(feed, FeedTopic.prefix(of: Self.stack.space))
      let hostile = try RawConnection(
        toPort: try #require(daemon.feedPort()), sending: RawPeer.greeting + RawPeer.ready("SUB"))
      var number: UInt64 = 0
      while try counters(client)["feeds_reopened"] == nil {
        var frames: [UInt8] = []
        for _ in 0..<2000 {
          number += 1
          let topic = [UInt8](repeating: 7, count: 400) + withUnsafeBytes(of: number.bigEndian, Array.init)
          frames += RawPeer.message([1] + topic)
        }
        // It may have been closed meanwhile.
        if hostile.sendSome([]) != nil { hostile.send(frames) }
        hostile.discard()
      }
      #expect(daemon.log.contains("a feed is closed and opened again"))
      var device = TestDevice(1, on: Self.stack)
      let writer = try TestClient.connected(to: daemon.endpoint(1), device: device.id)
      var message: EventsMessage?
      while message == nil {
        try device.act(count: 1)
        try writer.send(device.append(from: device.events.count, count: 1))
        try writer.waitForAccepted(device.id, through: device.events.count)
        message = try honest.next(wait: 50)
      }
      #expect(message?.stack == Self.stack.description)
    }
  }
}

extension DaemonProcess {
  /// The port of its feed over tcp.
  func feedPort() -> UInt16? {
    ready.split(separator: " ").first { $0.hasPrefix("feed=tcp://") }?.split(separator: ":").last.flatMap { UInt16($0) }
  }
}
