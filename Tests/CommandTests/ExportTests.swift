import Commands
import Foundation
import NavigationModel
import TestSupport
import Testing
import WireFormat

/// Exports of both forms, merging of stores, and backups.
@Suite struct ExportTests {
  private let stack = "alice/main"

  /// A store with the five events of two devices in it.
  private func withStore(_ body: (_ store: String, _ folder: URL) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("store").path
      let lines = LookingBackTests.history.split(separator: "\n").dropFirst().joined(separator: "\n")
      let imported = try await navsync("import", "-", "--store", store, input: Array(lines.utf8))
      #expect(imported.code == .ok, "\(imported.error)")
      try await body(store, folder)
    }
  }

  /// Both forms are the same export: a round trip through either is the identity, digests included.
  @Test func theBinaryFormIsTheSameExport() async throws {
    try await withStore { store, folder in
      let text = try await navsync("export", stack, "--store", store).output
      let file = folder.appendingPathComponent("x.navsync").path
      #expect(try await navsync("export", stack, "--store", store, "--format", "binary", "-o", file).code == .ok)
      #expect(try Data(contentsOf: URL(fileURLWithPath: file)).count < text.utf8.count / 2)
      #expect(try await navsync("verify", file).output == "5 events in 1 stack: whole\n")
      let other = folder.appendingPathComponent("other").path
      #expect(try await navsync("import", file, "--store", other).code == .ok)
      #expect(try await navsync("export", stack, "--store", other).output == text)
      // Where part of a block is there already, the rest is added.
      let half = folder.appendingPathComponent("half").path
      let lines = text.split(separator: "\n").dropFirst().prefix(2).joined(separator: "\n")
      #expect(try await navsync("import", "-", "--store", half, input: Array(lines.utf8)).code == .ok)
      let rest = try await navsync("import", file, "--store", half)
      #expect(rest.error.hasSuffix("3 were new, 2 were there already\n"), "\(rest)")
      #expect(try await navsync("log", file).output == (try await navsync("log", stack, "--store", store)).output)
    }
  }

  /// Whatever is cut or changed is found, the place is named, what is before it is shown, and nothing is written.
  @Test func aDamagedBinaryExport() async throws {
    try await withStore { store, folder in
      let url = folder.appendingPathComponent("x.navsync")
      #expect(try await navsync("export", stack, "--store", store, "--format", "binary", "-o", url.path).code == .ok)
      let whole = try Data(contentsOf: url)
      let target = folder.appendingPathComponent("target").path
      var random = SeededGenerator(seed: 5)
      for _ in 0..<40 {
        var damaged = whole
        if Bool.random(using: &random) {
          damaged = damaged.prefix(Int.random(in: 20..<whole.count, using: &random))
        } else {
          damaged[Int.random(in: 12..<whole.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        try damaged.write(to: url)
        let result = try await navsync("import", url.path, "--store", target)
        #expect(result.code == .damage && result.error.contains("nothing was imported"), "\(result.error)")
        #expect(!FileManager.default.fileExists(atPath: target))
        #expect(try await navsync("verify", url.path).code == .damage)
      }
      var newer = whole
      newer[11] = 2
      try newer.write(to: url)
      let refused = try await navsync("import", url.path, "--store", target)
      #expect(refused.code == .refused && refused.error.contains("newer"))
    }
  }

  /// A block that is whole, with content that isn't: it is named, and not the one behind it.
  @Test func aBinaryBlockWithAGap() async throws {
    let stack = try StackName(stack)
    let device = DeviceID(high: 1, low: 2)
    var chains = StackChains(stack: stack)
    let events = try (1...3).map { sequence in
      let event = Event(
        dot: Dot(device, sequence), context: VersionVector(), timestamp: Timestamp(milliseconds: sequence, counter: 0),
        action: .popToRoot)
      return (dot: event.dot, bytes: try chains.append(event))
    }
    let header = BinaryExport.block(
      .header, ExportHeader(stack: stack.description, policy: "merge").bytes, number: 0)
    let block = BinaryExport.block(.events, EventBatch([events[1], events[2]]).bytes, number: 1)
    let place = "block 1 from byte \(BinaryExport.magic.count + header.count) on: "
    try await withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("x.navsync")
      try Data(BinaryExport.magic + header + block).write(to: file)
      for command in ["log", "fold", "verify", "import"] {
        let result = try await withCapturedConsole { console, folder in
          let target = command == "import" ? ["--store", folder.appendingPathComponent("target").path] : []
          return await run(Navsync.self, arguments: [command, file.path] + target, on: console)
        }
        #expect(result.code == .damage && (result.output + result.error).contains(place), "\(command): \(result)")
      }
      // One that is cut is named, too.
      try Data(BinaryExport.magic + header + block.dropLast()).write(to: file)
      let cut = try await navsync("log", file.path)
      #expect(cut.code == .damage && cut.error.contains(place + "it is cut"), "\(cut)")
    }
  }

  /// Where the stack is chosen, lines of others are passed over.
  @Test func linesOfOtherStacks() async throws {
    try await withStore { store, folder in
      let whole = try await navsync("export", stack, "--store", store).output
      var lines = whole.split(separator: "\n").map(String.init)
      lines.insert(lines[1].replacing(#""stack":"\#(stack)""#, with: #""stack":"bob/main""#), at: 3)
      #expect(lines[3].contains("bob/main"))
      let mixed = folder.appendingPathComponent("mixed.jsonl").path
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: mixed))
      let pure = folder.appendingPathComponent("pure.jsonl").path
      try Data(whole.utf8).write(to: URL(fileURLWithPath: pure))
      for command in ["log", "show", "fold", "verify"] {
        let unchosen = try await navsync(command, mixed)
        #expect(
          unchosen.code == .usage && unchosen.error.contains("choose one with --stack"), "\(command): \(unchosen)")
        let chosen = try await navsync(command, mixed, "--stack", stack)
        #expect(chosen.code == .ok && chosen.error.isEmpty, "\(command): \(chosen)")
        #expect(chosen.output == (try await navsync(command, pure)).output)
      }
      let target = folder.appendingPathComponent("target").path
      #expect(try await navsync("import", mixed, "--store", target).code == .usage)
      #expect(try await navsync("import", mixed, "--store", target, "--stack", stack).code == .ok)
      #expect(try await navsync("export", stack, "--store", target).output == whole)
    }
  }

  /// What stands before a bad line can still be read.
  @Test func theGoodPartOfADamagedFile() async throws {
    try await withStore { store, folder in
      var lines = try await navsync("export", stack, "--store", store).output.split(separator: "\n").map(String.init)
      lines[4] = "{\"action\":"
      let file = folder.appendingPathComponent("x.jsonl").path
      try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
      let log = try await navsync("log", file)
      #expect(log.code == .damage && log.error.contains("line 5"))
      #expect(log.output.split(separator: "\n").count == 3)
      #expect(try await navsync("fold", file).code == .damage)
      let imported = try await navsync("import", file, "--store", folder.appendingPathComponent("new").path)
      #expect(imported.code == .damage && imported.error.contains("line 5"))
      #expect(imported.error.contains("nothing was imported"))
    }
  }

  @Test func storesMerge() async throws {
    try await withStore { store, folder in
      let other = folder.appendingPathComponent("other").path
      // Two of its events are there already.
      let three = LookingBackTests.history.split(separator: "\n").dropFirst().prefix(2).joined(separator: "\n")
      #expect(try await navsync("import", "-", "--store", other, input: Array(three.utf8)).code == .ok)
      let dry = try await navsync("import", store, "--store", other, "--dry-run")
      #expect(dry.code == .ok && dry.error.contains("nothing was written"))
      let all = try await navsync("import", store, "--store", other)
      #expect(all.error.hasSuffix("5 events in 1 stack; 3 were new, 2 were there already\n"))
      #expect(try await navsync("verify", "--store", other).output == "5 events in 1 stack: whole\n")
      let text = try await navsync("export", stack, "--store", store).output
      #expect(try await navsync("export", stack, "--store", other).output == text)
      #expect(try await navsync("import", store, "--store", store).code == .usage)
      #expect(try await navsync("import", store, "--stack", "no/where", "--store", other).code == .notFound)
    }
  }

  @Test func backupAndRestore() async throws {
    try await withStore { store, folder in
      let backup = folder.appendingPathComponent("backup").path
      #expect(try await navsync("backup", backup, "--store", store).code == .ok)
      #expect(try await navsync("backup", backup, "--store", store).code == .refused)
      let restored = folder.appendingPathComponent("restored").path
      #expect(try await navsync("restore-backup", backup, "--store", restored).code == .ok)
      #expect(try await navsync("verify", "--store", restored).output == "5 events in 1 stack: whole\n")
      // A store is never overwritten, nor a folder that has something else in it.
      #expect(try await navsync("restore-backup", backup, "--store", restored).code == .refused)
      let full = folder.appendingPathComponent("full")
      try FileManager.default.createDirectory(at: full, withIntermediateDirectories: false)
      try Data("mine".utf8).write(to: full.appendingPathComponent("letter"))
      #expect(try await navsync("restore-backup", backup, "--store", full.path).code == .refused)
      #expect(try String(contentsOf: full.appendingPathComponent("letter"), encoding: .utf8) == "mine")
      // A damaged backup is found before.
      let file = backup + "/log.sqlite3"
      var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
      let value = try #require(bytes.firstRange(of: Data("reviews".utf8)))
      bytes[value.lowerBound] ^= 1
      try bytes.write(to: URL(fileURLWithPath: file))
      let target = folder.appendingPathComponent("target").path
      #expect(try await navsync("restore-backup", backup, "--store", target).code == .damage)
      #expect(!FileManager.default.fileExists(atPath: target))
    }
  }

  /// A device that comes back from a backup acts under a new id, and what only the backup had reaches the daemon.
  @Test func aDeviceFromABackupIsANewIncarnation() async throws {
    try await withPrograms { programs in
      func act(_ words: String...) throws -> Programs.Result {
        let result = try programs.navsync(words)
        #expect(result.code == 0, "\(words): \(result.error)")
        return result
      }
      let daemon = try programs.startDaemon()
      _ = try act("push", "alice/main", "list", "--device", "phone")
      daemon.terminate()
      daemon.waitUntilExit()
      _ = try act("push", "alice/main", "item", "--device", "phone")
      let backup = programs.state + "/backup"
      _ = try act("backup", backup, "--device", "phone")
      let restored = try act("restore-backup", backup, "--device", "phone2")
      #expect(restored.error.contains("new id"))
      _ = try programs.startDaemon()
      _ = try act("push", "alice/main", "photo", "--device", "phone2")
      #expect(try act("show", "alice/main", "--json").output.contains(#""value":"item""#))
      _ = try act("push", "alice/main", "note", "--device", "phone")
      let shown = try act("show", "alice/main").output
      for value in ["list", "item", "photo", "note"] { #expect(shown.contains(value), "\(shown)") }
      #expect(!shown.contains("fork"))
    }
  }
}
