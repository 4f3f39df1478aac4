import Testing

@testable import TerminalUI

@Suite struct LinearTests {
  private let one = Screen()
  private let other = Screen()

  private final class Screen: Sendable {}

  @Test func theFirstScreenIsPrintedWhole() {
    var output = LinearOutput()
    #expect(
      output.changes(to: ["Colors", "> Mint", "Pink"], screen: ObjectIdentifier(one), announcements: [])
        == ["Colors", "> Mint", "Pink"])
  }

  @Test func aMovedFocusIsOneLine() {
    var output = LinearOutput()
    _ = output.changes(to: ["Colors", "> Mint", "Pink"], screen: ObjectIdentifier(one), announcements: [])
    #expect(
      output.changes(to: ["Colors", "Mint", "> Pink"], screen: ObjectIdentifier(one), announcements: []) == ["> Pink"])
    #expect(
      output.changes(to: ["Colors", "Mint", "> Pink"], screen: ObjectIdentifier(one), announcements: []) == [])
  }

  @Test func aChangeIsOneLine() {
    var output = LinearOutput()
    _ = output.changes(to: ["> Tap", "count 0"], screen: ObjectIdentifier(one), announcements: [])
    #expect(
      output.changes(to: ["> Tap", "count 1"], screen: ObjectIdentifier(one), announcements: []) == ["count 1"])
  }

  @Test func anotherScreenIsPrintedWhole() {
    var output = LinearOutput()
    _ = output.changes(to: ["Colors", "> Mint"], screen: ObjectIdentifier(one), announcements: [])
    #expect(
      output.changes(to: ["‹ Colors › Mint", "text"], screen: ObjectIdentifier(other), announcements: ["laptop: back"])
        == ["! laptop: back", "", "‹ Colors › Mint", "text"])
  }

  @Test func linesAreCommands() {
    #expect(LinearInput.command("") == .events([.key(KeyPress(.enter))]))
    #expect(LinearInput.command("3j") == .events(Array(repeating: .key(KeyPress(.down)), count: 3)))
    #expect(LinearInput.command("k") == .events([.key(KeyPress(.up))]))
    #expect(LinearInput.command("b") == .events([.key(KeyPress(.escape))]))
    #expect(LinearInput.command("?") == .help)
    #expect(LinearInput.command("l") == .readAgain)
    for nonsense in ["0j", "99999999999999999999j", "-1k", "jj", "what"] {
      #expect(LinearInput.command(nonsense) == .unknown)
    }
  }

  @MainActor @Test func linesDriveAProgram() {
    struct Search: View {
      @State var text = ""
      var body: some View {
        NavigationStack {
          List(["one", "two", "three"].filter { text.isEmpty || $0.contains(text) }, id: \.self) {
            NavigationLink($0, value: $0)
          }
          .searchable(text: $text)
          .navigationTitle("Numbers")
          .navigationDestination(for: String.self) { Text("it is \($0)") }
        }
      }
    }
    let host = TestHost { Search() }
    func type(_ line: String) {
      guard case .events(let events) = LinearInput.command(line) else { return }
      for event in events { host.send(event) }
    }
    #expect(host.lines == ["Numbers", "/ Search", "> one", "two", "three"])
    type("/th")
    #expect(host.lines == ["Numbers", "/ th", "> three"])
    type("")
    #expect(host.lines == ["‹ Numbers", "it is three"])
    type("b")
    type("/")
    #expect(host.lines == ["Numbers", "/ Search", "one", "two", "> three"])
  }
}
