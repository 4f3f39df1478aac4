import Foundation
import TerminalUI
import Testing

/// Every form that `navigation.md` names compiles and does what it says.
@MainActor @Suite struct FormsTests {
  @Test func aStackThatManagesItself() {
    let host = TestHost {
      NavigationStack {
        NavigationLink("One", value: 1)
          .navigationDestination(for: Int.self) { Text("number \($0)") }
      }
    }
    #expect(host.text == "▸One ›")
    host.press(.enter)
    #expect(host.text == "‹\nnumber 1")
    host.press(.escape)
    #expect(host.text == "▸One ›")
  }

  private struct TypedPath: View {
    @State var routes: [Shade] = []
    var body: some View {
      VStack(alignment: .leading) {
        NavigationStack(path: $routes) {
          VStack(alignment: .leading) {
            NavigationLink(value: Shade(name: "red")) { Text("Red").bold() }
            Button("Both") { routes = [Shade(name: "red"), Shade(name: "green")] }
            Button("Append") { routes.append(Shade(name: "blue")) }
          }
          .navigationDestination(for: Shade.self) { Text("shade \($0.name)").navigationTitle($0.name) }
        }
        Text("path: \(routes.map(\.name).joined(separator: ","))")
      }
    }
  }

  @Test func aTypedPath() {
    let host = TestHost { TypedPath() }
    host.press(.enter)
    #expect(host.text.contains("shade red") && host.text.contains("path: red"))
    host.press(.escape, .down, .enter)
    #expect(host.text.contains("‹ red › green") && host.text.contains("path: red,green"))
    host.press(.escape)
    #expect(host.text.contains("shade red") && host.text.hasSuffix("path: red"))
    host.press(.escape)
    #expect(host.focusedLine == "Both")
    host.press(.down, .enter)
    #expect(host.text.contains("shade blue"))
  }

  private struct OtherCollection: View {
    @State var path: ArraySlice<Int> = [5]
    var body: some View {
      NavigationStack(path: $path) {
        Text("root").navigationDestination(for: Int.self) { Text("number \($0)") }
      }
    }
  }

  @Test func anyCollectionIsAPath() {
    let host = TestHost { OtherCollection() }
    #expect(host.text.contains("number 5"))
    host.press(.escape)
    #expect(host.text == "root")
  }

  @Test func viewLinks() {
    let host = TestHost {
      NavigationStack {
        VStack(alignment: .leading) {
          NavigationLink("A", destination: Text("view a"))
          NavigationLink("B") { Text("view b") }
          NavigationLink {
            Text("view c")
          } label: {
            Text("C")
          }
          NavigationLink(destination: Text("view d")) { Text("D") }
        }
      }
    }
    for letter in ["a", "b", "c", "d"] {
      host.press(.enter)
      #expect(host.text == "‹\nview \(letter)")
      host.press(.escape, .down)
    }
  }

  private struct ViewsAndValues: View {
    @State var path = NavigationPath()
    var body: some View {
      VStack(alignment: .leading) {
        NavigationStack(path: $path) {
          NavigationLink("View") {
            VStack {
              Text("a view")
              NavigationLink("Value", value: 3)
            }
          }
          .navigationDestination(for: Int.self) { Text("number \($0)") }
        }
        Text("count \(path.count)")
      }
    }
  }

  /// A view is invisible in the path; pushing a value pops views first.
  @Test func aValuePopsViewsFirst() {
    let host = TestHost { ViewsAndValues() }
    host.press(.enter)
    #expect(host.text.contains("a view") && host.text.hasSuffix("count 0"))
    host.press(.enter)
    #expect(host.text.contains("number 3") && host.text.hasSuffix("count 1"))
    host.press(.escape)
    #expect(host.text.contains("▸View") && host.text.hasSuffix("count 0"))
  }

  @Test func aLinkWithoutAValueIsDisabled() {
    let host = TestHost {
      NavigationStack {
        VStack {
          NavigationLink("None", value: Int?.none)
          NavigationLink("Some", value: Optional(1))
        }
        .navigationDestination(for: Int.self) { Text("number \($0)") }
      }
    }
    #expect(host.focusedLine == "Some")
    host.press(.enter)
    #expect(host.text.contains("number 1"))
  }

