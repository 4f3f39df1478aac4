import Access
import Foundation
import KeyFiles
import NavigationModel
import SyncDaemon
import TestSupport
import Testing
import WireFormat

@testable import ZeroMQ

/// A daemon in this process with keys: real handshakes, rules in files.
@Suite(.timeLimit(.minutes(2)))
struct KeyTests {
  static let stack = SessionTests.stack

  struct Place {
    let folder: URL
    var keys: KeyFolder { KeyFolder(folder.path + "/keys") }

    func start(_ change: (inout SyncDaemonOptions) throws -> Void = { _ in }) throws -> SyncDaemon {
      var options = try SyncDaemonOptions(
        listen: [try Endpoint("tcp://127.0.0.1:0"), try Endpoint(path: folder.path + "/sync")],
        feed: [try Endpoint("tcp://127.0.0.1:0")], store: .folder(folder.path + "/store"), log: DaemonLog(level: .error)
      )
      options.keys = keys
      try change(&options)
      return try SyncDaemon(options)
    }

    func allow(_ key: PublicKey, _ name: String, in space: String = "*", _ may: Verbs = [.read, .act]) throws {
      let rule = AccessRule(key: key, name: try Name(name), scope: try Scope(space), verbs: may)
      try keys.changeRules { (rules) throws(KeyFileError) in rules.allow(rule) }
    }

    func revoke(_ key: PublicKey) throws {
      try keys.changeRules { (rules) throws(KeyFileError) in rules.revoke(key) }
    }

    func curve(_ own: KeyPair) throws -> Curve {
      .client(own, server: try #require(try keys.keys()).publicKey)
    }

    /// Has a daemon of this process read the rules, and waits until it has.
    func reload(_ daemon: SyncDaemon) throws {
      daemon.reloadAccess()
      let wanted = try keys.stamp()
      while keys.server?.state != wanted { sched_yield() }
    }
  }

  static func withPlace(_ body: (Place) throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      let place = Place(folder: folder)
      try place.keys.makeKeys()
      try body(place)
    }
  }

  @Test func whoMayActs() async throws {
    try await Self.withPlace { place in
      let (phone, kiosk) = (try KeyPair.generate(), try KeyPair.generate())
      try place.allow(phone.publicKey, "phone", in: "alice")
      try place.allow(kiosk.publicKey, "kiosk", .read)
      let daemon = try place.start()
      defer { daemon.stop() }
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: 3)
      let writer = try TestClient.connected(
        to: daemon.endpoints[0], device: device.id, name: "phone", curve: try place.curve(phone))
      try writer.send(device.append(from: 1, count: 3))
      try writer.waitForAccepted(device.id, through: 3)
      let reader = try TestClient.connected(to: daemon.endpoints[0], curve: try place.curve(kiosk))
      #expect(try reader.readAll(Self.stack).count == 3)
      try reader.send(device.append(from: 1, count: 3))
      let rejected = try reader.wait { if case .rejected = $0 { true } else { false } }
      if case .rejected(let it) = rejected { #expect(it.code == .notAuthorised) }
      // The file system lets in whoever it lets in.
      let local = try TestClient.connected(to: daemon.endpoints[1])
      #expect(try local.readAll(Self.stack).count == 3)
    }
  }

  @Test(.case(30)) func rulesHoldWithoutARestart() async throws {
    try await Self.withPlace { place in
      let phone = try KeyPair.generate()
      let daemon = try place.start()
      defer { daemon.stop() }
      #expect(try TestClient.isRefused(by: daemon.endpoints[0], curve: try place.curve(phone)))
      try place.allow(phone.publicKey, "phone")
      try place.reload(daemon)
      let client = try TestClient.connected(to: daemon.endpoints[0], curve: try place.curve(phone))
      #expect(try client.readAll(Self.stack).isEmpty)
      try place.revoke(phone.publicKey)
      try place.reload(daemon)
      #expect(try TestClient.isRefused(by: daemon.endpoints[0], curve: try place.curve(phone)))
      // Its connection was cut: what it still sends goes nowhere.
      client.drain()
      try client.socket.limitWaits(milliseconds: 300)
      try? client.send(.list(List()))
      #expect(throws: TestClient.Timeout.self) { try client.receive() }
    }
  }

  /// A mistake in the file leaves the rules as they were, and is told to who asks.
  @Test func aMistakeChangesNothing() async throws {
    try await Self.withPlace { place in
      let phone = try KeyPair.generate()
      try place.allow(phone.publicKey, "phone")
      let daemon = try place.start()
      defer { daemon.stop() }
      try Data("allow everybody\n".utf8).write(to: URL(fileURLWithPath: place.keys.rulesPath))
      daemon.reloadAccess()
      while place.keys.server?.state.hasPrefix("problem: ") != true { sched_yield() }
      #expect(place.keys.server?.state.contains("line 1") == true)
      _ = try TestClient.connected(to: daemon.endpoints[0], curve: try place.curve(phone))
    }
  }

