import Foundation
import TerminalUI
import Testing

struct Shade: Hashable, Codable {
  var name: String
}

struct Mint: Hashable, Codable {
  var name: String
}

private struct ColorsScreen: View {
  @State private var path = NavigationPath()
  let start: NavigationPath

  init(start: NavigationPath = NavigationPath()) { self.start = start }

  var body: some View {
    NavigationStack(path: $path) {
      List {
        NavigationLink("Mint", value: Shade(name: "Mint"))
        NavigationLink("Pink", value: Shade(name: "Pink"))
        NavigationLink("Number", value: 7)
        NavigationLink("Nothing", value: Shade?.none)
        Button("Deep") { path = NavigationPath([Shade(name: "a"), Shade(name: "b"), Shade(name: "c")]) }
      }
      .navigationTitle("Colors")
      .navigationDestination(for: Shade.self) { shade in
        ShadeScreen(shade: shade) { path = .init() }
      }
      .navigationDestination(for: Int.self) { Text("number \($0)").navigationTitle("Int") }
      .onAppear { if path.isEmpty, !start.isEmpty { path = start } }
    }
  }
}

private struct ShadeScreen: View {
  let shade: Shade
  let goHome: () -> Void
  @State private var taps = 0
  @Environment(\.dismiss) private var dismiss

  var body: some View {
    List {
      Text("This is \(shade.name), tapped \(taps)")
      Button("Tap") { taps += 1 }
      NavigationLink("Darker", value: Shade(name: "dark " + shade.name))
      Button("Close") { dismiss() }
      Button("Home", action: goHome)
    }
    .navigationTitle(shade.name)
  }
}

private struct DeepScreen: View {
  @State private var path = NavigationPath(["a", "b"].map { Shade(name: $0) })

  var body: some View {
    NavigationStack(path: $path) {
      Text("root").navigationTitle("Colors")
        .navigationDestination(for: Shade.self) { shade in ShadeScreen(shade: shade) { path = .init() } }
    }
  }
}

@MainActor @Suite struct NavigationStackTests {
  @Test func aLinkPushesAndBackReveals() {
    let host = TestHost { ColorsScreen() }
    #expect(
      host.text == """
        Colors
        ▸ Mint                                                     ›
          Pink                                                     ›
          Number                                                   ›
          Nothing                                                  ›
          Deep
        """)
    host.press(.down, .enter)
    #expect(
      host.text == """
        ‹ Colors › Pink
          This is Pink, tapped 0
        ▸ Tap
          Darker                                                   ›
          Close
          Home
        """)
    host.press(.escape)
    #expect(host.focusedLine == "Pink")
    #expect(host.diagnostics == [])
  }

  /// Rule 1 and cases 1 and 4.
  @Test func theRootStays() {
    let host = TestHost { ColorsScreen() }
    let before = host.text
    host.press(.escape, .escape, .left, .backspace)
    host.type("g")
    #expect(host.text == before)
    #expect(!host.text.contains("‹"))
  }

  /// Rule 2.
  @Test func aScreenBeneathKeepsItsState() {
    let host = TestHost { ColorsScreen() }
    host.press(.enter, .enter, .enter, .down)
    #expect(host.text.contains("tapped 2"))
    host.press(.enter)
    #expect(host.text.hasPrefix("‹ Colors › Mint › dark Mint"))
    #expect(host.text.contains("tapped 0"))
    host.press(.escape)
    #expect(host.text.contains("tapped 2"))
    #expect(host.focusedLine == "Darker")
  }

  @Test func deepLinkToRootAndDismiss() {
    let host = TestHost { ColorsScreen() }
    host.press(.down, .down, .down, .down, .enter)
    #expect(host.text.hasPrefix("‹ Colors › a › b › c"))
    host.press(.down, .down, .enter)
    #expect(host.text.hasPrefix("‹ Colors › a › b\n"))
    host.press(.end, .enter)
    #expect(host.text.hasPrefix("Colors"))
  }

  /// Case 4: a deep path that is there from the beginning stays, and back goes through it to the root and no further.
  @Test func aDeepPathAtTheStartIsStable() {
    let host = TestHost { DeepScreen() }
    #expect(host.text.hasPrefix("‹ Colors › a › b\n"))
    host.update()
    host.resize(width: 50, height: 9)
    #expect(host.text.hasPrefix("‹ Colors › a › b\n"))
    host.press(.escape)
    #expect(host.text.hasPrefix("‹ Colors › a\n"))
    host.press(.enter)
    #expect(host.text.contains("This is a, tapped 1"))
    host.press(.escape, .escape)
    host.send(.key(KeyPress(.left)), .key(KeyPress(.backspace)))
    #expect(host.text.hasPrefix("Colors\n"))
    #expect(host.diagnostics == [])
  }

  /// Rule 7, cases 2 and 3.
  @Test func aSecondKeyOfOneReadingCountsOnce() {
    let host = TestHost { ColorsScreen() }
    let enter = InputEvent.key(KeyPress(.enter))
    host.send(enter, enter)
    #expect(host.text.hasPrefix("‹ Colors › Mint\n"))
    host.press(.down, .enter)
    let escape = InputEvent.key(KeyPress(.escape))
    host.send(escape, escape)
    #expect(host.text.hasPrefix("‹ Colors › Mint\n"))
  }
}
