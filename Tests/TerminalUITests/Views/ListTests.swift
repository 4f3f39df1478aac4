import Foundation
import Testing

@testable import TerminalUI

@MainActor @Suite struct ListTests {
  private struct Item: Identifiable, Hashable {
    var id: Int
  }

  @MainActor private final class Model: ObservableObject {
    @Published var items: [Item]
    var made = 0
    init(_ count: Int) { items = (0..<count).map { Item(id: $0) } }
  }

  private struct Rows: View {
    @ObservedObject var model: Model
    var body: some View {
      NavigationStack {
        List(model.items) { Row(id: $0.id, model: model) }
          .navigationTitle("Rows")
          .navigationDestination(for: Int.self) { Text("number \($0)") }
      }
    }
  }

  private struct Row: View {
    let id: Int
    let model: Model
    @State private var visits = 0
    var body: some View {
      model.made += 1
      return NavigationLink("row \(id) \(visits)", value: id).onDisappear { visits += 1 }
    }
  }

  /// Only rows that are seen are made, however many there are.
  @Test(arguments: [1_000, 10_000, 100_000]) func onlyWhatIsSeenIsMade(count: Int) {
    let model = Model(count)
    let host = TestHost(width: 40, height: 11) { Rows(model: model) }
    #expect(host.text.hasPrefix("Rows                              1/\(count)".prefix(30)))
    #expect(model.made <= 12)
    model.made = 0
    host.press(.end)
    #expect(host.focusedLine == "row \(count - 1) 0")
    // A picture makes its rows once; leaving sight changes state, which is a second picture.
    #expect(model.made <= 36)
    model.made = 0
    host.press(.up)
    #expect(model.made <= 24)
    host.press(.enter)
    #expect(host.text.contains("number \(count - 2)"))
  }

  @Test func theFocusIsAlwaysSeen() {
    let model = Model(100)
    let host = TestHost(width: 40, height: 6) { Rows(model: model) }
    for step in 1...12 {
      host.press(.down)
      #expect(host.focusedLine?.hasPrefix("row \(step) ") == true)
    }
    host.press(.pageDown)
    #expect(host.focusedLine?.hasPrefix("row 16 ") == true)
    host.press(.pageUp, .pageUp)
    #expect(host.focusedLine?.hasPrefix("row 8 ") == true)
    host.press(.home)
    #expect(host.focusedLine?.hasPrefix("row 0 ") == true)
    host.type("jjk")
    #expect(host.focusedLine?.hasPrefix("row 1 ") == true)
    host.press(.home, .up)
    #expect(host.focusedLine?.hasPrefix("row 0 ") == true)
  }

  /// What comes and goes elsewhere moves neither the focus nor what is seen.
  @Test func rowsComeAndGo() {
    let model = Model(50)
    let host = TestHost(width: 40, height: 6) { Rows(model: model) }
    for _ in 0..<20 { host.press(.down) }
    let before = host.text.split(separator: "\n").dropFirst()
    model.items.insert(contentsOf: [Item(id: 1000), Item(id: 1001)], at: 0)
    #expect(host.text.split(separator: "\n").dropFirst() == before)
    model.items.removeFirst(10)
    #expect(host.text.split(separator: "\n").dropFirst() == before)
    #expect(host.focusedLine?.hasPrefix("row 20 ") == true)
    model.items.removeAll { $0.id == 20 }
    #expect(host.focusedLine?.hasPrefix("row 21 ") == true)
    model.items = []
    #expect(host.focusedLine == nil)
    model.items = [Item(id: 7)]
    #expect(host.focusedLine?.hasPrefix("row 7 ") == true)
  }

  private struct Counting: View {
    let ids: [Int]
    var body: some View { List(ids, id: \.self) { Cell(id: $0) } }

    struct Cell: View {
      let id: Int
      @State private var count = 0
      var body: some View { Button("cell \(id): \(count)") { count += 1 } }
    }
  }

  @Test func stateOfRowsOutOfSightIsKept() {
    let host = TestHost(width: 40, height: 5) { Counting(ids: Array(0..<300)) }
    host.press(.enter, .enter)
    for _ in 0..<60 { host.press(.pageDown) }
    host.press(.home)
    #expect(host.focusedLine == "cell 0: 2")
  }

