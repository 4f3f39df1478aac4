import CZeroMQ
import Foundation
import NavigationModel
import SyncDaemon
import TestSupport
import Testing
import WireFormat

@testable import ZeroMQ

/// A daemon in this process, with real sockets and a real store.
@Suite struct SessionTests {
  static let stack = name("alice/main")

  static func name(_ text: String) -> StackName {
    do { return try StackName(text) } catch { preconditionFailure("\(error)") }
  }

  static func quiet() -> DaemonLog { DaemonLog(level: .error) }

  /// A daemon on an ipc path and a loopback port of its own, ended after the body.
  static func withDaemon(
    memory: Bool = false, feed: Bool = false, sendLimit: Int? = nil,
    _ body: (SyncDaemon, URL) throws -> Void
  ) async throws {
    try await withTemporaryFolder { folder in
      var options = try SyncDaemonOptions(
        listen: [try Endpoint(path: folder.path + "/sync"), try Endpoint("tcp://127.0.0.1:0")],
        feed: feed ? [try Endpoint(path: folder.path + "/feed"), try Endpoint("tcp://127.0.0.1:0")] : [],
        store: memory ? .memory : .folder(folder.path + "/store"), log: quiet())
      options.sendLimit = sendLimit
      let daemon = try SyncDaemon(options)
      defer { daemon.stop() }
      try body(daemon, folder)
    }
  }

