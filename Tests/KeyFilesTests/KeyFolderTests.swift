import Access
import Foundation
import KeyFiles
import NavigationModel
import TestSupport
import Testing
import ZeroMQ

@Suite struct KeyFolderTests {
  func withFolder(_ body: (KeyFolder) throws -> Void) async throws {
    try await withTemporaryFolder { try body(KeyFolder($0.appendingPathComponent("keys").path)) }
  }

  func mode(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  @Test func keysAreKeptForTheirOwnerAlone() async throws {
    try await withFolder { folder in
      #expect(try folder.keys() == nil)
      let made = try folder.makeKeys(metadata: [.init("name", "phone")])
      #expect(try folder.keys() == made)
      #expect(try folder.certificate()?["name"] == "phone")
      #expect(try mode(folder.secretPath()) == 0o600)
      #expect(try mode(folder.path) == 0o700)
      let handedOut = try #require(try KeyFolder.certificate(at: folder.publicPath()))
      #expect(handedOut.publicKey == made.publicKey && handedOut.secretKey == nil)
      #expect(throws: KeyFileError.self) { try folder.makeKeys() }
      #expect(try folder.keys() == made, "what was there stands")
      #expect(try folder.makeKeys(replaces: true) != made)
    }
  }

  @Test(arguments: [0o640, 0o604, 0o620])
  func aSecretThatOthersCanReadIsNotUsed(mode: Int) async throws {
    try await withFolder { folder in
      try folder.makeKeys()
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.secretPath())
      do {
        _ = try folder.keys()
        Issue.record("used with mode \(String(mode, radix: 8))")
      } catch let error as KeyFileError {
        #expect(error.code == .exposed)
        #expect(error.description.contains("chmod 600"), "\(error)")
      }
      // Nor if it is named as a file of any other name.
      #expect(throws: KeyFileError.self) { try KeyFolder.certificate(at: folder.secretPath()) }
    }
  }

  @Test func damageIsSaid() async throws {
    try await withFolder { folder in
      try folder.makeKeys()
      try Data("curve\n    public-key = \"x\"\n".utf8).write(to: URL(fileURLWithPath: folder.secretPath()))
      do {
        _ = try folder.keys()
        Issue.record("read")
      } catch let error as KeyFileError {
        #expect(error.code == .damaged && error.description.contains("line 2"), "\(error)")
      }
      try Data(repeating: 0x20, count: 20_000).write(to: URL(fileURLWithPath: folder.secretPath()))
      #expect(throws: KeyFileError.self) { try folder.keys() }
    }
  }

  @Test func daemonsAreKnownByTheirEndpoints() async throws {
    try await withFolder { folder in
      let home = try Endpoint("tcp://server.example:5757")
      let keys = try (0..<3).map { _ in try KeyPair.generate().publicKey }
      #expect(try folder.daemonKeys(at: home) == [])
      try folder.keep(keys[0], ofDaemonAt: home)
      #expect(try folder.daemonKeys(at: home) == [keys[0]])
      #expect(try folder.daemonKeys(at: try Endpoint("tcp://server.example:5758")) == [])
      try folder.keep(next: keys[1], ofDaemonAt: home)
      try folder.keep(next: keys[1], ofDaemonAt: home)
      #expect(try folder.daemonKeys(at: home) == [keys[0], keys[1]])
      try folder.keep(keys[1], ofDaemonAt: home)
      #expect(try folder.daemonKeys(at: home) == [keys[1]], "it has changed")
      let six = try Endpoint("tcp://[::1]:5757")
      try folder.keep(keys[2], ofDaemonAt: six)
      #expect(try folder.daemonKeys(at: six) == [keys[2]])
      #expect(folder.pairedDaemon == nil)
      try folder.keep(pairedDaemon: home)
      #expect(folder.pairedDaemon == home)
    }
  }

