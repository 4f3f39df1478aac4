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
      let before = try home.navsync("show", "alice/main")
      #expect(before.code == 0 && !before.output.contains("a\n") && before.error.contains("held back"), "\(before)")
      let refused = try home.navsync("push", "alice/main", "x", "--device", "laptop")
      #expect(refused.code == 77 && refused.error.contains("has no grant to write in alice"), "\(refused)")
      #expect(try home.navsync("keys", "accept", grant).code == 0)
      #expect(try home.navsync("push", "alice/main", "b", "--device", "phone", "--sync").code == 0)
      let after = try home.navsync("show", "alice/main")
      #expect(after.output.contains("a") && after.output.contains("b") && after.error.isEmpty, "\(after)")
      let checked = try home.navsync("verify", "alice/main", "--json")
      #expect(checked.output.contains(#""name":"phone""#) && checked.output.contains(#""vouched":2"#), "\(checked)")
      #expect(trimmed(try home.navsync("keys", "grants", "--json")).split(separator: "\n").count == 2)
    }
  }
}
