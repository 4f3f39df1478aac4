import Foundation
import TestSupport
import Testing

/// `navsync replay` on a terminal.
@Suite struct ReplayScreenTests {
  @Test(.enabled(if: TmuxSession.isAvailable)) func aPersonGoesThroughAHistory() async throws {
    try await withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("history.jsonl")
      try Data(LookingBackTests.history.utf8).write(to: file)
      let program = try BuiltProgram.url("navsync").path
      let session = try TmuxSession(columns: 100, rows: 20, "TZ=UTC '\(program)' replay '\(file.path)'", tellsEnd: true)
      try session.wait(for: "event 5 of 5")
      try session.press("Left")
      let fourth = try session.wait(for: "event 4 of 5")
      #expect(fourth.contains("▶ 4  09:30:30  laptop:2  push photo"))
      #expect(fourth.contains("+ photo  laptop:2  09:30:30"), "\(fourth)")
      // To the conflict before: the phone closed what the laptop had put something on.
      try session.press("C")
      let third = try session.wait(for: "event 3 of 5")
      #expect(third.contains("▶!3") && third.contains("! kept: item"))
      // What can be pressed here, and nothing that can't.
      try session.press("?")
      let help = try session.wait(for: "Any key closes this.")
      for line in ["← ↑ k      the event before", "C c        to the conflict before, the next (events marked !)"] {
        #expect(help.contains(line), "\(help)")
      }
      #expect(!help.contains("to the root") && !help.contains("delete"), "\(help)")
      try session.press("Escape")
      try session.wait(for: "event 3 of 5")
      try session.press("t")
      try session.wait(for: "go to")
      try session.press("laptop:1", "Enter")
      try session.wait(for: "event 2 of 5")
      try session.press("t")
      try session.wait(for: "go to")
      try session.press("tablet:9", "Enter")
      try session.wait(for: "no event tablet:9")
      try session.press("t")
      try session.wait(for: "go to")
      try session.press("6", "Enter")
      try session.wait(for: "there is no event 6; alice/main has 5")
      try session.press("Home")
      try session.wait("the root") { $0.contains("event 0 of 5") && $0.contains("(root)") }
      for _ in 0..<6 { try session.press("+") }
      try session.press("Space")
      try session.wait(for: "event 5 of 5")
      try session.press("q")
      // The exit code of a cut file, as without a terminal.
      try session.wait(for: "ended with 5")
    }
  }
}
