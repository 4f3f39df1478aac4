import Foundation
import TestSupport
import Testing

/// `navsync log --follow` with real daemons that come and go.
@Suite struct FollowLogTests {
  private func act(_ programs: Programs, _ words: String...) throws {
    let result = try programs.navsync(words)
    #expect(result.code == 0, "\(words): \(result.error)")
  }

  private func stop(_ process: Process) {
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
  }

  /// The daemon goes and comes back: it is said once, and nothing is lost or told twice.
  @Test func aDaemonThatComesBack() async throws {
    try await withPrograms { programs in
      let daemon = try programs.startDaemon()
      try act(programs, "push", "alice/main", "list", "--device", "phone")
      let log = try programs.start("log", "alice/main", "--follow")
      try log.wait(for: "phone:1")
      try act(programs, "push", "alice/main", "item", "--device", "phone")
      try log.wait(for: "phone:2")
      stop(daemon)
      try log.wait(forError: "is gone; waiting for it")
      try act(programs, "push", "alice/main", "offline", "--device", "phone")
      _ = try programs.startDaemon()
      try log.wait(forError: "the daemon is back")
      // Made after the phone's, and there before it.
      try act(programs, "push", "alice/main", "reviews", "--device", "laptop")
      try log.wait(for: "laptop:1")
      try act(programs, "sync", "alice/main", "--device", "phone")
      try log.wait(for: "phone:3")
      try log.wait(for: "(came late)\n")
      kill(log.process.processIdentifier, SIGINT)
      #expect(log.waitForEnd() == -SIGINT)
      let lines = log.output.split(separator: "\n")
      #expect(lines.map { String($0.prefix(1)) } == ["1", "2", "3", "4"], "\(log.output)")
      #expect(lines[3].contains("phone:3") && lines[3].hasSuffix("(came late)"), "\(log.output)")
      #expect(log.error.components(separatedBy: "is gone").count == 2, "\(log.error)")
    }
  }

  /// The daemon's machine hangs: nothing ends the connection, and nothing is sent on it. It is noticed all the same.
  @Test(.case(31)) func aDaemonThatHangs() async throws {
    try await withPrograms { programs in
      let daemon = try programs.startDaemon()
      try act(programs, "push", "alice/main", "list", "--device", "phone")
      let log = try programs.start("log", "alice/main", "--follow")
      try log.wait(for: "phone:1")
      kill(daemon.processIdentifier, SIGSTOP)
      try log.wait(forError: "is gone; waiting for it")
      kill(daemon.processIdentifier, SIGCONT)
      try log.wait(forError: "the daemon is back")
      try act(programs, "push", "alice/main", "item", "--device", "phone")
      try log.wait(for: "phone:2")
    }
  }

  /// Another log at the same place: what it lacks is said to be dropped.
  @Test func anotherLogAtTheDaemon() async throws {
    try await withTwoPrograms { programs, other in
      let daemon = try programs.startDaemon()
      try act(programs, "push", "alice/main", "list", "--device", "phone")
      try act(programs, "push", "alice/main", "item", "--device", "laptop")
      let log = try programs.start("log", "alice/main", "--follow")
      try log.wait(for: "laptop:1")
      stop(daemon)
      try FileManager.default.removeItem(atPath: programs.state + "/navsync/daemon")
      try FileManager.default.removeItem(atPath: programs.state + "/navsync/devices/laptop")
      _ = try programs.startDaemon()
      try act(programs, "push", "alice/main", "photo", "--device", "phone")
      try log.wait(forError: "another one now")
      try log.wait(for: "photo")
    }
  }

