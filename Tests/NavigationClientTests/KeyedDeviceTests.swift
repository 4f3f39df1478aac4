import Access
import Foundation
import KeyFiles
import NavigationClient
import NavigationModel
import SyncDaemon
import TestSupport
import Testing
import ZeroMQ

/// Devices with keys, while what they may changes under them.
@Suite(.timeLimit(.minutes(5))) struct KeyedDeviceTests {
  struct Place {
    let daemon: SyncDaemon
    let daemonKeys: KeyFolder
    let userKeys: KeyFolder
    let key: PublicKey
    let folder: String

    func device(_ name: String) async throws -> Device {
      try await Device.open(
        name: name,
        options: Device.Options(
          daemon: "\(daemon.endpoints[0])", keys: userKeys.path, folder: folder + "/devices/" + name))
    }

    /// Has these rules alone hold for the user's key.
    func allow(_ rules: [(space: String, may: Verbs)]) async throws {
      let (key, name) = (key, try Name("user"))
      let wanted = try rules.map { AccessRule(key: key, name: name, scope: try Scope($0.space), verbs: $0.may) }
      try daemonKeys.changeRules { (rules) throws(KeyFileError) in
        rules.revoke(key)
        for rule in wanted { rules.allow(rule) }
      }
      daemon.reloadAccess()
      let stamp = try daemonKeys.stamp()
      while daemonKeys.server?.state != stamp { await Task.yield() }
    }
  }

  func withPlace(
    isolation: isolated (any Actor)? = #isolation, _ body: (Place) async throws -> Void
  ) async throws {
    try await withTemporaryFolder { folder in
      let (daemonKeys, userKeys) = (KeyFolder(folder.path + "/keys"), KeyFolder(folder.path + "/user"))
      let server = try daemonKeys.makeKeys()
      let key = try userKeys.makeKeys().publicKey
      var options = try SyncDaemonOptions(
        listen: [try Endpoint("tcp://127.0.0.1:0")], store: .folder(folder.path + "/store"),
        log: DaemonLog(level: .error))
      options.keys = daemonKeys
      let daemon = try SyncDaemon(options)
      defer { daemon.stop() }
      try userKeys.keep(server.publicKey, ofDaemonAt: daemon.endpoints[0])
      try await body(
        Place(daemon: daemon, daemonKeys: daemonKeys, userKeys: userKeys, key: key, folder: folder.path))
    }
  }

  /// What a device did while it was not allowed goes out when it is again, without anybody starting anything anew.
  @Test func rightsThatComeBackAreUsed() async throws {
    try await withPlace { place in
      try await place.allow([("alice", [.read, .act])])
      let phone = try await place.device("phone")
      let stack = try await phone.stack("alice/main")
      try await stack.push("one")
      try await stack.accepted()
      try await place.allow([("alice", .read)])
      try await stack.push("two")
      try await stack.state { $0.problem?.code == .notAuthorised && $0.waiting == 1 }
      try await place.allow([("alice", [.read, .act])])
      try await stack.state { $0.problem == nil && $0.waiting == 0 && $0.isLive }
      await phone.close()
    }
  }

  /// One space of two is taken away: the other goes on.
  @Test func otherSpacesGoOn() async throws {
    try await withPlace { place in
      try await place.allow([("alice", [.read, .act]), ("bob", [.read, .act])])
      let phone = try await place.device("phone")
      let alice = try await phone.stack("alice/main")
      let bob = try await phone.stack("bob/main")
      for stack in [alice, bob] {
        try await stack.push("one")
        try await stack.accepted()
      }
      try await place.allow([("bob", [.read, .act])])
      try await alice.state { $0.problem?.code == .notAuthorised && !$0.isLive }
      try await bob.push("two")
      try await bob.accepted()
      #expect(bob.state.problem == nil)
      await phone.close()
    }
  }

  /// A device that is revoked says so, and that it isn't the network.
  @Test(.case(28)) func aRevokedDeviceSaysSo() async throws {
    try await withPlace { place in
      try await place.allow([("*", [.read, .act])])
      let phone = try await place.device("phone")
      let stack = try await phone.stack("alice/main")
      try await stack.live()
      try await place.allow([])
      try await stack.state {
        if case .refused(let reason, let isNotAuthorised) = $0.connection {
          isNotAuthorised && reason.contains("doesn't know this machine's key")
        } else {
          false
        }
      }
      // It works on by itself.
      try await stack.push("alone")
      #expect(stack.state.waiting == 1)
      await phone.close()
    }
  }

  /// Without the daemon's key nothing is sent in the clear to who answers there.
  @Test func anUnknownDaemonBeyondThisMachineIsNotAsked() async throws {
    try await withTemporaryFolder { folder in
      let phone = try await Device.open(
        name: "phone",
        options: Device.Options(
          daemon: "tcp://192.0.2.1:5757", keys: folder.path + "/none", folder: folder.path + "/phone"))
      let stack = try await phone.stack("alice/main")
      try await stack.state {
        if case .refused(let reason, true) = $0.connection { reason.contains("navsyncd pair") } else { false }
      }
      await phone.close()
    }
  }
}
