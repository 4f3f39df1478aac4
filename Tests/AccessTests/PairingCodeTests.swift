import Access
import TestSupport
import Testing

@Suite struct PairingCodeTests {
  static let key = AccessRulesTests.key(3)
  static let secret = (0..<16).map { UInt8($0 * 7) }

  static func code(_ endpoint: String = "tcp://192.0.2.7:5757") -> PairingCode {
    PairingCode(endpoint: endpoint, key: key, secret: secret)
  }

  @Test(arguments: [
    "tcp://a:1", "tcp://ab:1", "tcp://abc:1", "tcp://[2001:db8::1]:5757", "tcp://stacks.example.org:5757",
  ])
  func codesGoBothWays(endpoint: String) throws {
    let text = Self.code(endpoint).text
    #expect(try PairingCode(text) == Self.code(endpoint))
    #expect(!text.contains { $0.isWhitespace || "'\"\\$`&|<>;*?()[]{}!#~".contains($0) }, "a shell takes it as it is")
    let broken = text.enumerated().map { $0.offset % 20 == 19 ? "\($0.element)\n " : "\($0.element)" }.joined()
    #expect(try PairingCode(broken) == Self.code(endpoint), "line breaks don't count")
  }

  /// No slip of one character is taken.
  @Test func slipsAreNoticed() {
    let text = Array(Self.code().text)
    for place in text.indices {
      for other in ["A", "b", "7", "_", "!"] as [Character] where other != text[place] {
        var slip = text
        slip[place] = other
        #expect(throws: TextError.self) { try PairingCode(String(slip)) }
      }
      var short = text
      short.remove(at: place)
      #expect(throws: TextError.self) { try PairingCode(String(short)) }
    }
    for wrong in ["", "navsync1:", "navsync2:AAAA", String(repeating: "navsync1:", count: 200)] {
      #expect(throws: TextError.self) { try PairingCode(wrong) }
    }
  }
}