  /// A device that acted twice under one id, while the log is followed: what is folded is another history then.
  @Test func aForkThatComes() async throws {
    try await withTwoPrograms { home, laptop in
      _ = try home.startDaemon()
      try act(home, "push", "alice/main", "list", "--device", "phone")
      let first = try laptop.startDaemon(peers: [home.endpoint])
      let mirrored = try laptop.start("log", "alice/main", "--follow")
      try mirrored.wait(for: "push list")
      stop(first)
      let second = try laptop.startDaemon()
      try FileManager.default.createDirectory(
        atPath: laptop.state + "/navsync/devices", withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: home.state + "/navsync/devices/phone", toPath: laptop.state + "/navsync/devices/phone")
      try act(home, "push", "alice/main", "here", "--device", "phone")
      try act(laptop, "push", "alice/main", "there", "--device", "phone")
      try mirrored.wait(for: "there")
      stop(second)
      _ = try laptop.startDaemon(peers: [home.endpoint])
      try mirrored.wait(forError: "acted twice under one id")
      // The earlier history stands; what was told of the other is taken back, and the stack said anew.
      try mirrored.wait(for: "no longer folded")
      try mirrored.wait(for: "-  now  list › here\n")
      let lines = mirrored.output.split(separator: "\n")
      #expect(lines.contains { $0.contains("here") && $0.hasPrefix("2  ") }, "\(mirrored.output)")
      #expect(lines.contains { $0.contains("push there") && $0.hasSuffix("(no longer folded)") }, "\(mirrored.output)")
      // It goes on.
      try act(laptop, "push", "alice/main", "above", "--device", "tablet")
      try mirrored.wait(for: "above")
    }
  }

  /// What the daemon doesn't have of this machine's devices stands last, and why.
  @Test func whatTheDaemonRefused() async throws {
    try await withPrograms { programs in
      #expect(
        try programs.navsync("push", "alice/main", "mine", "--device", "phone", "--policy", "latest").code == 0)
      let daemon = try programs.startDaemon()
      let missing = try programs.navsync("log", "alice/main")
      #expect(missing.code == 3 && missing.error.contains("phone of this machine has 1 event of it"), "\(missing)")
      try act(programs, "push", "alice/main", "list", "--device", "laptop")
      let waiting = try programs.navsync("log", "alice/main")
      #expect(waiting.output.hasSuffix("push mine  (waiting: not at the daemon yet)\n"), "\(waiting)")
      #expect(try programs.navsync("sync", "alice/main", "--device", "phone").code == 4)
      let refused = try programs.navsync("log", "alice/main")
      #expect(refused.output.contains("push mine  (refused at "), "\(refused)")
      #expect(
        refused.output.contains("alice/main has the policy merge, not latest"))
      let json = try programs.navsync("log", "alice/main", "--json")
      #expect(json.output.split(separator: "\n").count == 1 && json.error.hasPrefix("phone: 1 event refused at "))
      // Once it is taken, it is an event like any other.
      try act(programs, "sync", "alice/main", "--device", "phone", "--adopt")
      let taken = try programs.navsync("log", "alice/main")
      #expect(taken.output.split(separator: "\n").count == 2 && !taken.output.contains("refused"), "\(taken)")
      stop(daemon)
      try act(programs, "push", "alice/main", "later", "--device", "phone")
      _ = try programs.startDaemon()
      #expect(try programs.navsync("log", "alice/main").output.hasSuffix("(waiting: not at the daemon yet)\n"))
    }
  }

  /// A damaged store of a device is no fault of the daemon's log.
  @Test func aDamagedDeviceIsPassedOver() async throws {
    try await withPrograms { programs in
      let daemon = try programs.startDaemon()
      try act(programs, "push", "alice/main", "list", "--device", "laptop", "--sync")
      stop(daemon)
      try act(programs, "push", "alice/main", "broken-page", "--device", "phone")
      try act(programs, "push", "alice/main", "waiting-page", "--device", "tablet")
      let file = URL(fileURLWithPath: programs.state + "/navsync/devices/phone/log.sqlite3")
      var bytes = try Data(contentsOf: file)
      let value = try #require(bytes.firstRange(of: Data("broken-page".utf8)))
      bytes[value.lowerBound] ^= 1
      try bytes.write(to: file)
      _ = try programs.startDaemon()
      let log = try programs.navsync("log", "alice/main")
      #expect(log.code == 0, "\(log)")
      let lines = log.output.split(separator: "\n")
      #expect(lines.count == 2 && lines[0].contains("push list") && lines[1].contains("waiting-page"), "\(log)")
      #expect(log.error.hasPrefix("what phone of this machine did may be lacking: "), "\(log)")
      #expect(log.error.split(separator: "\n").count == 1, "\(log)")
    }
  }
}
