import Foundation
import TestSupport
import Testing

/// The built programs as a person uses them: devices in a state folder of their own, with and without a daemon.
@Suite struct ActingTests {
  @Test func withoutADaemonAnActionIsStored() async throws {
    try await withPrograms { programs in
      let pushed = try programs.navsync("push", "alice/main", "list", "item", "--device", "phone")
      #expect(pushed == .init(code: 0, output: "list › item\n", error: "waiting: 1\n"))
      let strict = try programs.navsync("pop", "alice/main", "--device", "phone", "--sync")
      #expect(strict.code == 69 && strict.output == "list\n" && strict.error.hasPrefix("waiting: 2\n"))
      #expect(try programs.navsync("root", "alice/main", "--device", "phone").output == "(root)\n")
      let again = try programs.navsync("pop", "alice/main", "--device", "phone")
      #expect(again.code == 0 && again.output == "(root)\n")
      #expect(again.error == "alice/main: nothing changed, the stack is at its root\nwaiting: 3\n")
      let shown = try programs.navsync("show", "alice/main", "--device", "phone")
      #expect(shown.code == 0 && shown.output.hasPrefix("alice/main  merge, 3 events\n"))
      #expect(shown.error.hasPrefix("no daemon answers; this is what "))
      #expect(try programs.navsync("show", "alice/main", "--device", "other").code == 69)
    }
  }

  /// A daemon that was killed leaves its socket: nobody is waited for there, and nothing is lost.
  @Test func theDaemonIsKilledAndComesBack() async throws {
    try await withPrograms { programs in
      let daemon = try programs.startDaemon()
      #expect(try programs.navsync("push", "alice/main", "a", "--device", "phone", "--sync").code == 0)
      kill(daemon.processIdentifier, SIGKILL)
      daemon.waitUntilExit()
      #expect(FileManager.default.fileExists(atPath: programs.socket))
      let waiting = try programs.navsync("push", "alice/main", "b", "--device", "phone")
      #expect(waiting == .init(code: 0, output: "a › b\n", error: "waiting: 1\n"))
      #expect(try programs.navsync("ls").code == 69)
      _ = try programs.startDaemon()
      #expect(try programs.navsync("sync", "alice/main", "--device", "phone").output == "a › b\n")
      let seen = try programs.navsync("push", "alice/main", "c", "--device", "laptop")
      #expect(seen == .init(code: 0, output: "a › b › c\n", error: ""))
    }
  }

  /// What a device heard others called it knows without a daemon too.
  @Test func aReplicaShowsOthersByName() async throws {
    try await withPrograms { programs in
      let daemon = try programs.startDaemon()
      #expect(try programs.navsync("push", "alice/main", "a", "--device", "phone", "--sync").code == 0)
      #expect(try programs.navsync("push", "alice/main", "b", "--device", "laptop", "--sync").code == 0)
      kill(daemon.processIdentifier, SIGTERM)
      daemon.waitUntilExit()
      let shown = try programs.navsync("show", "alice/main", "--device", "laptop")
      #expect(shown.code == 0 && shown.output.hasSuffix("1  a  phone:1:0\n2  b  laptop:1:0\n"))
    }
  }

  /// A name is as good as an address, for the daemon as for its clients.
  @Test func localhostIsAnAddress() async throws {
    try await withPrograms { programs in
      let script = """
        exec 3< <("$0" --listen tcp://localhost:0 --store memory)
        read -r line <&3; echo "$line"; kill $!
        """
      let listening = try programs.run("/bin/bash", ["-c", script, try BuiltProgram.url("navsyncd").path])
      #expect(listening.output.hasPrefix("ready: tcp://"), "\(listening.error)")
    }
  }

  /// A closed terminal ends the daemon as well as a service manager does; `nohup` keeps it.
  @Test func theTerminalIsClosed() async throws {
    try await withPrograms { programs in
      let daemon = try programs.startDaemon()
      #expect(try programs.navsync("push", "alice/main", "a", "--device", "phone", "--sync").code == 0)
      kill(daemon.processIdentifier, SIGHUP)
      daemon.waitUntilExit()
      #expect(daemon.terminationReason == .exit && daemon.terminationStatus == 0)
      let kept = try programs.startDaemon(through: "/usr/bin/nohup")
      kill(kept.processIdentifier, SIGHUP)
      #expect(try programs.navsync("ls").code == 0)
      kill(kept.processIdentifier, SIGTERM)
      kept.waitUntilExit()
      #expect(kept.terminationReason == .exit && kept.terminationStatus == 0)
    }
  }

