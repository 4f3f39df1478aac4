import Commands
import Foundation
import TestSupport
import Testing

/// `navsync fold` as a process would see it, on the reference's histories.
@Suite struct FoldCommandTests {
  /// The vectors' own form comes out, byte for byte but for white space.
  @Test func agreesWithTheReference() async throws {
    for line in try Fixtures.lines(ofGzipped: "fold-vectors.jsonl.gz").prefix(400) {
      guard let vector = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
        let events = vector["events"] as? [Any], let policy = vector["policy"] as? String,
        let stack = vector["stack"], let conflicts = vector["conflicts"]
      else {
        Issue.record("a vector that can't be read")
        continue
      }
      let lines = try events.map { try JSONSerialization.data(withJSONObject: $0) + [10] }.reduce(Data(), +)
      let result = try await navsync("fold", "-", "--policy", policy, "--json", input: Array(lines))
      #expect(result.code == .ok && result.error.isEmpty)
      let got = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? NSDictionary
      #expect(got == ["stack": stack, "conflicts": conflicts] as NSDictionary, "seed \(vector["seed"] ?? "")")
    }
  }

  private let push = #"{"action":{"push":{"on":null,"values":["a"]}},"context":{},"device":"x","seq":1,"time":[1,0]}"#

  @Test func saysWhichLineIsWrong() async throws {
    let broken = try await navsync("fold", "-", input: Array("\(push)\n{\"seq\":\n".utf8))
    // What stands before it can still be read.
    #expect(broken.code == .damage && broken.output == "1  a  x:1:0\n")
    #expect(broken.error.hasPrefix("navsync: the standard input, line 2: "))
    let missing = try await navsync("fold", "/nowhere/events.jsonl")
    #expect(missing.code == .notFound)
    #expect(missing.error == "navsync: can't open '/nowhere/events.jsonl': No such file or directory\n")
  }

  @Test func holdsBackWhatIsNotWhole() async throws {
    let later = push.replacingOccurrences(of: "\"seq\":1", with: "\"seq\":3")
    let result = try await navsync("fold", "-", "--json", input: Array("\(push)\n\(later)\n".utf8))
    #expect(result.output == #"{"stack":[{"id":"x:1:0","value":"a"}],"conflicts":[],"held":["x:3"]}"# + "\n")
  }

  /// Without digests the earlier (timestamp, line) stands.
  @Test func decidesForksByTimeThenBytes() async throws {
    let other = push.replacingOccurrences(of: #""a""#, with: #""b""#)
    let earlier = push.replacingOccurrences(of: #""a""#, with: #""c""#).replacingOccurrences(of: "[1,0]", with: "[0,5]")
    let bytes = try await navsync("fold", "-", "--json", input: Array("\(other)\n\(push)\n".utf8))
    #expect(
      bytes.output == #"{"stack":[{"id":"x:1:0","value":"a"}],"conflicts":[{"fork":"x:1"}]}"# + "\n")
    let time = try await navsync("fold", "-", "--json", input: Array("\(other)\n\(push)\n\(earlier)\n".utf8))
    #expect(time.output.contains(#""value":"c""#))
  }

  @Test func wantsOneStack() async throws {
    let lines = ["a/x", "a/y"].map { "\(push.prefix(push.count - 1)),\"stack\":\"\($0)\"}\n" }.joined()
    let both = try await navsync("fold", "-", input: Array(lines.utf8))
    #expect(both.code == .usage)
    #expect(both.error == "navsync: the standard input has events of a/x and of a/y; choose one with --stack\n")
    let one = try await navsync("fold", "-", "--stack", "a/y", "--json", input: Array(lines.utf8))
    #expect(one.code == .ok && one.output.contains(#""id":"x:1:0""#))
  }

  @Test func knowsTheLeaderByItsText() async throws {
    let missing = try await navsync("fold", "-", "--policy", "lead:", input: Array(push.utf8))
    #expect(missing.code == .usage)
    let absent = try await navsync("fold", "-", "--policy", "lead:y", "--json", input: Array(push.utf8))
    #expect(absent.code == .ok, "a leader that did nothing leads nothing: \(absent.error)")
  }

  /// A name that several devices have names none of them, whatever the export's format.
  @Test(arguments: [1, 2]) func aLeaderIsOneDevice(format: Int) async throws {
    let lines = LookingBackTests.history.replacing(#""laptop""#, with: #""phone""#)
      .replacing(#""format":1"#, with: #""format":\#(format)"#)
    for (leader, found) in [("phone", false), ("nobody", false), (LookingBackTests.laptop, true)] {
      let result = try await navsync("fold", "-", "--policy", "lead:\(leader)", input: Array(lines.utf8))
      let problem = "there is no one device '\(leader)' to lead; name it by its id"
      #expect(result.code == (found ? .damage : .notFound), "a header without a trailer is a cut file: \(result)")
      #expect(result.error.contains(problem) == !found, "\(result)")
    }
  }
}