  @Test func rowsWithSeveralControls() {
    struct Controls: View {
      @State var text = ""
      @State var count = 0
      var body: some View {
        List {
          HStack {
            Button("minus") { count -= 1 }
            Button("plus") { count += 1 }
            Text("count \(count)")
          }
          HStack {
            Text("Name")
            TextField("name", text: $text)
          }
          Text("typed \(text)")
        }
        Button("After") {}
      }
    }
    let host = TestHost { Controls() }
    host.press(.tab, .enter, .enter)
    #expect(host.text.contains("count 2"))
    host.press(.tab)
    #expect(host.text.contains("▸After◂"))
    host.press(.tab, .down)
    host.type("jk q/?")
    #expect(host.text.contains("typed jk q/?"))
    host.press(.down)
    host.press(.up, .up)
    #expect(host.text.contains("▸ minus"))
  }

  private struct Selecting: View {
    @State var one: Int?
    @State var several: Set<String> = []
    var body: some View {
      List(selection: $one) {
        ForEach(0..<3) { Text("number \($0)") }
        Text("tagged").tag(9)
      }
      .frame(height: 4)
      List(selection: $several) { ForEach(["x", "y"], id: \.self) { Text($0) } }
      Text("one \(one.map(String.init) ?? "none") several \(several.sorted().joined())")
    }
  }

  @Test func selection() {
    let host = TestHost { Selecting() }
    host.press(.down, .enter)
    #expect(host.text.contains("one 1 several"))
    host.press(.down, .down, .enter)
    #expect(host.text.contains("one 9 several"))
    #expect(host.text.contains("✓ tagged") || host.text.contains("▸ tagged"))
    host.press(.tab, .enter, .down, .enter)
    #expect(host.text.hasSuffix("several xy"))
    host.press(.enter)
    #expect(host.text.hasSuffix("several x"))
  }

  private struct Editing: View {
    @State var items = ["a", "b", "c"]
    var body: some View {
      List {
        ForEach(items, id: \.self) { Text($0) }
          .onDelete { offsets in items.remove(atOffsets: offsets) }
          .onMove { source, destination in items.move(fromOffsets: source, toOffset: destination) }
      }
    }
  }

  @Test func rowsAreDeletedAndMoved() {
    let host = TestHost { Editing() }
    host.press(.down, .delete)
    #expect(host.lines == ["a", "> c"])
    host.press(.up, modifiers: .alt)
    #expect(host.lines == ["> c", "a"])
    host.press(.down, modifiers: .alt)
    #expect(host.lines == ["a", "> c"])
  }

  @Test func theMouse() {
    let model = Model(30)
    let host = TestHost(width: 40, height: 6) { Rows(model: model) }
    host.click("row 3")
    #expect(host.text.contains("number 3"))
    host.advance(seconds: 1)
    host.click("‹")
    #expect(host.focusedLine?.hasPrefix("row 3 ") == true)
    let place = CellPosition(column: 5, row: 3)
    host.send(.mouse(MouseEvent(.wheelDown, at: place)))
    host.send(.mouse(MouseEvent(.wheelDown, at: place)))
    #expect(host.text.contains("row 10") && !host.text.contains("row 3 "))
    host.send(.mouse(MouseEvent(.wheelUp, at: place)))
    #expect(host.text.contains("row 3"))
  }

  @Test func bindingsToElements() {
    struct Names: View {
      struct Name: Identifiable {
        var id: Int
        var text: String
      }
      @State var names = [Name(id: 1, text: "Ada"), Name(id: 2, text: "Bob")]
      var body: some View {
        List($names) { $name in TextField("name", text: $name.text) }
        Text(names.map(\.text).joined(separator: ","))
      }
    }
    let host = TestHost { Names() }
    host.type("!")
    host.press(.down)
    host.type("?")
    #expect(host.text.hasSuffix("Ada!,Bob?"))
  }
}