  @Test func whoseADeviceIsOutlivesTheDaemon() async throws {
    try await Self.withPlace { place in
      let (phone, other) = (try KeyPair.generate(), try KeyPair.generate())
      try place.allow(phone.publicKey, "phone")
      try place.allow(other.publicKey, "other")
      let id = DeviceID(high: 1, low: 1)
      let first = try place.start()
      _ = try TestClient.connected(to: first.endpoints[0], device: id, curve: try place.curve(phone))
      first.stop()
      let daemon = try place.start()
      defer { daemon.stop() }
      let client = try TestClient(daemon.endpoints[0], curve: try place.curve(other))
      try client.send(.hello(Hello(device: id, name: "thief")))
      guard case .refused(let refused) = try client.receive() else {
        Issue.record("taken")
        return
      }
      #expect(refused.code == .notAuthorised && refused.reason.contains("belongs to the key of phone"))
      _ = try TestClient.connected(to: daemon.endpoints[0], device: id, curve: try place.curve(phone))
    }
  }

  @Test func withoutKeysItStaysOnThisMachine() async throws {
    try await withTemporaryFolder { folder in
      let place = Place(folder: folder)
      for change: (inout SyncDaemonOptions) throws -> Void in [
        { $0.listen = [try Endpoint("tcp://0.0.0.0:0")] }, { $0.feed = [try Endpoint("tcp://*:0")] },
        { $0.peers = [try Endpoint("tcp://192.0.2.1:5757")] },
        { options in
          options.keys = nil
          options.listen = [try Endpoint("tcp://[::]:0")]
        },
      ] {
        do {
          try place.start(change).stop()
          Issue.record("it runs")
        } catch let error as SyncDaemonError { #expect(error.code == .notAllowed, "\(error)") }
      }
      // A secret that others can read is as good as none.
      try place.keys.makeKeys()
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: place.keys.secretPath())
      do {
        try place.start().stop()
        Issue.record("it runs")
      } catch let error as SyncDaemonError { #expect(error.code == .notAllowed && error.description.contains("chmod")) }
    }
  }

  @Test func twoDaemonsDoNotShareAFolder() async throws {
    try await Self.withPlace { place in
      let daemon = try place.start()
      defer { daemon.stop() }
      do {
        try place.start {
          $0.store = .memory
          $0.listen = [try Endpoint("tcp://127.0.0.1:0")]
        }.stop()
        Issue.record("it runs")
      } catch let error as SyncDaemonError { #expect(error.code == .held, "\(error)") }
    }
  }

  /// Daemons follow each other by keys, as far as the rules go.
  @Test func peersHaveKeysToo() async throws {
    try await Self.withPlace { home in
      let away = Place(folder: home.folder.appendingPathComponent("away"))
      let keys = try away.keys.makeKeys()
      try home.allow(keys.publicKey, "laptop", in: "alice")
      let daemon = try home.start()
      defer { daemon.stop() }
      try away.keys.keep(try #require(try home.keys.keys()).publicKey, ofDaemonAt: daemon.endpoints[0])
      let peer = try away.start { $0.peers = [daemon.endpoints[0]] }
      defer { peer.stop() }
      var mine = TestDevice(1, on: Self.stack)
      try mine.act(count: 5)
      var other = TestDevice(2, on: SessionTests.name("bob/main"))
      try other.act(count: 5)
      // At home both; away only what it may read.
      let client = try TestClient.connected(to: daemon.endpoints[1], device: mine.id)
      try client.send(mine.append(from: 1, count: 5))
      try client.send(other.append(from: 1, count: 5))
      try client.waitForAccepted(mine.id, through: 5)
      try client.waitForAccepted(other.id, through: 5)
      _ = try PeerTests.waitForEvents(5, of: Self.stack, at: peer.endpoints[1])
      let there = try TestClient.connected(to: peer.endpoints[1])
      try there.send(.list(List()))
      guard case .listing(let listing) = try there.wait(for: { if case .listing = $0 { true } else { false } }) else {
        return
      }
      #expect(listing.stacks.map(\.stack) == ["alice/main"])
    }
  }

  /// The old keys serve until their time is over, and tell of the new ones; then these serve.
  @Test func keysChangeWhenTheirTimeHasCome() async throws {
    try await Self.withPlace { place in
      let phone = try KeyPair.generate()
      try place.allow(phone.publicKey, "phone")
      let daemon = try place.start()
      defer { daemon.stop() }
      let old = try place.curve(phone)
      let before = try TestClient.connected(to: daemon.endpoints[0], curve: old)
      #expect(before.nextKey == [])
      let change = try place.keys.beginChange(at: Moment.now().wall + 1500)
      try place.reload(daemon)
      let between = try TestClient.connected(to: daemon.endpoints[0], curve: old)
      #expect(between.nextKey == change.key.bytes)
      let local = try TestClient.connected(to: daemon.endpoints[1])
      #expect(local.nextKey == [], "there are no keys on that way")
      while try place.keys.change() != nil { sched_yield() }
      let after = try TestClient.connected(
        to: daemon.endpoints[0], curve: .client(phone, server: change.key))
      #expect(after.nextKey == [])
    }
  }

  /// A change that can't be gone by yet is tried now and then, and done when the mistake is mended.
  @Test func aDueChangeIsTriedNowAndThen() async throws {
    try await Self.withPlace { place in
      let path = place.folder.path + "/log"
      let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(descriptor) }
      func errors() throws -> Int { try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count }
      let daemon = try place.start { $0.log = DaemonLog(level: .error, descriptor: descriptor) }
      defer { daemon.stop() }
      let phone = try KeyPair.generate()
      try place.allow(phone.publicKey, "phone")
      let begun = Moment.now().monotonic
      let change = try place.keys.beginChange(at: Moment.now().wall + 500)
      try place.reload(daemon)
      let rules = try Data(contentsOf: URL(fileURLWithPath: place.keys.rulesPath))
      try Data("nonsense\n".utf8).write(to: URL(fileURLWithPath: place.keys.rulesPath))
      while try errors() < 3 { sched_yield() }
      let count = try errors()
      #expect(count <= 2 + (Moment.now().monotonic - begun) / 500, "it doesn't spin")
      try rules.write(to: URL(fileURLWithPath: place.keys.rulesPath))
      let wanted = try place.keys.stamp()
      while place.keys.server?.state != wanted { sched_yield() }
      _ = try TestClient.connected(to: daemon.endpoints[0], curve: .client(phone, server: change.key))
    }
  }

  /// Who asks for what can't be doesn't keep the daemon busy with its files.
  @Test func withoutACodeNothingIsReadAgain() async throws {
    try await Self.withPlace { place in
      let phone = try KeyPair.generate()
      try place.allow(phone.publicKey, "phone")
      let daemon = try place.start()
      defer { daemon.stop() }
      let client = try TestClient.connected(to: daemon.endpoints[0], curve: try place.curve(phone))
      let before = place.keys.server?.state
      try Data("nonsense\n".utf8).write(to: URL(fileURLWithPath: place.keys.rulesPath))
      try client.send(.pair(Pair(secret: [1], name: "phone")))
      let refused = try client.wait { if case .refused = $0 { true } else { false } }
      if case .refused(let it) = refused { #expect(it.reason.contains("no code is open")) }
      #expect(place.keys.server?.state == before)
    }
  }

  /// Over a code's time strangers get as far as to redeem it, and no further.
  @Test func aStrangerMayRedeemACodeAndNothingElse() async throws {
    try await Self.withPlace { place in
      let daemon = try place.start()
      defer { daemon.stop() }
      let (stranger, other) = (try KeyPair.generate(), try KeyPair.generate())
      let secret = (0..<16).map { UInt8($0) }
      try place.keys.keep(
        PairingOffer(
          secret: secret, until: Moment.now().wall + 600_000, name: nil, scope: .everySpace, verbs: [.read, .act]))
      try place.reload(daemon)
      let client = try TestClient(daemon.endpoints[0], curve: try place.curve(stranger))
      for message: Message in [.hello(Hello()), .list(List()), .pair(Pair(secret: [1], name: "x"))] {
        try client.send(message)
        guard case .refused(let refused) = try client.receive() else {
          Issue.record("not refused: \(message)")
          continue
        }
        #expect(refused.code == .notAuthorised)
      }
      #expect(
        try TestClient.isRefused(by: daemon.feedEndpoints[0], as: .sub, curve: try place.curve(other)),
        "no feed for strangers")
      try client.send(.pair(Pair(secret: secret, name: "phone")))
      guard case .paired(let paired) = try client.receive() else {
        Issue.record("not paired")
        return
      }
      #expect(paired.name == "phone" && paired.space == "*" && paired.may == "read,act")
      try client.send(.hello(Hello()))
      try client.wait { if case .welcome = $0 { true } else { false } }
      // The door is closed behind it.
      #expect(try TestClient.isRefused(by: daemon.endpoints[0], curve: try place.curve(other)))
      // What is local has no key that could be paired.
      let local = try TestClient.connected(to: daemon.endpoints[1])
      try local.send(.pair(Pair(secret: secret, name: "phone")))
      guard case .refused(let refused) = try local.receive() else {
        Issue.record("not refused")
        return
      }
      #expect(refused.about == .pair)
    }
  }
}
