import Commands
import EventLog
import Foundation
import NavigationModel
import TestSupport
import Testing

/// The commands on a store that no daemon runs on, and on files.
@Suite struct StoreCommandTests {
  static let excerpt = Fixtures.folder.deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("deploy/data/wikispeedia-excerpt.tsv.gz").path

  /// A store with the shipped sessions in it.
  private func withStore(_ body: (_ store: String, _ folder: URL) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("store").path
      let imported = try await navsync("import", "--format", "wikispeedia", Self.excerpt, "--store", store)
      #expect(imported.code == .ok)
      #expect(imported.error.hasSuffix("11120 events in 1059 stacks; 11120 were new, 0 were there already\n"))
      try await body(store, folder)
    }
  }

  @Test(.case(56)) func importingTwiceChangesNothing() async throws {
    try await withStore { store, _ in
      let before = try await navsync("ls", "--store", store, "--json")
      let again = try await navsync("import", "--format", "wikispeedia", Self.excerpt, "--store", store)
      #expect(again.error.hasSuffix("0 were new, 11120 were there already\n"))
      #expect(try await navsync("ls", "--store", store, "--json").output == before.output)
      #expect(before.output.split(separator: "\n").count == 1059)
      let verified = try await navsync("verify", "--store", store)
      #expect(verified.code == .ok && verified.output == "11120 events in 1059 stacks: whole\n")
    }
  }

  @Test func anExportIsTheStackAndComesBack() async throws {
    try await withStore { store, folder in
      let stack = "wikispeedia/person-10"
      let file = folder.appendingPathComponent("export.jsonl").path
      #expect(try await navsync("export", stack, "--store", store, "--output", file).code == .ok)
      let refused = try await navsync("export", stack, "--store", store, "--output", file)
      #expect(refused.code == .refused && refused.error.contains("--force"))
      #expect(try await navsync("verify", file).output.hasSuffix("events in 1 stack: whole\n"))

      let shown =
        try JSONSerialization.jsonObject(
          with: Data(try await navsync("show", stack, "--store", store, "--json").output.utf8)) as? [String: Any]
      let folded =
        try JSONSerialization.jsonObject(
          with: Data(try await navsync("fold", file, "--json").output.utf8)) as? [String: Any]
      #expect(shown?["stack"] as? NSArray == folded?["stack"] as? NSArray)
      #expect(shown?["conflicts"] as? NSArray == folded?["conflicts"] as? NSArray)
      #expect((shown?["stack"] as? NSArray)?.count ?? 0 > 0)

      let other = folder.appendingPathComponent("other").path
      #expect(try await navsync("import", file, "--store", other).code == .ok)
      let exported = try await navsync("export", stack, "--store", other)
      #expect(exported.output == String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self))
    }
  }

  /// Files that are not what they should be: the exit code says in what way.
  @Test func filesThatCannotBeRead() async throws {
    try await withStore { store, folder in
      let export = try await navsync("export", "wikispeedia/person-10", "--store", store).output
      func file(_ name: String, _ text: String) throws -> String {
        let url = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: url)
        return url.path
      }
      let newer = try file("newer.jsonl", #"{"navsync":{"format":99,"shape":"another"}}"# + "\n")
      let cut = try file("cut.jsonl", export.split(separator: "\n").dropLast().joined(separator: "\n") + "\n")
      let two = try file(
        "two.jsonl", export.replacing(#""seq":2,"stack":"wikispeedia/person-10""#, with: #""seq":2,"stack":"bob/main""#)
      )
      for command in ["fold", "import", "replay", "verify"] {
        let target = command == "import" ? ["--store", folder.appendingPathComponent("new").path] : []
        func run(_ words: String...) async throws -> Captured {
          try await withCapturedConsole { console, _ in
            await Commands.run(Navsync.self, arguments: [command] + words + target, on: console)
          }
        }
        let refused = try await run(newer)
        #expect(refused.code == .refused && refused.error.contains("format 99") && refused.output.isEmpty)
        #expect(try await run(cut).code == .damage)
        let several = try await run(two)
        #expect(several.code == .usage && several.error.contains("--stack"))
        #expect(try await run(two, "--stack", "bob/main").code != .usage)
      }
      let empty = try await navsync("import", try file("empty", ""), "--store", store)
      #expect(empty.code == .damage && empty.error.contains("it has no events"))
      let nowhere = folder.appendingPathComponent("none/x.jsonl").path
      #expect(try await navsync("export", "wikispeedia/person-10", "--store", store, "-o", nowhere).code == .notFound)
    }
  }

  /// What was changed or cut on the way is found, and nothing is written.
  @Test func aTamperedExportIsRefused() async throws {
    try await withStore { store, folder in
      let export = try await navsync("export", "wikispeedia/person-10", "--store", store).output
      let lines = export.split(separator: "\n").map(String.init)
      let cut = folder.appendingPathComponent("cut.jsonl").path
      try Data((lines.dropLast().joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: cut))
      let tampered = folder.appendingPathComponent("tampered.jsonl").path
      var changed = lines
      let place = try #require(changed.firstIndex { $0.contains(#""push""#) })
      changed[place] = changed[place].replacingOccurrences(of: #""type":"Article""#, with: #""type":"Artikel""#)
      try Data((changed.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: tampered))
      for file in [cut, tampered] {
        #expect(try await navsync("verify", file).code == .damage)
        let target = folder.appendingPathComponent("target").path
        let imported = try await navsync("import", file, "--store", target)
        #expect(imported.code == .damage && imported.error.contains("nothing was imported"))
        #expect(!FileManager.default.fileExists(atPath: target))
      }
      // What stands before the cut can still be folded.
      let folded = try await navsync("fold", cut, "--json")
      #expect(folded.code == .damage && folded.output.hasPrefix(#"{"stack":["#))
    }
  }

  /// A value's bytes are its author's, also where a number is none of this machine's: from a device over a daemon to
  /// who looks, and through an export.
  @Test(.case(58)) func numbersAreNotRounded() async throws {
    try await withPrograms { programs in
      let value = #"{"id":9007199254740993,"big":-123456789012345678901234567890,"e":1e400,"f":0.10,"z":-0}"#
      func run(_ words: String...) throws -> String {
        let result = try programs.navsync(words)
        #expect(result.code == 0, "\(words): \(result.error)")
        return result.output
      }
      _ = try programs.startDaemon()
      _ = try run("push", "alice/main", "--type", "Product", value, "--device", "phone", "--sync")
      let shown = try run("show", "alice/main", "--json")
      #expect(shown.contains(value), "\(shown)")
      let (file, other) = (programs.state + "/export.jsonl", programs.state + "/other")
      _ = try run("export", "alice/main", "--output", file)
      _ = try run("import", file, "--store", other)
      let again = try run("show", "alice/main", "--json", "--store", other)
      #expect(again.contains(value), "\(again)")
      #expect(try run("fold", file).contains("9007199254740993"))
    }
  }

  @Test func replayShowsAnyMoment() async throws {
    try await withStore { store, _ in
      let stack = "wikispeedia/person-10"
      let steps = try await navsync("replay", stack, "--store", store, "--json").output.split(separator: "\n")
      #expect(steps.count == 21)
      for number in [0, 1, 7, 21] {
        let at = try await navsync("replay", stack, "--store", store, "--at", "\(number)", "--json")
        let moment = try JSONSerialization.jsonObject(with: Data(at.output.utf8)) as? [String: Any]
        guard number > 0 else {
          #expect((moment?["stack"] as? NSArray)?.count == 0)
          continue
        }
        let step = try JSONSerialization.jsonObject(with: Data(steps[number - 1].utf8)) as? [String: Any]
        #expect(moment?["stack"] as? NSArray == step?["stack"] as? NSArray)
      }
      let text = try await navsync("replay", stack, "--store", store, "--to", "3").output.split(separator: "\n")
      #expect(text.count == 3 && text[2].hasPrefix("3  20"))
    }
  }

  @Test func theLogCanBeCut() async throws {
    try await withStore { store, _ in
      let stack = "wikispeedia/person-10"
      let all = try await navsync("log", stack, "--store", store).output.split(separator: "\n")
      #expect(all.count == 21)
      let last = try await navsync("log", stack, "--store", store, "--last", "4").output.split(separator: "\n")
      #expect(last == all.suffix(4))
      #expect(try await navsync("log", stack, "--store", store, "--since", "2100-01-01").output.isEmpty)
      let unknown = try await navsync("log", stack, "--store", store, "--device", "toaster")
      #expect(unknown.code == .notFound)
    }
  }

  @Test func whatIsMissingIsSaidToBe() async throws {
    try await withStore { store, folder in
      let stack = try await navsync("show", "wikispeedia/nobody", "--store", store)
      #expect(stack.code == .notFound)
      #expect(stack.error.contains("there is no stack wikispeedia/nobody in the store \(store)"))
      let none = try await navsync("ls", "--store", folder.appendingPathComponent("none").path)
      #expect(none.code == .notFound)
      let foreign = folder.appendingPathComponent("foreign")
      try FileManager.default.createDirectory(at: foreign, withIntermediateDirectories: false)
      let file = foreign.appendingPathComponent("log.sqlite3")
      try Data("this is somebody's diary, not a store, and it must not be touched".utf8).write(to: file)
      let refused = try await navsync("import", "--format", "wikispeedia", Self.excerpt, "--store", foreign.path)
      #expect(refused.code == .refused)
      #expect(try String(contentsOf: file, encoding: .utf8).hasPrefix("this is somebody's diary"))
    }
  }

  /// A store that another process writes can be read, not written.
  @Test func aStoreInUseIsReadAndNotWritten() async throws {
    try await withStore { store, _ in
      let log = try SQLiteLog.open(at: store, program: "navsyncd")
      let refused = try await navsync("import", "--format", "wikispeedia", Self.excerpt, "--store", store)
      #expect(refused.code == .refused && refused.error.contains("\(getpid())"))
      #expect(try await navsync("ls", "--store", store).output.split(separator: "\n").count == 1059)
      try log.close()
    }
  }

  @Test func badNamesAndValuesAreUsageErrors() async throws {
    for words in [["show", "alice"], ["show", "alice/m ain"], ["log", "alice/main", "--since", "noon"], ["replay"]] {
      let result = try await withCapturedConsole { console, _ in
        await run(Navsync.self, arguments: words, on: console)
      }
      #expect(result.code == .usage && result.output.isEmpty, "\(words)")
      #expect(result.error.split(separator: "\n").count == 1, "\(words): \(result.error)")
    }
  }
}