  @Test func rulesAreChangedTogether() async throws {
    try await withFolder { folder in
      #expect(try folder.rules() == AccessRules())
      let key = try KeyPair.generate().publicKey
      let rule = AccessRule(key: key, name: try Name("phone"), scope: .everySpace, verbs: [.read, .act])
      try folder.changeRules { (rules) throws(KeyFileError) in rules.allow(rule) }
      #expect(try folder.rules().rules == [rule])
      try Data("nonsense\n".utf8).write(to: URL(fileURLWithPath: folder.rulesPath))
      #expect(throws: KeyFileError.self) {
        try folder.changeRules { (rules) throws(KeyFileError) in rules.revoke(key) }
      }
      #expect(try String(contentsOfFile: folder.rulesPath, encoding: .utf8) == "nonsense\n", "not lost")
    }
  }

  @Test func whoServesIsKnown() async throws {
    try await withFolder { folder in
      #expect(try folder.tellServer() == .nobody)
      do {
        let serving = try Serving(folder, endpoints: ["tcp://127.0.0.1:5757"])
        #expect(folder.server?.process == getpid())
        #expect(folder.server?.endpoints == ["tcp://127.0.0.1:5757"])
        #expect(throws: KeyFileError.self) { try Serving(folder, endpoints: []) }
        #expect(folder.server?.process == getpid(), "who was refused takes nothing away")
        serving.tell("problem: line 3")
        #expect(folder.server?.state == "problem: line 3")
      }
      #expect(folder.server == nil)
      // Nor does one that was killed, which leaves its file.
      try Data("4321\ntcp://127.0.0.1:1\nstarting\n".utf8).write(to: URL(fileURLWithPath: folder.path + "/serving"))
      #expect(folder.server == nil)
      #expect(try folder.tellServer() == .nobody)
    }
  }

  /// Also while it says something else.
  @Test func whoServesIsKnownAtAllTimes() async throws {
    try await withTemporaryFolder { place in
      let folder = KeyFolder(place.appendingPathComponent("keys").path)
      let serving = try Serving(folder, endpoints: ["tcp://127.0.0.1:5757"])
      let states = [String(repeating: "a", count: 900), "b"]
      await withTaskGroup(of: Void.self) { group in
        group.addTask { for number in 0..<100_000 { serving.tell(states[number % 2]) } }
        group.addTask {
          for _ in 0..<5000 {
            guard folder.server?.process != getpid() else { continue }
            Issue.record("nobody serves")
            break
          }
        }
      }
    }
  }

  /// The keys that were to come lay beside those that are replaced, as if somebody else has read them.
  @Test func replacedKeysLeaveNoneToCome() async throws {
    try await withFolder { folder in
      try folder.makeKeys()
      _ = try folder.beginChange(at: 0)
      let made = try folder.makeKeys(replaces: true)
      #expect(try folder.change() == nil)
      for path in [folder.secretPath(.next), folder.publicPath(.next)] {
        #expect(!FileManager.default.fileExists(atPath: path))
      }
      #expect(try !folder.finishChange())
      #expect(try folder.keys() == made)
    }
  }

  /// All devices of a user hear of a daemon's next key at once.
  @Test func manyKeepADaemonsKeyAtOnce() async throws {
    try await withTemporaryFolder { place in
      let folder = KeyFolder(place.appendingPathComponent("keys").path)
      let home = try Endpoint("tcp://server.example:5757")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            for _ in 0..<50 { try folder.keep(next: try KeyPair.generate().publicKey, ofDaemonAt: home) }
          }
        }
        try await group.waitForAll()
      }
      #expect(try folder.daemonKeys(at: home).count == 1)
    }
  }

  /// Root looks after a service's folder, and leaves nothing there that the service can't read.
  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func rootActsForTheFoldersOwner() async throws {
    try await withTemporaryFolder { place in
      let state = place.appendingPathComponent("state").path
      try FileManager.default.createDirectory(
        atPath: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      #expect(chown(state, 65534, 65534) == 0)
      let folder = KeyFolder(state + "/keys")
      try folder.makeKeys()
      let rule = AccessRule(
        key: try KeyPair.generate().publicKey, name: try Name("phone"), scope: .everySpace, verbs: .read)
      try folder.changeRules { (rules) throws(KeyFileError) in rules.allow(rule) }
      try folder.keep(try KeyPair.generate().publicKey, ofDaemonAt: try Endpoint("tcp://server.example:5757"))
      let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
      #expect(files.count >= 6)
      for file in files + ["."] {
        let owner = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(file)")[.ownerAccountID] as? Int
        #expect(owner == 65534, "\(file)")
      }
      #expect(try folder.rules().rules == [rule])
      #expect(try folder.keys() != nil)
      // Another's file in a folder of root's own stays unread.
      #expect(chown(state, 0, 0) == 0 && chown(folder.path, 0, 0) == 0)
      #expect(throws: KeyFileError.self) { try folder.keys() }
    }
  }
}
