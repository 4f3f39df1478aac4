import Foundation
import TestSupport
import Testing

/// A space whose owner says who may write, as people set it up.
@Suite(.timeLimit(.minutes(5)))
struct SignatureProgramTests {
  private func trimmed(_ result: Programs.Result) -> String {
    #expect(result.code == 0, "\(result.error)")
    return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @Test func anOwnerGrantsAndAStrangerIsHeldBack() async throws {
    try await withPrograms { home in
      _ = try home.startDaemon()
      // A stranger, and a device of before anybody was trusted.
      let owner = trimmed(try home.navsync("keys", "owner", "alice"))
      #expect(owner.count == 64)
      #expect(trimmed(try home.navsync("keys", "owner", "alice")) == owner)
      let key = trimmed(try home.navsync("keys", "device", "--device", "phone"))
      #expect(try home.navsync("push", "alice/main", "a", "--device", "phone", "--sync").code == 0)
      #expect(try home.navsync("keys", "grant", "bob", key, "--name", "phone").code == 3)
      #expect(try home.navsync("keys", "grant", "alice", "nonsense", "--name", "phone").code == 2)
      let grant = trimmed(try home.navsync("keys", "grant", "alice", key, "--name", "phone"))
      #expect(try home.navsync("keys", "accept", grant.replacingOccurrences(of: " phone ", with: " fone ")).code == 0)
      #expect(trimmed(try home.navsync("keys", "trust", "alice", "--mode", "required")).contains("alice  required"))
      #expect(try home.navsync("keys", "accept", grant.replacingOccurrences(of: " phone ", with: " fone ")).code == 4)
      let before = try home.navsync("show", "alice/main", "--json")
      #expect(before.code == 0 && !before.output.contains(#""value":"a""#), "\(before)")
      #expect(before.error.contains("held back"), "\(before)")
      // An export that lacks it says so.
      let exported = try home.navsync("export", "alice/main")
      #expect(exported.code == 0 && exported.output.contains(#""count":0"#), "\(exported)")
      #expect(exported.error.contains("1 event of phone held back"), "\(exported)")
      let refused = try home.navsync("push", "alice/main", "x", "--device", "laptop")
      #expect(refused.code == 77 && refused.error.contains("has no grant to write in alice"), "\(refused)")
      #expect(try home.navsync("keys", "accept", grant).code == 0)
      #expect(try home.navsync("push", "alice/main", "b", "--device", "phone", "--sync").code == 0)
      let after = try home.navsync("show", "alice/main", "--json")
      for value in ["a", "b"] { #expect(after.output.contains(#""value":"\#(value)""#), "\(after)") }
      #expect(after.error.isEmpty, "\(after)")
      #expect(try home.navsync("export", "alice/main").error.isEmpty)
      let checked = try home.navsync("verify", "alice/main", "--json")
      #expect(checked.output.contains(#""name":"phone""#) && checked.output.contains(#""vouched":2"#), "\(checked)")
      #expect(trimmed(try home.navsync("keys", "grants", "--json")).split(separator: "\n").count == 2)
    }
  }

  /// 0 stands for ever in a grant, and nothing before it can be written.
  @Test func aGrantEndsAfter1970() async throws {
    try await withPrograms { home in
      _ = trimmed(try home.navsync("keys", "owner", "alice"))
      let key = trimmed(try home.navsync("keys", "device", "--device", "phone"))
      func grant(_ until: String) throws -> Programs.Result {
        try home.navsync("keys", "grant", "alice", key, "--name", "phone", "--until", until)
      }
      for until in ["1960-01-01", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z"] {
        let refused = try grant(until)
        #expect(refused.code == 2 && refused.output.isEmpty, "\(until): \(refused)")
        #expect(refused.error == "navsync: --until is before 1970; name a later time\n", "\(until): \(refused)")
      }
      #expect(trimmed(try grant("1970-01-01T00:00:00.001Z")).split(separator: " ")[4] == "1")
      #expect(trimmed(try home.navsync("keys", "grants", "--json")).split(separator: "\n").count == 1)
    }
  }
}
