import Access
import Foundation
import KeyFiles
import NavigationModel
import TestSupport
import Testing
import ZeroMQ

@Suite struct PairingTests {
  let secret = (0..<16).map { UInt8($0) }
  let wrong = [UInt8](repeating: 9, count: 16)

  func withFolder(_ body: (KeyFolder) throws -> Void) async throws {
    try await withTemporaryFolder { try body(KeyFolder($0.appendingPathComponent("keys").path)) }
  }

  func open(_ folder: KeyFolder, name: String? = nil) throws {
    try folder.keep(
      PairingOffer(
        secret: secret, until: 1000, name: try name.map { try Name($0) }, scope: try Scope("alice"), verbs: .read))
  }

  func isRefused(_ redeemed: KeyFolder.Redeemed) -> Bool { if case .refused = redeemed { true } else { false } }

  @Test func aCodeLetsInOnce() async throws {
    try await withFolder { folder in
      let (one, two) = (try KeyPair.generate().publicKey, try KeyPair.generate().publicKey)
      #expect(isRefused(try folder.redeem(secret, for: one, name: "phone", at: 0)), "none is open")
      try open(folder)
      let rule = AccessRule(key: one, name: try Name("phone"), scope: try Scope("alice"), verbs: .read)
      #expect(try folder.redeem(secret, for: one, name: "phone", at: 999) == .granted(rule))
      #expect(try folder.rules().rules == [rule])
      #expect(isRefused(try folder.redeem(secret, for: two, name: "phone", at: 999)))
      #expect(try folder.rules().rules == [rule])
    }
  }

  @Test func aCodeHasItsTime() async throws {
    try await withFolder { folder in
      try open(folder)
      #expect(isRefused(try folder.redeem(secret, for: try KeyPair.generate().publicKey, name: "phone", at: 1000)))
      #expect(try folder.offer() == nil)
      #expect(try folder.rules().rules.isEmpty)
    }
  }

  @Test func guessesCloseIt() async throws {
    try await withFolder { folder in
      let key = try KeyPair.generate().publicKey
      try open(folder)
      for _ in 1...PairingOffer.allTries {
        #expect(isRefused(try folder.redeem(wrong, for: key, name: "phone", at: 0)))
      }
      #expect(isRefused(try folder.redeem(secret, for: key, name: "phone", at: 0)), "the right one comes too late")
      // Fewer guesses don't, nor do odd ones.
      try open(folder)
      for guess in [[], Array(secret.dropLast()), secret + [0]] {
        #expect(isRefused(try folder.redeem(guess, for: key, name: "phone", at: 0)))
      }
      #expect(!isRefused(try folder.redeem(secret, for: key, name: "phone", at: 0)))
    }
  }

  @Test func theSecretIsNotKept() async throws {
    try await withFolder { folder in
      try open(folder)
      let file = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/pairing"))
      #expect(!String(decoding: file, as: UTF8.self).contains(Z85.encode(secret)))
      #expect(file.range(of: Data(secret)) == nil)
    }
  }

  @Test func namesDoNotClash() async throws {
    try await withFolder { folder in
      var names: [String] = []
      for wish in ["phone", "phone", "Not a name!", "phone"] {
        try open(folder)
        let key = try KeyPair.generate().publicKey
        guard case .granted(let rule) = try folder.redeem(secret, for: key, name: wish, at: 0) else { continue }
        names.append("\(rule.name)")
      }
      #expect(names == ["phone", "phone-2", "device", "phone-3"])
      try open(folder, name: "kiosk")
      let key = try KeyPair.generate().publicKey
      guard case .granted(let rule) = try folder.redeem(secret, for: key, name: "admin", at: 0) else {
        Issue.record("refused")
        return
      }
      #expect("\(rule.name)" == "kiosk", "the daemon's word counts")
    }
  }

  @Test func keysChangeInTwoSteps() async throws {
    try await withFolder { folder in
      #expect(throws: KeyFileError.self) { try folder.beginChange(at: 5) }
      let old = try folder.makeKeys(metadata: [.init("name", "home")])
      let change = try folder.beginChange(at: 5)
      #expect(try folder.change() == change && change.at == 5)
      #expect(try folder.keys() == old)
      #expect(throws: KeyFileError.self) { try folder.beginChange(at: 6) }
      #expect(try folder.finishChange())
      #expect(try folder.keys()?.publicKey == change.key)
      #expect(try folder.certificate()?.metadata == [.init("name", "home")])
      #expect(try folder.change() == nil)
      #expect(try !folder.finishChange())
    }
  }

  /// It ended between the new keys' coming into use and the going of what made them.
  @Test func aChangeThatWasCutIsDone() async throws {
    try await withFolder { folder in
      try folder.makeKeys()
      let change = try folder.beginChange(at: 5)
      try FileManager.default.removeItem(atPath: folder.secretPath())
      try FileManager.default.copyItem(atPath: folder.secretPath(.next), toPath: folder.secretPath())
      #expect(try folder.change() == nil)
      #expect(try folder.keys()?.publicKey == change.key)
      #expect(try folder.beginChange(at: 9).at == 9)
    }
  }

  /// A device finds its daemon by either key while they change, and knows the new one alone after.
  @Test func aTrialFollowsAChange() async throws {
    try await withFolder { folder in
      try folder.makeKeys()
      let (old, new) = (try KeyPair.generate().publicKey, try KeyPair.generate().publicKey)
      let home = try Endpoint("tcp://server.example:5757")
      var trial = KeyTrial(folder, home)
      #expect(throws: KeyFileError.self) { try trial.curve() }
      try folder.keep(old, ofDaemonAt: home)
      func server(_ curve: Curve?) -> PublicKey? { if case .client(_, let server) = curve { server } else { nil } }
      #expect(server(try trial.curve()) == old)
      trial.connected()
      trial.heard(next: new)
      #expect(server(try trial.curve()) == old)
      #expect(trial.failed(.cut(32)) == .reconnect)
      #expect(server(try trial.curve()) == new)
      trial.connected()
      #expect(try folder.daemonKeys(at: home) == [new])
      // Twice in a row is no accident.
      #expect(server(try trial.curve()) == new)
      #expect(trial.failed(.cut(32)) == .wait)
      guard case .refused(let reason) = trial.failed(.cut(32)) else {
        Issue.record("it waits for ever")
        return
      }
      #expect(reason.contains("hasn't the key") && reason.contains("\(new)"))
    }
  }
}