@MainActor @Suite struct ListFocusTests {
  /// Enter does something at once, if anything near the top can be used; a list of texts begins at its first row.
  @Test func theFocusBeginsWhereEnterDoesSomething() {
    let host = TestHost {
      NavigationStack {
        List {
          Text("told")
          Text("told, too")
          NavigationLink("Open") { List(["a", "b"], id: \.self) { Text($0) } }
        }
      }
    }
    #expect(host.focusedLine == "Open")
    host.press(.up, .up)
    #expect(host.focusedLine == "told")
    host.press(.down, .down, .enter)
    #expect(host.focusedLine == "a")
  }
}

@MainActor @Suite struct LazyStackTests {
  @MainActor private final class Log {
    var made = 0
  }

  private struct Cell: View {
    let id: Int
    let log: Log
    var body: some View {
      log.made += 1
      return Button("cell \(id)") {}
    }
  }

  @Test func onlyWhatIsSeenIsMade() {
    let log = Log()
    let host = TestHost(width: 24, height: 6) {
      ScrollView {
        LazyVStack(alignment: .leading) { ForEach(0..<10_000) { Cell(id: $0, log: log) } }
      }
    }
    #expect(host.text == "▸cell 0◂\n[cell 1]\n[cell 2]\n[cell 3]\n[cell 4]\n[cell 5]")
    #expect(log.made <= 7)
    for _ in 0..<7 { host.press(.down) }
    #expect(host.focusedLine == "cell 7")
    host.press(.end)
    #expect(host.text.hasSuffix("▸cell 9999◂"))
    #expect(log.made < 120)
  }

  @Test func spacingAndAlignment() {
    let host = TestHost(width: 12, height: 6) {
      ScrollView { LazyVStack(alignment: .trailing, spacing: 1) { ForEach(0..<9) { Text("row \($0)") } } }
    }
    #expect(host.text == "       row 0\n\n       row 1\n\n       row 2")
    host.press(.end)
    #expect(host.text.hasSuffix("       row 8"))
  }

  /// A list in a scroll view scrolls itself.
  @Test func aListInAScrollView() {
    let log = Log()
    let host = TestHost(width: 24, height: 6) {
      ScrollView { List(0..<10_000) { Cell(id: $0, log: log) } }
    }
    host.press(.down)
    #expect(host.focusedLine == "cell 1" && log.made <= 14)
  }
}

@MainActor @Suite struct RowStructureTests {
  private final class Log {
    var lines: [String] = []
  }

  private struct Rows: View {
    let log: Log
    var body: some View {
      List {
        Section("Numbers") { ForEach(0..<3) { Text("number \($0)") } }
          .onAppear { log.lines.append("section") }
        ForEach(0..<20) { number in Text("row \(number)").onAppear { log.lines.append("row \(number)") } }
          .task {}
        Text("last").onAppear { log.lines.append("last") }
      }
    }
  }

  /// What is told of rows doesn't make one row of them, and is told of those that are seen.
  @Test func modifiersOfSeveralRows() {
    let log = Log()
    let host = TestHost(width: 20, height: 6) { Rows(log: log) }
    #expect(host.lines == ["Numbers", "> number 0", "number 1", "number 2", "row 0", "row 1"])
    #expect(log.lines == ["section", "row 0", "row 1"])
    host.press(.end)
    #expect(log.lines.contains("last") && !log.lines.contains("row 9"))
  }

  private struct Asking: View {
    @State var asked: Int?
    @State var answers = ""
    var body: some View {
      List(0..<5) { number in
        Button("row \(number)") { asked = number }
          .alert("Delete \(number)?", isPresented: Binding(get: { asked == number }, set: { _ in asked = nil })) {
            Button("Yes") { answers += "\(number)" }
            Button("No") {}
          }
      }
      Text("answers \(answers)")
    }
  }

  /// A row is made when it is placed, and may present something then.
  @Test func anAlertOfARow() {
    let host = TestHost(width: 30, height: 10) { Asking() }
    host.press(.down, .down, .enter)
    #expect(host.lines == ["Delete 2?", "> Yes No"])
    host.press(.tab, .enter)
    #expect(host.text.contains("answers") && host.focusedLine == "row 2")
    host.press(.enter, .enter)
    #expect(host.text.contains("answers 2") && host.focusedLine == "row 2")
    host.press(.down, .enter, .escape)
    #expect(host.focusedLine == "row 3")
  }
}