  private struct Presented: View {
    @State var isShown = false
    @State var item: Shade?
    var body: some View {
      VStack(alignment: .leading) {
        NavigationStack {
          VStack(alignment: .leading) {
            Button("Flag") { isShown = true }
            Button("Item") { item = Shade(name: "red") }
          }
          .navigationDestination(isPresented: $isShown) {
            VStack {
              Text("by a flag")
              Button("Hide") { isShown = false }
            }
          }
          .navigationDestination(item: $item) { shade in
            VStack {
              Text("item \(shade.name)")
              Button("Other") { item = Shade(name: "green") }
            }
          }
        }
        Text("flag \(isShown), item \(item?.name ?? "nil")")
      }
    }
  }

  @Test func presentedByAFlag() {
    let host = TestHost { Presented() }
    host.press(.enter)
    #expect(host.text.contains("by a flag") && host.text.contains("flag true"))
    host.press(.escape)
    #expect(host.text.contains("▸Flag◂") && host.text.contains("flag false"))
    host.press(.enter, .enter)
    #expect(host.text.contains("▸Flag◂") && host.text.contains("flag false"))
  }

  @Test func presentedByAnItem() {
    let host = TestHost { Presented() }
    host.press(.down, .enter)
    #expect(host.text.contains("item red"))
    host.press(.enter)
    #expect(host.text.contains("item green"))
    host.press(.escape)
    #expect(host.text.contains("▸Item◂") && host.text.contains("item nil"))
  }

  private enum Route: Hashable {
    case list
    case detail(Int)
  }

  private struct Navigator: View {
    @State var routes: [Route] = []
    var body: some View {
      NavigationStack(path: $routes) {
        NavigationLink("List", value: Route.list)
          .navigationDestination(for: Route.self) { route in
            switch route {
            case .list:
              List(0..<3) { NavigationLink("Item \($0)", value: Route.detail($0)) }
            case .detail(let id):
              Text("detail \(id)")
            }
          }
      }
    }
  }

  @Test func theNavigatorPattern() {
    let host = TestHost { Navigator() }
    host.press(.enter, .down, .enter)
    #expect(host.text.contains("detail 1"))
    host.press(.escape)
    #expect(host.focusedLine == "Item 1")
  }

  private struct Dismissing: View {
    @Environment(\.dismiss) var dismiss
    var body: some View { Button("Close") { dismiss() } }
  }

  @Test func dismissPopsTheScreenThatCallsIt() {
    let host = TestHost {
      NavigationStack {
        VStack {
          NavigationLink("Open") { Dismissing() }
          Dismissing()
        }
      }
    }
    host.press(.enter)
    #expect(host.text == "‹\n▸Close◂")
    host.press(.enter)
    #expect(host.text.contains("▸Open"))
    // At the root it does nothing.
    host.press(.down, .enter)
    #expect(host.text.contains("▸Close◂") && host.text.contains("Open"))
  }

  @Observable final class Store {
    var count = 0
  }

  final class Counter: ObservableObject {
    @Published var count = 0
    var silent = 0
  }

  private struct Everything: View {
    let store: Store
    @StateObject private var counter = Counter()
    @Environment(\.isEnabled) private var isEnabled
    @State private var name = ""
    @State private var items = ["a", "b", "c"]

    var body: some View {
      List {
        Section("Counters") {
          Button("store \(store.count)") { store.count += 1 }
          Button("counter \(counter.count)") { counter.count += 1 }
          Child(counter: counter)
          Button("off") {}.disabled(true)
        }
        Section {
          HStack {
            Text("left")
            Spacer()
            Text("right").foregroundStyle(.red)
          }
          Divider()
          TextField("Name", text: $name)
          ForEach(items, id: \.self) { Text($0).bold() }
        } header: {
          Text("Rest")
        } footer: {
          Text("end")
        }
        if name.isEmpty { Text("no name") } else { Text("name \(name)") }
      }
      .searchable(text: $name)
    }

    struct Child: View {
      @ObservedObject var counter: Counter
      var body: some View { Button("child \(counter.count)") { counter.count += 10 } }
    }
  }

  @Test func whatScreensAreMadeOf() {
    let store = Store()
    let host = TestHost(width: 30, height: 20) { Everything(store: store) }
    #expect(
      host.text == """
        /Search
          Counters
        ▸ store 0
          counter 0
          child 0
          off
          Rest
          left                   right
          ────────────────────────────
          Name
          a
          b
          c
          end
          no name
        """)
    host.press(.enter, .down, .enter, .down, .enter)
    #expect(host.text.contains("store 1") && host.text.contains("counter 11") && host.text.contains("child 11"))
    store.count = 41
    host.update()
    #expect(host.text.contains("store 41"))
    host.press(.end, .up, .up, .up, .up)
    host.type("Bo")
    #expect(host.text.contains("name Bo"))
  }
}
