import EventLog
import Foundation
import TestSupport
import Testing

@testable import Commands

/// What somebody gets wrong who is new to it: each time the message says what, and the exit code why.
@Suite struct NewUserTests {
  /// A moment that isn't there is no other one.
  @Test(arguments: [
    ["show", "-", "--at", "6"], ["replay", "-", "--at", "6"], ["replay", "-", "--to", "6", "--text"],
    ["replay", "-", "--from", "6", "--text"], ["blame", "-", "--at", "6"], ["diff", "-", "6"], ["diff", "-", "1", "6"],
    ["path", "export", "-", "--at", "6"],
  ]) func aMomentThatIsNotThere(words: [String]) async throws {
    // Without its header it isn't cut.
    let lines = LookingBackTests.history.split(separator: "\n").dropFirst().joined(separator: "\n")
    func look(_ words: [String]) async throws -> Captured {
      try await withCapturedConsole(input: Array(lines.utf8)) { console, _ in
        await run(Navsync.self, arguments: words, on: console)
      }
    }
    let result = try await look(words)
    #expect(result.code == .notFound && result.output.isEmpty, "\(result)")
    #expect(result.error == "navsync: there is no event 6; alice/main has 5\n")
    #expect(try await look(words.map { $0 == "6" ? "5" : $0 }).code == .ok)
  }

  @Test func aMisspeltStack() async throws {
    try await withPrograms { programs in
      func act(_ words: String...) throws -> Programs.Result { try programs.navsync(words + ["--device", "phone"]) }
      #expect(try act("push", "alice/main", "list", "item").code == 0)
      let place = "on this device, and no daemon answers"
      for words in [["pop"], ["root"]] {
        let offline = try programs.navsync(words + ["alice/mian", "--device", "phone"])
        #expect(offline.code == 3, "\(offline)")
        #expect(
          offline.error
            == "navsync: there is no stack alice/mian \(place); 'navsync ls' lists those that there are\n")
      }
      let restored = try act("restore", "alice/main", "--at", "7")
      #expect(restored.code == 3 && restored.error.contains("there is no event 7; alice/main has 1"), "\(restored)")
      // What clears is 'root', not a value that was forgotten.
      let cleared = try act("set", "alice/main")
      #expect(cleared.code == 2, "\(cleared)")
      #expect(try act("show", "alice/main").output.contains("2  item"))
      _ = try programs.startDaemon()
      #expect(try act("sync", "alice/main").code == 0)
      let online = try act("pop", "alice/mian")
      #expect(online.code == 3 && online.error.contains("there is no stack alice/mian at the daemon"), "\(online)")
      #expect(try act("root", "alice/main").output == "(root)\n")
      #expect(try act("root", "alice/main").code == 0)
    }
  }

  /// What the daemon had, devices here have, too.
  @Test func afterTheDaemonIsKilled() async throws {
    try await withPrograms { programs in
      let daemon = try programs.startDaemon()
      #expect(try programs.navsync("push", "alice/main", "list", "--device", "laptop", "--sync").code == 0)
      #expect(try programs.navsync("push", "alice/main", "item", "--device", "phone", "--sync").code == 0)
      kill(daemon.processIdentifier, SIGKILL)
      daemon.waitUntilExit()
      for command in ["log", "show", "replay", "blame", "stats", "conflicts"] {
        let result = try programs.navsync(command, "alice/main")
        #expect(result.code == 0, "\(command): \(result)")
        #expect(
          result.error.hasPrefix("no daemon answers; this is what phone of this machine has, as of 2"),
          "\(command): \(result)")
      }
      let log = try programs.navsync("log", "alice/main").output
      #expect(log.split(separator: "\n").count == 2 && log.contains("laptop:1") && log.contains("phone:1"), "\(log)")
      // What is to go on needs the daemon.
      #expect(try programs.navsync("log", "alice/main", "--follow").code == 69)
      let other = try programs.navsync("log", "bob/main")
      #expect(
        other.code == 69 && other.error.contains("no device of this machine has a replica of bob/main"), "\(other)")
    }
  }

  @Test func filesThatAreNone() async throws {
    try await withTemporaryFolder { folder in
      func file(_ name: String, _ text: String) throws -> String {
        let url = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: url)
        return url.path
      }
      let store = folder.appendingPathComponent("store").path
      let sessions = try await navsync("import", try file("x.tsv", "7\t100\t10\tA;B\n"), "--store", store)
      #expect(sessions.code == .damage && sessions.error.contains("--format names what else can be imported"))
      let empty = try file("empty", "")
      let verified = try await navsync("verify", empty)
      #expect(verified.code == .damage && verified.output.contains("\(empty): it has no events"), "\(verified)")
      for words in [["import", folder.path, "--store", store], ["log", folder.path], ["fold", folder.path]] {
        let result = try await withCapturedConsole { console, _ in
          await run(Navsync.self, arguments: words, on: console)
        }
        #expect(result.code == .usage, "\(result)")
        #expect(result.error.hasPrefix("navsync: '\(folder.path)' is a folder, and not a store's; name a file"))
      }
      let path = try file("path.json", "[.;")
      let imported = try await navsync("path", "import", "alice/main", path)
      #expect(imported.error == "navsync: \(path) is no saved path: it is not JSON; nothing was changed\n")
      let backup = try await navsync("backup", empty, "--store", try makeStore(in: folder))
      #expect(backup.code == .refused)
      #expect(backup.error == "navsync: \(empty): it is a file, and not a folder; name another folder\n")
      #expect(try await navsync("log", try makeStore(in: folder)).error.contains("is a store; name it with --store"))
    }
  }

  private func makeStore(in folder: URL) throws -> String {
    let path = folder.appendingPathComponent("good").path
    try SQLiteLog.open(at: path, program: "a test").close()
    return path
  }

  @Test func aValueThatIsNotJSON() async throws {
    let result = try await navsync("push", "alice/main", "--type", "Product", "{id:42}")
    #expect(result.code == .usage)
    #expect(
      result.error
        == "navsync: '{id:42}' is not JSON on one line, from byte 2 on; names and texts stand in double quotes, as in '{\"id\":42}'\n"
    )
  }

  /// The same cause ends with the same code, whatever met it.
  @Test func whatTheSystemRefuses() {
    for number in [EACCES, EPERM, EROFS, ENOSPC, EDQUOT] { #expect(ExitCode.ofSystem(number) == .refused) }
    for number in [ENOENT, ENOTDIR] { #expect(ExitCode.ofSystem(number) == .notFound) }
    for number in [EIO, EMFILE] { #expect(ExitCode.ofSystem(number) == .failed) }
  }

  @Test func aFullDisk() async throws {
    let lines = LookingBackTests.history.split(separator: "\n").dropFirst().joined(separator: "\n")
    let written = try await navsync("log", "-", "--svg", "/dev/full", input: Array(lines.utf8))
    #expect(written.code == .refused, "\(written)")
    #expect(written.error == "navsync: writing to '/dev/full' failed: No space left on device\n")
  }
}