  @Test(arguments: [true, false]) func appendAndFollow(memory: Bool) async throws {
    try await Self.withDaemon(memory: memory) { daemon, _ in
      #expect(daemon.endpoints.count == 2)
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: 1000)
      // One over ipc, one over tcp.
      let writer = try TestClient.connected(to: daemon.endpoints[0], device: device.id, name: "phone")
      let live = try TestClient.connected(to: daemon.endpoints[1])
      try live.send(.follow(Follow(stack: Self.stack.description)))
      try live.wait { if case .live = $0 { true } else { false } }
      for first in stride(from: 1, through: 1000, by: 100) { try writer.send(device.append(from: first, count: 100)) }
      try writer.waitForAccepted(device.id, through: 1000)
      var seen = 0
      while seen < 1000 {
        guard case .events(let events) = try live.receive() else { continue }
        #expect(events.previousOffset == seen)
        seen += try EventBatch(bytes: events.batch).count
      }
      let late = try TestClient.connected(to: daemon.endpoints[0])
      #expect(try late.readAll(Self.stack) == (1...1000).map { Dot(device.id, $0) })
    }
  }

  @Test func aRestartKeepsEventsNamesAndIdentity() async throws {
    try await withTemporaryFolder { folder in
      func start() throws -> SyncDaemon {
        try SyncDaemon(
          SyncDaemonOptions(
            listen: [try Endpoint(path: folder.path + "/sync")], store: .folder(folder.path + "/store"),
            log: Self.quiet()))
      }
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: 130)
      func welcome(_ client: TestClient) -> Welcome? {
        for case .welcome(let welcome) in client.received { return welcome }
        return nil
      }
      let first = try start()
      let writer = try TestClient.connected(to: first.endpoints[0], device: device.id, name: "phone")
      try writer.send(device.append(from: 1, count: 70))
      try writer.waitForAccepted(device.id, through: 70)
      first.stop()
      first.stop()

      let second = try start()
      defer { second.stop() }
      let again = try TestClient.connected(to: second.endpoints[0], device: device.id, name: "phone")
      #expect(welcome(writer)?.daemon == welcome(again)?.daemon)
      #expect(welcome(writer)?.epoch == welcome(again)?.epoch)
      // A resend, with the digest of a place that is not closed, and new ones behind it.
      try again.send(device.append(from: 68, count: 60))
      try again.waitForAccepted(device.id, through: 127)
      try again.send(.list(List()))
      try again.wait { if case .listing(let listing) = $0 { listing.last } else { false } }
      var listing = Listing(last: true)
      for case .listing(let page) in again.received {
        listing.devices += page.devices
        listing.stacks += page.stacks
      }
      #expect(listing.devices.map(\.name) == ["phone"])
      #expect(listing.stacks.map(\.head) == [127])
      #expect(try again.readAll(Self.stack).count == 127)
      #expect(
        again.received.contains {
          if case .accepted(let it) = $0 { it.throughSequence == 70 && it.offset == 70 } else { false }
        })
    }
  }

  @Test func whoDisconnectsIsGoneAtOnce() async throws {
    try await Self.withDaemon(memory: true) { daemon, _ in
      let device = DeviceID(high: 1, low: 9)
      let watcher = try TestClient.connected(to: daemon.endpoints[0])
      try watcher.send(.follow(Follow(stack: Self.stack.description)))
      try watcher.wait { if case .live = $0 { true } else { false } }
      var phone: TestClient? = try TestClient.connected(to: daemon.endpoints[1], device: device, name: "phone")
      try phone?.send(.follow(Follow(stack: Self.stack.description)))
      try phone?.wait { if case .live = $0 { true } else { false } }
      try phone?.send(.presence(Presence(stack: Self.stack.description)))
      for state in [Presence.State.active, .gone] {
        if state == .gone { phone = nil }
        let answer = try watcher.wait { if case .presence = $0 { true } else { false } }
        guard case .presence(let presence) = answer else { return }
        #expect(presence.state == state)
        #expect(presence.device == device)
        #expect(presence.name == "phone")
      }
      #expect(phone == nil)
    }
  }

  @Test func aForkIsRefused() async throws {
    try await Self.withDaemon { daemon, _ in
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: 5)
      var clone = TestDevice(1, on: Self.stack)
      try clone.act(count: 5, size: 9)
      let client = try TestClient.connected(to: daemon.endpoints[0], device: device.id)
      try client.send(device.append(from: 1, count: 5))
      try client.waitForAccepted(device.id, through: 5)
      try client.send(clone.append(from: 1, count: 5))
      try client.send(clone.append(from: 4, count: 1))
      for _ in 0..<2 {
        let answer = try client.wait { if case .rejected = $0 { true } else { false } }
        guard case .rejected(let rejected) = answer else { return }
        #expect(rejected.code == .fork)
      }
    }
  }

  @Test func readersWithoutTheHistoryGetTheAuthorsStates() async throws {
    try await Self.withDaemon { daemon, _ in
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: 40)
      let client = try TestClient.connected(to: daemon.endpoints[0], device: device.id)
      for first in stride(from: 1, through: 40, by: 10) {
        try client.send(device.append(from: first, count: 10))
        try client.waitForAccepted(device.id, through: first + 9)
      }
      for start in [
        FollowStart.offset(20, epoch: epoch(of: client)), .offset(30, epoch: epoch(of: client)), .vector([]),
      ] {
        let reader = try TestClient.connected(to: daemon.endpoints[1])
        try reader.send(.follow(Follow(stack: Self.stack.description, start: start, wantsAuthorStates: true)))
        try reader.wait { if case .live = $0 { true } else { false } }
        var count = 0
        for case .events(let events) in reader.received {
          let batch = try EventBatch(bytes: events.batch)
          var state = try #require(events.authorStates.first)
          #expect(state.sequence == batch.authors[0].firstSequence - 1)
          try batch.forEach { record in
            let event = try EventCodec.decode(batch.bytes, in: record.range, after: &state)
            #expect(event.dot == record.dot)
            count += 1
          }
        }
        #expect(count >= 10)
      }
    }
  }

  private func epoch(of client: TestClient) -> UInt64 {
    for case .welcome(let welcome) in client.received { return welcome.epoch }
    return 0
  }

  @Test(.case(32)) func aSlowFollowerHurtsNobody() async throws {
    // Low marks, so that a peer that doesn't read is full soon.
    try await Self.withDaemon(sendLimit: 4) { daemon, _ in
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: 400, size: 2000)
      let writer = try TestClient.connected(to: daemon.endpoints[0], device: device.id)
      let fast = try TestClient.connected(to: daemon.endpoints[0])
      // It has credit for everything, and doesn't read; another has no credit at all.
      let slow = try TestClient.connected(to: daemon.endpoints[1])
      let poor = try TestClient.connected(to: daemon.endpoints[1], credit: 0)
      for follower in [fast, slow, poor] { try follower.send(.follow(Follow(stack: Self.stack.description))) }
      try fast.wait { if case .live = $0 { true } else { false } }
      var seen = 0
      for first in stride(from: 1, through: 400, by: 10) {
        try writer.send(device.append(from: first, count: 10))
        try writer.waitForAccepted(device.id, through: first + 9)
        while seen < first + 9 {
          let message = try fast.receive()
          guard case .events(let events) = message else { continue }
          seen += try EventBatch(bytes: events.batch).count
          try fast.send(.credit(Credit(bytes: message.encoded().count)))
        }
      }
      #expect(seen == 400)
      // They catch up from the log: each offset once, in order.
      try poor.send(.credit(Credit(bytes: 1 << 20)))
      for follower in [slow, poor] {
        var offset = 0
        while offset < 400 {
          let message = try follower.receive()
          guard case .events(let events) = message else { continue }
          #expect(events.previousOffset == offset)
          offset += try EventBatch(bytes: events.batch).count
          try follower.send(.credit(Credit(bytes: message.encoded().count)))
        }
        #expect(offset == 400)
      }
    }
  }

  @Test func theFeedTellsOfWhatIsStored() async throws {
    try await Self.withDaemon(feed: true) { daemon, _ in
      #expect(daemon.feedEndpoints.count == 2)
      let other = Self.name("bob/main")
      var device = TestDevice(1, on: Self.stack)
      var stranger = TestDevice(2, on: other)
      try device.act(count: 2)
      try stranger.act(count: 50)
      let client = try TestClient.connected(to: daemon.endpoints[0], device: device.id)
      let subscribers = try daemon.feedEndpoints.map { try Subscriber($0, FeedTopic.prefix(of: Self.stack.space)) }
      // A subscription takes a while to arrive: events of the other space until one of this is heard.
      var sent = 0
      var last: EventsMessage?
      for subscriber in subscribers {
        var message: EventsMessage?
        while message == nil {
          sent += 1
          try stranger.act(count: 1)
          try device.act(count: 1)
          try client.send(stranger.append(from: sent, count: 1))
          try client.send(device.append(from: sent, count: 1))
          try client.waitForAccepted(device.id, through: sent)
          message = try subscriber.next(wait: 50)
        }
        #expect(message?.stack == Self.stack.description)
        last = message
        if subscriber === subscribers[0] {
          let batch = try EventBatch(bytes: message?.batch ?? [])
          #expect(batch.count >= 1)
          #expect(message?.authorStates.first?.device == device.id)
        }
      }
      #expect(last?.batch.isEmpty == true, "over tcp only the place is told")
      #expect((last?.firstOffset ?? 0) > 0)
    }
  }

  /// A SUB socket.
  final class Subscriber {
    let socket: Socket

    init(_ endpoint: Endpoint, _ topic: [UInt8]) throws {
      socket = try Socket(.sub)
      try socket.set(ZMQ_LINGER, 0)
      try socket.set(ZMQ_SUBSCRIBE, bytes: topic)
      try socket.connect(endpoint)
    }

    func next(wait: Int) throws -> EventsMessage? {
      try socket.set(ZMQ_RCVTIMEO, wait)
      var topic = Frame()
      guard socket.receive(into: &topic, waiting: true) else { return nil }
      #expect(topic.count == 25)
      var body = Frame()
      guard socket.receive(into: &body, waiting: true), case .events(let events) = try Message(decoding: body.bytes())
      else { return nil }
      return events
    }
  }

  @Test func theReportCounts() async throws {
    try await Self.withDaemon(memory: true) { daemon, _ in
      let client = try TestClient.connected(to: daemon.endpoints[0])
      try client.send(
        .append(
          Append(stack: "no", device: DeviceID(high: 0, low: 1), firstSequence: 1, previous: .empty, events: [[1]])))
      try client.send(.statusRequest(StatusRequest()))
      guard
        case .statusReport(let report) = try client.wait(for: { if case .statusReport = $0 { true } else { false } })
      else { return }
      #expect(report.store == "memory")
      #expect(report.endpoints == daemon.endpoints.map(\.description))
      let counters = Dictionary(uniqueKeysWithValues: report.counters.map { ($0.name, $0.value) })
      #expect(counters["requests_refused"] == 1)
      #expect(counters["sessions"] == 1)
    }
  }
}
