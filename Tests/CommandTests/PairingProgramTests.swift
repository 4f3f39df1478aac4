import Access
import Foundation
import KeyFiles
import TestSupport
import Testing
import ZeroMQ

/// Two machines that have never met, as processes: a daemon with keys, and devices that are let in by a code.
@Suite(.timeLimit(.minutes(3)))
struct PairingProgramTests {
  /// A daemon on a free port of loopback, with keys.
  private func startDaemon(_ home: Programs) throws -> Process {
    // There are some if a code was asked for before.
    #expect([0, 4].contains(try home.navsync("keys", "new", "--for-daemon").code))
    return try home.startDaemon(listening: ["tcp://127.0.0.1:0"])
  }

  private func navsyncd(_ home: Programs, _ words: String...) throws -> Programs.Result {
    try home.run(try BuiltProgram.url("navsyncd").path, words)
  }

  private func code(_ home: Programs, _ words: String...) throws -> String {
    let opened = try home.run(try BuiltProgram.url("navsyncd").path, ["pair"] + words)
    #expect(opened.code == 0, "\(opened.error)")
    #expect(opened.error.contains("navsync pair CODE"))
    return opened.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @Test func aMinuteFromTwoFreshMachines() async throws {
    try await withTwoPrograms { home, phone in
      let early = try navsyncd(home, "pair")
      #expect(early.code == 69 && early.error.contains("--listen"), "\(early.error)")
      _ = try startDaemon(home)
      let code = try code(home)
      let paired = try phone.machine("pair", code, "--name", "phone")
      #expect(paired.code == 0 && paired.output.contains("read,act in every space"), "\(paired.error)")
      let again = try phone.machine("pair", code)
      #expect(again.code == 77 && again.error.contains("no code is open"), "\(again.error)")
      #expect(try phone.machine("push", "alice/main", "hello", "--sync").code == 0)
      #expect(try home.navsync("show", "alice/main").output.contains("hello"))
      #expect(try home.navsync("keys", "show", "--for-daemon").output.contains("phone  *  read,act"))
      // Neither the code nor a secret key is in the daemon's log.
      let log = home.daemonLog()
      #expect(log.contains("paired") && !log.contains(code))
      #expect(try home.navsync("status", "--json").output.contains(#""handshakes_refused":0"#))
    }
  }

  @Test func aCodeIsReadFromTheInputAndGrantsWhatItSays() async throws {
    try await withTwoPrograms { home, kiosk in
      _ = try startDaemon(home)
      let code = try code(home, "--space", "shop", "--may", "read", "--name", "kiosk")
      let paired = try kiosk.machine("pair", "--json", input: code + "\n")
      #expect(paired.code == 0 && paired.output.contains(#""may":"read","name":"kiosk","space":"shop""#), "\(paired)")
      #expect(try home.navsync("push", "shop/main", "soup", "--sync").code == 0)
      #expect(try kiosk.machine("show", "shop/main").output.contains("soup"))
      for words in [["push", "shop/main", "x", "--sync"], ["show", "alice/main"], ["status"]] {
        let refused = try kiosk.machine(words)
        #expect(refused.code == 77 && refused.error.contains("not authorised"), "\(words): \(refused)")
      }
      #expect(home.daemonLog().contains("request refused: not authorised"))
    }
  }

  @Test(.case(28), .case(30)) func revokedAtOnceAndAllowedAgain() async throws {
    try await withTwoPrograms { home, phone in
      _ = try startDaemon(home)
      #expect(try phone.machine("pair", try code(home), "--name", "phone").code == 0)
      #expect(try phone.machine("push", "alice/main", "a", "--sync").code == 0)
      let revoked = try home.navsync("keys", "revoke", "phone")
      #expect(revoked.code == 0 && revoked.error.contains("goes by it now"), "\(revoked.error)")
      let refused = try phone.machine("push", "alice/main", "b", "--sync")
      #expect(refused.code == 77 && refused.error.contains("doesn't know this machine's key"), "\(refused)")
      #expect(try home.navsync("keys", "revoke", "phone").code == 3)
      let key = try phone.machine("keys", "show").output.split(separator: "\n")[0].split(separator: " ")[1]
      #expect(try home.navsync("keys", "allow", String(key), "--name", "phone").code == 0)
      #expect(try phone.machine("push", "alice/main", "b", "--sync").code == 0)
      #expect(try home.navsync("show", "alice/main").output.contains("b"))
      let renamed = try home.navsync("keys", "allow", String(key), "--name", "mobile")
      #expect(renamed.code == 0 && renamed.error.contains("was called phone"), "\(renamed)")
      let secret = try phone.machine("keys", "show").output.split(separator: "\n")[3].split(separator: " ")[1]
      let leaked = try home.navsync("keys", "allow", String(secret), "--name", "other")
      #expect(leaked.code == 4 && leaked.error.contains("has the secret key, too"), "\(leaked)")
    }
  }

  @Test func aSecondCodeSaysThatItVoidsTheFirst() async throws {
    try await withTwoPrograms { home, phone in
      _ = try startDaemon(home)
      let first = try code(home)
      let second = try home.run(try BuiltProgram.url("navsyncd").path, ["pair"])
      #expect(second.code == 0 && second.error.contains("is void now"), "\(second)")
      #expect(try phone.machine("pair", first).code != 0)
    }
  }

  /// What the daemon found wrong before isn't its answer to what was changed since.
  @Test func anOldProblemIsNoAnswer() async throws {
    try await withTwoPrograms { home, phone in
      let daemon = try startDaemon(home)
      let folder = KeyFolder(home.state + "/navsync/daemon/keys")
      let rules = URL(fileURLWithPath: folder.rulesPath)
      try Data("nonsense\n".utf8).write(to: rules)
      kill(daemon.processIdentifier, SIGHUP)
      while folder.server?.state.hasPrefix("problem: ") != true { sched_yield() }
      try Data().write(to: rules)
      let key = try KeyPair.generate().publicKey.description
      let allowed = try home.navsync("keys", "allow", key, "--name", "phone")
      #expect(allowed.code == 0 && allowed.error.contains("goes by it now"), "\(allowed)")
    }
  }

  /// Who waits is told of whoever was let in, however quick that was.
  @Test func pairingIsWaitedFor() async throws {
    try await withTwoPrograms { home, phone in
      _ = try startDaemon(home)
      let waiting = try home.start("pair", "--wait", program: "navsyncd")
      try waiting.wait(for: "\n")
      #expect(try phone.machine("pair", "--name", "phone", input: waiting.output).code == 0)
      #expect(waiting.waitForEnd() == 0 && waiting.error.contains("phone was paired"), "\(waiting.error)")
    }
  }

  @Test(.case(29)) func keysChangeUnderConnectedDevices() async throws {
    try await withTwoPrograms { home, phone in
      _ = try startDaemon(home)
      #expect(try phone.machine("pair", try code(home)).code == 0)
      let change = try home.navsync("keys", "rotate", "--within", "1h")
      #expect(change.code == 0 && change.error.contains("goes by it now"), "\(change.error)")
      #expect(try home.navsync("keys", "rotate").code == 4, "one at a time")
      #expect(try home.navsync("keys", "show", "--for-daemon").output.contains("next key"))
      #expect(try phone.machine("ls").code == 0, "it hears of the new key by the old one")
      #expect(try home.navsync("keys", "rotate", "--now").code == 0)
      #expect(try phone.machine("ls").code == 0, "the old one is gone")
      // Without time to hear of it nobody knows the daemon any more, and that is what they say.
      #expect(try home.navsync("keys", "rotate", "--now").code == 0)
      let lost = try phone.machine("ls")
      #expect(lost.code == 77 && lost.error.contains("hasn't the key"), "\(lost)")
      #expect(try phone.machine("pair", try code(home)).code == 0)
      #expect(try phone.machine("ls").code == 0)
    }
  }

  @Test func daemonsArePairedToo() async throws {
    try await withTwoPrograms { home, laptop in
      _ = try startDaemon(home)
      let code = try code(home)
      #expect(try laptop.navsync("pair", "--for-daemon", code).code == 0)
      let endpoint = try #require(home.daemonEndpoint())
      _ = try laptop.startDaemon(peers: [endpoint])
      #expect(try laptop.navsync("push", "alice/main", "from-the-laptop", "--sync").code == 0)
      // The daemons are levelled by themselves.
      while try !home.navsync("show", "alice/main").output.contains("from-the-laptop") { sched_yield() }
      #expect(try home.navsync("status").code == 0)
    }
  }

  @Test func aPlainClientAndAStrangerAreTold() async throws {
    try await withTwoPrograms { home, stranger in
      _ = try startDaemon(home)
      let endpoint = try #require(home.daemonEndpoint())
      let plain = try stranger.machine("ls", "--daemon", endpoint)
      #expect(plain.code == 77 && plain.error.contains("wants keys"), "\(plain)")
      let far = try stranger.machine("ls", "--daemon", "tcp://192.0.2.1:5757")
      #expect(far.code == 77 && far.error.contains("navsyncd pair"), "\(far)")
      #expect(try stranger.machine("pair", "navsync1:AAAA").code == 2)
    }
  }
}
