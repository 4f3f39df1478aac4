import Foundation
import TestSupport
import Testing

/// Long output on a terminal goes through a pager; nothing else does.
@Suite struct PagerTests {
  private func terminal(
    _ words: [String], in folder: URL, _ environment: [String: String] = [:]
  ) throws -> PseudoTerminal {
    let file = folder.appendingPathComponent("history.jsonl")
    try Data(LookingBackTests.history.utf8).write(to: file)
    let own = ["TERM": "xterm-256color", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", "TZ": "UTC"]
    return try PseudoTerminal(
      try BuiltProgram.url("navsync"), words.map { $0 == "FILE" ? file.path : $0 }, columns: 120, rows: 24,
      environment: own.merging(environment) { $1 })
  }

  /// A pager of the person's own gets the lines, colours included, and the exit code is the command's.
  @Test func thePagerShowsTheLog() async throws {
    try await withTemporaryFolder { folder in
      let program = try terminal(
        ["log", "FILE"], in: folder, ["NAVSYNC_PAGER": "sed 's/^/paged: /'", "PAGER": "false"])
      try program.wait(for: "paged: 5")
      let status = try program.waitForEnd()
      #expect(status >> 8 == 5, "the file is cut, pager or not")
      #expect(program.text.contains("\u{1B}[36mphone:1\u{1B}[0m"), "\(program.text)")
      #expect(program.text.components(separatedBy: "paged: ").count == 6, "\(program.text)")
    }
  }

  /// Quitting the pager ends the command quietly, and no colours come where they aren't wanted.
  @Test func aPagerThatIsQuit() async throws {
    try await withTemporaryFolder { folder in
      let quit = try terminal(["log", "FILE"], in: folder, ["NAVSYNC_PAGER": "true"])
      _ = try quit.waitForEnd()
      #expect(!quit.text.contains("phone"), "\(quit.text)")
      let plain = try terminal(["log", "FILE"], in: folder, ["NAVSYNC_PAGER": "cat", "NO_COLOR": "1"])
      _ = try plain.waitForEnd()
      #expect(plain.text.contains("phone:1") && !plain.text.contains("\u{1B}[3"), "\(plain.text)")
    }
  }

  /// A pager that isn't there loses nothing; --no-pager, --json and a pipe need none.
  @Test func withoutAPager() async throws {
    try await withTemporaryFolder { folder in
      let missing = try terminal(["log", "FILE"], in: folder, ["NAVSYNC_PAGER": "no-such-pager"])
      _ = try missing.waitForEnd()
      #expect(missing.text.contains("phone:1"), "\(missing.text)")
      for words in [["log", "FILE", "--no-pager"], ["log", "FILE", "--json"]] {
        let program = try terminal(words, in: folder, ["NAVSYNC_PAGER": "sed 's/^/paged: /'"])
        _ = try program.waitForEnd()
        #expect(program.text.contains("list") && !program.text.contains("paged"), "\(program.text)")
      }
    }
  }
}
