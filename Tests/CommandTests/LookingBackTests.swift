import Commands
import Foundation
import TestSupport
import Testing

/// The commands that look back, on a small history of two devices that acted at the same time.
@Suite struct LookingBackTests {
  /// phone and laptop share a list; then, apart, the phone goes back and the laptop opens the reviews; then they meet.
  static let history =
    [
      #"{"navsync":{"format":1,"stack":"alice/main","policy":"merge","devices":{"00000000000000000000000000000001":"phone","00000000000000000000000000000002":"laptop"}}}"#,
      event(phone, 1, [:], 0, #"{"push":{"on":null,"values":["list","item"]}}"#),
      event(laptop, 1, [phone: 1], 10, #"{"push":{"on":"\#(phone):1:1","values":["reviews"]}}"#),
      event(phone, 2, [:], 20, #"{"pop":{"entries":["\#(phone):1:1"]}}"#),
      event(laptop, 2, [phone: 2], 30, #"{"push":{"on":"\#(laptop):1:0","values":["photo"]}}"#),
      event(phone, 3, [:], 40, #"{"pop":{"entries":["\#(phone):1:1"]}}"#),
    ].joined(separator: "\n") + "\n"

  static let phone = "00000000000000000000000000000001"
  static let laptop = "00000000000000000000000000000002"

  /// A line at half past nine and so many seconds.
  static func event(_ device: String, _ seq: Int, _ context: [String: Int], _ second: Int, _ action: String) -> String {
    let seen = context.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
    let time = 1_772_357_400_000 + second * 1000
    return
      #"{"action":\#(action),"context":{\#(seen)},"device":"\#(device)","seq":\#(seq),"stack":"alice/main","time":[\#(time),0]}"#
  }

  private func look(_ words: String...) async throws -> Captured {
    try await withCapturedConsole(input: Array(Self.history.utf8)) { console, _ in
      await run(Navsync.self, arguments: words, on: console)
    }
  }

  @Test func theLogSaysWhatEachEventDid() async throws {
    let log = try await look("log", "-", "--graph")
    try expectGolden(log.output, "log-graph.txt")
    // A header without a trailer is a cut file: what is there is shown, and the exit code tells.
    #expect(log.code == .damage && log.error.contains("it was cut"))
    try expectGolden(try await look("log", "-", "--graph", "--ascii", "--conflicts").output, "log-conflicts.txt")
    #expect(try await look("log", "-", "--device", "laptop").output.split(separator: "\n").count == 2)
    #expect(try await look("log", "-", "--last", "2").output.hasPrefix("4  "))
    let since = try await look("log", "-", "--since", "2026-03-01T09:30:30Z", "--json")
    #expect(since.output.split(separator: "\n").count == 2)
  }

  @Test func momentsOfEveryKind() async throws {
    func stack(_ place: String) async throws -> String {
      try await look("replay", "-", "--at", place).output.split(separator: "\n").filter { !$0.hasPrefix("!") }
        .map { String($0.split(separator: " ")[1]) }.joined(separator: " ")
    }
    #expect(try await stack("1") == "list item")
    #expect(try await stack("2026-03-01T09:30:10Z") == "list item reviews")
    #expect(try await stack("phone:2") == "list")
    #expect(try await stack("laptop:2") == "list item reviews photo")
    // A device that nobody named goes by the beginning of its id, as it is shown.
    let unnamed = Self.history.replacing(#""00000000000000000000000000000001":"phone",""#, with: "\"")
      .replacing(Self.phone, with: "c0ffee00000000000000000000000001")
    let seen = try await withCapturedConsole(input: Array(unnamed.utf8)) { console, _ in
      await run(Navsync.self, arguments: ["replay", "-", "--at", "c0ffee00:2"], on: console)
    }
    #expect(seen.output.hasPrefix("1  list"), "\(seen)")
    let missing = try await look("replay", "-", "--at", "tablet:1")
    #expect(missing.code == .notFound && missing.error.contains("tablet:1"))
  }

  /// A file is shown as a stack is.
  @Test func aFileIsShown() async throws {
    let now = try await look("show", "-")
    #expect(now.code == .damage && now.error.contains("it was cut"), "\(now)")
    #expect(now.output.hasPrefix("alice/main  merge, 5 events\n1  list"), "\(now)")
    #expect(
      try await look("show", "-", "--at", "phone:2").output
        == "alice/main  merge, 2 events as of phone:2\n1  list  phone:1:0\n")
    let json = try await look("show", "-", "--at", "1", "--json").output
    #expect(json.hasPrefix(#"{"stack":[{"id":"\#(Self.phone):1:0","value":"list"},"#), "\(json)")
    // Devices by other texts than ids are printed by those.
    let texts = Self.history.replacing(Self.phone, with: "x").replacing(Self.laptop, with: "y")
    let other = try await navsync("show", "-", "--json", input: Array(texts.utf8))
    #expect(other.output.hasPrefix(#"{"stack":[{"id":"x:1:0","value":"list"}"#), "\(other)")
    let both = try await look("show", "alice/main", "--stack", "alice/main")
    #expect(both.code == .usage && both.error.contains("'alice/main' is a stack"), "\(both)")
  }

  @Test func diffBlameConflictsAndStats() async throws {
    #expect(
      try await look("diff", "-", "phone:2", "laptop:2").output
        == "  list  phone:1:0\n+ item  phone:1:1\n+ reviews  laptop:1:0\n+ photo  laptop:2:0\n")
    #expect(
      try await look("diff", "-", "2", "phone:2", "--json").output.contains(#"{"change":"closed","entry":{"id":"#))
    try expectGolden(try await look("blame", "-").output, "blame.txt")
    try expectGolden(try await look("conflicts", "-").output, "conflicts.txt")
    try expectGolden(try await look("stats", "-").output, "stats.txt")
    let json = try await look("stats", "-", "--json").output
    #expect(json.contains(#""backs":2"#) && json.contains(#""concurrent":"#))
  }
}

/// Undo and restore, with a daemon.
@Suite struct RestoringTests {
  @Test func undoneAndRestored() async throws {
    try await withPrograms { programs in
      _ = try programs.startDaemon()
      func act(_ words: String...) throws -> String {
        let result = try programs.navsync(words + ["--device", "phone"])
        #expect(result.code == 0, "\(words): \(result.error)")
        return result.output.trimmingCharacters(in: .newlines)
      }
      _ = try act("push", "alice/main", "list", "item", "reviews")
      _ = try act("pop", "alice/main", "2")
      #expect(try act("undo", "alice/main", "--dry-run") == "list › item › reviews")
      #expect(try act("undo", "alice/main") == "list › item › reviews")
      #expect(try act("undo", "alice/main") == "list")
      _ = try act("push", "alice/main", "cart")
      #expect(try act("undo", "alice/main", "phone:2") == "list › item › reviews › cart")
      #expect(try act("restore", "alice/main", "--at", "1") == "list › item › reviews")
      #expect(try act("restore", "alice/main", "--at", "phone:2") == "list")
      let log = try programs.navsync("log", "alice/main")
      #expect(log.output.split(separator: "\n").count == 8)
      let missing = try programs.navsync("undo", "alice/main", "phone:99", "--device", "phone")
      #expect(missing.code == 3)
    }
  }
}
