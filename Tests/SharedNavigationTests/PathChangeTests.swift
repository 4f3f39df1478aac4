import NavigationClient
import TerminalUI
import TestSupport
import Testing

@testable import SharedNavigation

/// What an assignment comes to is what the model makes of it.
@Suite struct PathChangeTests {
  private typealias Element = NavigationPath.Element

  private func element(_ text: String) -> Element { Element(value: PathValue(text)) }

  private func texts(_ path: [Element]) -> [String] { path.map { $0.value.json ?? "" } }

  @Test func carriedOutItGivesThePath() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<2000 {
      let old = (0..<Int.random(in: 0...4, using: &random)).map { _ in
        element(["a", "b"].randomElement(using: &random)!)
      }
      var new = Array(old.prefix(Int.random(in: 0...4, using: &random)))
      new += (0..<Int.random(in: 0...2, using: &random)).map { _ in element(["a", "b"].randomElement(using: &random)!) }
      var result = old
      switch PathChange(from: old, to: new) {
      case nil: #expect(texts(old) == texts(new))
      case .push(let added):
        #expect(!added.isEmpty)
        result += added
      case .close(let closed):
        #expect(result.suffix(closed.count).map(\.id) == closed.map(\.id))
        result.removeLast(closed.count)
      case .popToRoot:
        #expect(old.count > 1)
        result = []
      case .set(let path): result = path
      }
      #expect(texts(result) == texts(new))
    }
  }

  @Test func oneBackFromTheFirstScreenIsAPop() {
    guard case .close = PathChange(from: [element("a")], to: []) else {
      return #expect(Bool(false))
    }
  }
}

@Suite struct SharedOptionsTests {
  @Test func argumentsComeBeforeTheEnvironment() {
    let environment = ["NAVSYNC_DEVICE": "host", "NAVSYNC_DAEMON": "ipc:///run/x"]
    var options = SharedOptions(arguments: [], environment)
    #expect(options.device == "host" && options.daemon == "ipc:///run/x" && options.store == nil)
    options = SharedOptions(
      arguments: ["--accessible", "--device", "tablet", "colors://red", "--store=/tmp/x", "--daemon=tcp://h:1"],
      environment)
    #expect(options.device == "tablet" && options.daemon == "tcp://h:1" && options.store == "/tmp/x")
    #expect(options.problem == nil)
  }

  @Test func whatIsIncompleteIsSaid() {
    #expect(SharedOptions(arguments: ["--device"], [:]).problem?.code == .badName)
    #expect(SharedOptions(arguments: [], ["NAVSYNC_DEVICE": ""]).device == nil)
  }
}
