import TerminalUI
import Testing

/// Tabs, each with a stack of its own.
@MainActor @Suite struct TabViewTests {
  private struct Tabbed: View {
    var body: some View {
      TabView {
        Tab("Home", systemImage: "house") {
          NavigationStack {
            List { NavigationLink("Open", value: 7) }
              .navigationTitle("Start")
              .navigationDestination(for: Int.self) { Text("number \($0)") }
          }
        }
        Tab("Notes") { Notes() }
      }
    }
  }

  private struct Notes: View {
    @State private var text = ""
    var body: some View {
      VStack(alignment: .leading) {
        Text("Note: \(text)")
        TextField("Type", text: $text)
      }
    }
  }

  @Test func eachTabKeepsItsState() {
    let host = TestHost(width: 30, height: 6) { Tabbed() }
    #expect(host.text == "Start\n▸ Open                       ›\n\n\n\n[•Home] [Notes]")
    host.press(.enter)
    #expect(host.text.contains("number 7"))
    host.press(.character("2"))
    #expect(host.text.hasPrefix("Note:") && host.text.hasSuffix("[Home] [•Notes]"))
    // In a field a digit is text.
    host.type("a1")
    #expect(host.text.hasPrefix("Note: a1"))
    host.press(.tab, .enter)
    #expect(host.text.contains("number 7") && host.text.hasPrefix("‹ Start"))
    #expect(host.click("Notes"))
    #expect(host.text.hasPrefix("Note: a1"))
    #expect(host.diagnostics == [])
  }

  /// Nothing chosen: the first is shown, whatever it is called, and a tag from outside is nobody's name here.
  @Test func theFirstIsShownAtFirst() {
    let named = TestHost(width: 30, height: 3) {
      TabView {
        Tab("A", value: "a") { Text("first") }
        Tab("B", value: "b") { Text("second") }
      }
    }
    #expect(named.text.hasPrefix("first"))
    named.press(.character("2"))
    #expect(named.text.hasPrefix("second"))
    let tagged = TestHost(width: 30, height: 3) {
      TabView {
        Text("first").tabItem { Text("A") }
        Text("second").tabItem { Text("B") }
      }
      .tag("outside")
    }
    #expect(tagged.text.hasPrefix("first"))
    tagged.press(.character("2"))
    #expect(tagged.text.hasPrefix("second"))
  }

  @Test func aSelectionOfTheProgram() {
    let holder = Holder()
    let host = TestHost(width: 40, height: 5) { Selecting(holder: holder) }
    #expect(host.text.hasPrefix("the cart"))
    host.press(.character("1"))
    #expect(holder.tab == .shop && host.text.hasPrefix("the shop"))
    holder.tab = .cart
    // The line of names is all that can have the focus here.
    #expect(host.text == "the cart\n\n\n\n▸Shop◂ [•Cart]")
    #expect(host.lines == ["the cart", "> Shop • Cart"])
    host.press(.character("3"))
    #expect(holder.tab == .cart)
  }

  private enum Place: Hashable { case shop, cart }

  private final class Holder: ObservableObject { @Published var tab = Place.cart }

  private struct Selecting: View {
    @ObservedObject var holder: Holder
    var body: some View {
      TabView(selection: $holder.tab) {
        Text("the shop").tabItem { Label("Shop", systemImage: "bag") }.tag(Place.shop)
        Text("the cart").tabItem { Text("Cart") }.tag(Place.cart)
      }
    }
  }
}
