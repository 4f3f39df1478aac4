import Foundation
import HostilePeers
import NavigationModel
import SyncDaemon
import TestSupport
import Testing
import WireFormat
import ZeroMQ

/// What went wrong for others in publishing and subscribing, tried with real daemons and real sockets.
@Suite(.timeLimit(.minutes(5))) struct PublishingTests {
  private static let stack = SessionTests.stack

  @Test(.case(26)) func everyFollowIsConfirmedOrRefused() async throws {
    try await withTemporaryFolder { folder in
      let daemon = try DaemonProcess(["--store", "memory", "--listen", "tcp://127.0.0.1:0"], in: folder)
      defer { daemon.end() }
      let limit = Limits().follows
      // And again after a reconnect.
      for _ in 0..<2 {
        let client = try TestClient.connected(to: daemon.endpoint(0))
        var (sent, confirmed) = (0, 0)
        var refused: [Refused] = []
        while confirmed + refused.count <= limit {
          while sent <= limit, sent - confirmed - refused.count < 32 {
            try client.send(.follow(Follow(stack: "alice/n\(sent)")))
            sent += 1
          }
          switch try client.receive() {
          case .following: confirmed += 1
          case .refused(let it): refused.append(it)
          case _: break
          }
        }
        #expect(confirmed == limit)
        #expect(refused.map(\.code) == [.tooMany])
        #expect(refused.first?.stack == "alice/n\(limit)")
        #expect(refused.first?.reason.contains("follows \(limit) stacks") == true)
      }
    }
  }

  @Test(.case(27), .case(43)) func aTopicReachesWhoAskedForItAlone() async throws {
    try await SessionTests.withDaemon(memory: true, feed: true) { daemon, _ in
      let names = [SessionTests.name("alice/tx"), SessionTests.name("alice/tx_trytes")]
      var devices = names.enumerated().map { TestDevice(UInt64($0.offset + 1), on: $0.element) }
      let writers = try devices.map { try TestClient.connected(to: daemon.endpoints[0], device: $0.id) }
      func act() throws {
        for place in devices.indices {
          try devices[place].act(count: 1)
          try writers[place].send(devices[place].append(from: devices[place].events.count, count: 1))
          try writers[place].waitForAccepted(devices[place].id, through: devices[place].events.count)
        }
      }
      // Who comes next may be given what the departed one had at libzmq: of an XPUB that is handled by hand it gets its
      // topics, too.
      for round in 0..<50 {
        let place = round % 2
        let endpoint = daemon.feedEndpoints[round / 2 % 2]
        let subscriber = try SessionTests.Subscriber(endpoint, FeedTopic.topic(of: names[place]))
        var heard = 0
        while heard < 3 {
          try act()
          while let message = try subscriber.next(wait: 20) {
            #expect(message.stack == names[place].description)
            heard += 1
          }
        }
      }
      // A session hears of the stack that it named, and of no longer name.
      let follower = try TestClient.connected(to: daemon.endpoints[1])
      #expect(try follower.readAll(names[0]).allSatisfy { $0.device == devices[0].id })
      try act()
      try follower.send(.ping(Ping(heads: [])))
      try follower.wait { if case .pong = $0 { true } else { false } }
      for case .events(let events) in follower.received { #expect(events.stack == names[0].description) }
    }
  }

  @Test(.case(33)) func aLongReplayIsWholeAndEndsWhereItSays() async throws {
    // Little room everywhere, and credit for a few events at a time.
    try await SessionTests.withDaemon(sendLimit: 4) { daemon, _ in
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: 2000, size: 1000)
      let writer = try TestClient.connected(to: daemon.endpoints[0], device: device.id)
      for first in stride(from: 1, through: 2000, by: 50) {
        try writer.send(device.append(from: first, count: 50))
        try writer.waitForAccepted(device.id, through: first + 49)
      }
      let reader = try TestClient.connected(to: daemon.endpoints[1], credit: 4000)
      // Each offset once, in order, and `Live` at the last of them: `readAll` throws otherwise.
      #expect(try reader.readAll(Self.stack) == (1...2000).map { Dot(device.id, $0) })
    }
  }

  @Test(.case(36)) func nobodyMissesTheFirstUpdateAfterJoining() async throws {
    try await SessionTests.withDaemon(memory: true) { daemon, _ in
      let count = 200
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: count)
      let writer = try TestClient.connected(to: daemon.endpoints[0], device: device.id)
      for number in 1...count {
        let reader = try TestClient.connected(to: daemon.endpoints[number % 2])
        // Both are on their way at once, over different connections.
        if number % 3 == 0 { try writer.send(device.append(from: number, count: 1)) }
        try reader.send(.follow(Follow(stack: Self.stack.description)))
        if number % 3 != 0 { try writer.send(device.append(from: number, count: 1)) }
        var seen = 0
        while seen < number {
          guard case .events(let events) = try reader.receive() else { continue }
          #expect(events.previousOffset == seen)
          seen += try EventBatch(bytes: events.batch).count
        }
        #expect(seen == number)
      }
    }
  }

  @Test(.case(42)) func signalsDoNotDisturbIt() async throws {
    try await withTemporaryFolder { folder in
      let daemon = try DaemonProcess(
        ["--store", folder.path + "/store", "--listen", "ipc://" + folder.path + "/sync"], in: folder)
      defer { daemon.end() }
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: 300)
      let client = try TestClient.connected(to: daemon.endpoint(0), device: device.id)
      // Stopping and going on ends every call that waits with EINTR, also without a handler (signal(7)).
      for number in 1...300 {
        try client.send(device.append(from: number, count: 1))
        daemon.signal(number % 2 == 0 ? SIGSTOP : SIGWINCH)
        daemon.signal(SIGCONT)
        try client.waitForAccepted(device.id, through: number)
      }
      daemon.signal(SIGTERM)
      #expect(daemon.wait() == 0)
    }
  }

  @Test(.case(44)) func itEndsThoughPeersHang() async throws {
    try await withTemporaryFolder { folder in
      let arguments = [
        "--store", folder.path + "/store", "--listen", "tcp://127.0.0.1:0", "--feed", "tcp://127.0.0.1:0",
      ]
      let daemon = try DaemonProcess(arguments, in: folder)
      defer { daemon.end() }
      let endpoint = try daemon.endpoint(0)
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: 3000, size: 1000)
      // One that says nothing, one that doesn't read what it asked for, and one with appends in flight.
      let silent = try RawConnection(toPort: try #require(endpoint.port))
      let deaf = try TestClient.connected(to: endpoint, credit: 1 << 20)
      try deaf.send(.follow(Follow(stack: Self.stack.description)))
      let writer = try TestClient.connected(to: endpoint, device: device.id)
      for first in stride(from: 1, through: 3000, by: 10) { try writer.send(device.append(from: first, count: 10)) }
      try writer.waitForAccepted(device.id, through: 1000)
      daemon.signal(SIGTERM)
      #expect(daemon.wait() == 0)
      withExtendedLifetime(silent) {}
      writer.drain()
      // The log was closed: nothing is left to be recovered, and all that was answered is there.
      #expect(!FileManager.default.fileExists(atPath: folder.path + "/store/log.sqlite3-wal"))
      let again = try DaemonProcess(arguments, in: folder)
      defer { again.end() }
      let dots = try TestClient.connected(to: again.endpoint(0)).readAll(Self.stack)
      #expect(dots.count >= writer.accepted(device.id))
      #expect(dots == (1...dots.count).map { Dot(device.id, $0) })
    }
  }

  @Test(.case(51)) func anEmptyAppendIsNothing() async throws {
    try await withTemporaryFolder { folder in
      let arguments = ["--store", folder.path + "/store", "--listen", "ipc://" + folder.path + "/sync"]
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: 2)
      for round in 1...2 {
        let daemon = try DaemonProcess(arguments, in: folder)
        defer { daemon.end() }
        let client = try TestClient.connected(to: daemon.endpoint(0), device: device.id)
        guard case .append(var empty) = device.append(from: round, count: 1) else { return }
        empty.events = []
        for _ in 0..<3 { try client.send(.append(empty)) }
        try client.send(device.append(from: round, count: 1))
        try client.waitForAccepted(device.id, through: round)
        #expect(!client.received.contains { if case .rejected = $0 { true } else { false } })
        #expect(try client.readAll(Self.stack).count == round)
        daemon.signal(SIGTERM)
        #expect(daemon.wait() == 0)
      }
    }
  }
}