  @Test func aPolicyIsAdopted() async throws {
    try await withPrograms { programs in
      let alone = try programs.navsync("push", "alice/main", "one", "--policy", "latest", "--device", "laptop")
      #expect(alone.code == 0)
      _ = try programs.startDaemon()
      #expect(try programs.navsync("push", "alice/main", "two", "--device", "phone").code == 0)
      for words in [["push", "alice/main", "three"], ["sync", "alice/main"]] {
        let refused = try programs.navsync(words + ["--device", "laptop"])
        #expect(refused.code == 4 && refused.output.isEmpty)
        #expect(refused.error.contains("has the policy merge, not latest") && refused.error.contains("--adopt"))
      }
      let both = try programs.navsync("pop", "alice/main", "--adopt", "--policy", "merge", "--device", "laptop")
      #expect(both.code == 2)
      let adopted = try programs.navsync("push", "alice/main", "three", "--adopt", "--device", "laptop")
      #expect(adopted.code == 0 && adopted.output == "one › two › three\n")
      #expect(adopted.error == "alice/main: the policy was latest, and is merge now\n")
      let after = try programs.navsync("pop", "alice/main", "--device", "laptop")
      #expect(after == .init(code: 0, output: "one › two\n", error: ""))
    }
  }

  /// A store must not get the number of a closed stream.
  @Test(.case(41)) func closedStreamsAreSafe() async throws {
    try await withPrograms { programs in
      for redirection in [">&-", "<&- >&-", "<&- >&- 2>&-"] {
        let line = "'\(try BuiltProgram.url("navsync").path)' push alice/main x --device phone \(redirection)"
        #expect(try programs.run("/bin/sh", ["-c", line]).code == 0)
      }
      let store = programs.state + "/navsync/devices/phone"
      #expect(try programs.navsync("verify", "--store", store).output == "3 events in 1 stack: whole\n")
    }
  }

  /// Repaired, it would be another value than the person wrote.
  @Test func aValueThatIsNotUTF8IsRefused() async throws {
    try await withPrograms { programs in
      let line = "'\(try BuiltProgram.url("navsync").path)' push alice/main \"$(printf 'a\\377')\" --device phone"
      let refused = try programs.run("/bin/sh", ["-c", line])
      #expect(
        refused == .init(code: 2, output: "", error: "navsync: an argument isn't valid UTF-8; nothing was done\n"))
      #expect(!FileManager.default.fileExists(atPath: programs.state + "/navsync/devices/phone"))
    }
  }

  @Test func anotherProgramsStoreIsRefused() async throws {
    try await withPrograms { programs in
      let store = programs.state + "/navsync/devices/phone"
      try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
      let foreign = Data("This is no database. It is longer than a header.".utf8)
      let file = URL(fileURLWithPath: store + "/log.sqlite3")
      try foreign.write(to: file)
      #expect(try programs.navsync("push", "alice/main", "x", "--device", "phone").code == 4)
      #expect(try programs.navsync("show", "alice/main", "--device", "phone").code == 4)
      let daemon = try programs.run(
        try BuiltProgram.url("navsyncd").path, ["--store", store, "--listen", programs.endpoint])
      #expect(daemon.code == 4 && daemon.output.isEmpty)
      #expect(try Data(contentsOf: file) == foreign)
    }
  }

  /// As a backup on a disk that is mounted to be read. Needs the right to mount, in a namespace of its own.
  @Test(.enabled(if: geteuid() == 0)) func aStoreOnAReadOnlyDisk() async throws {
    try await withPrograms { programs in
      #expect(try programs.navsync("push", "alice/main", "a", "--device", "odd-100").code == 0)
      let store = programs.state + "/navsync/devices/a?b#c%20d"
      try FileManager.default.moveItem(atPath: programs.state + "/navsync/devices/odd-100", toPath: store)
      let mount = "mount --bind \"$1\" \"$1\" && mount -o remount,ro,bind \"$1\""
      guard try programs.run("/usr/bin/unshare", ["-m", "sh", "-c", mount, "sh", store]).code == 0 else { return }
      func read(_ words: String...) throws -> Programs.Result {
        let words = [try BuiltProgram.url("navsync").path] + words + ["--store", store]
        return try programs.run(
          "/usr/bin/unshare", ["-m", "sh", "-c", mount + " && shift && exec \"$@\"", "sh", store] + words)
      }
      #expect(try read("show", "alice/main").output.hasPrefix("alice/main  merge, 1 event\n"))
      #expect(try read("verify").output == "1 event in 1 stack: whole\n")
    }
  }
}
