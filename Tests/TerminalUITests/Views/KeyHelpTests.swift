import Testing

@testable import TerminalUI

/// The help: the keys that do something on the screen that is shown.
@MainActor
@Suite struct KeyHelpTests {
  private func help(_ host: TestHost) -> [String] {
    host.type("?")
    defer { host.press(.escape) }
    return host.text.split(separator: "\n").map(String.init)
  }

  @Test func onlyWhatIsOfUse() {
    let host = TestHost(width: 60, height: 20) { Text("x") }
    #expect(
      help(host)
        == ["Keys", "Ctrl-L     draw again", "?          this help", "q  Ctrl-C  quit", "Any key closes this."]
    )
  }

  /// Keys of one meaning stand together, in the order of the modifiers; what they do elsewhere isn't told.
  @Test func theKeysOfAScreen() {
    let host = TestHost(width: 60, height: 20) {
      Button("Press") {}
        .onKeyPress(.leftArrow, meaning: "step") {}
        .onKeyPress("k", meaning: "step") {}
        .onKeyPress(.space, meaning: "play") {}
        .onKeyPress("x") { .handled }
    }
    let lines = help(host)
    #expect(lines[1].hasPrefix("← k  ") && lines[1].hasSuffix("  step"), "\(lines)")
    #expect(lines[2].hasPrefix("Space  ") && lines[2].hasSuffix("  play"), "\(lines)")
    #expect(lines.contains { $0.hasSuffix("open, press") } && !lines.contains { $0.hasPrefix("x ") }, "\(lines)")
    #expect(!lines.contains { $0.hasSuffix("back") } && !lines.contains { $0.contains("search") }, "\(lines)")
  }

  @Test func screensAndTabs() {
    let host = TestHost(width: 60, height: 20) {
      TabView {
        NavigationStack { List { Text("row") } }.tabItem { Text("One") }
        Text("2").tabItem { Text("Two") }
      }
    }
    let lines = help(host)
    for meaning in ["move", "back", "to the root", "a tab", "quit"] {
      #expect(lines.contains { $0.hasSuffix("  " + meaning) }, "\(meaning): \(lines)")
    }
  }
}
