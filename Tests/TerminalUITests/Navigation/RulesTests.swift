import Foundation
import TerminalUI
import Testing

/// The rules of `navigation.md` that go beyond one form, and the cases 1 to 16 that are about one device.
@MainActor @Suite struct RulesTests {
  /// A stack whose path the test changes, as a program does.
  @MainActor final class Model: ObservableObject {
    @Published var path = NavigationPath()
    var appeared: [String] = []
    var made: [String] = []
  }

  private struct Screens: View {
    @ObservedObject var model: Model

    var body: some View {
      NavigationStack(path: $model.path) {
        VStack(alignment: .leading) {
          Text("root")
          NavigationLink("Push", value: "a")
          NavigationLink("View") { Page(name: "view", model: model) }
        }
        .navigationDestination(for: String.self) { Page(name: $0, model: model) }
        .navigationDestination(for: Int.self) { Text("number \($0)") }
        .navigationDestination(for: Int8.self) { Text("small number \($0)") }
        .navigationDestination(for: Shade.self) { Page(name: $0.name, model: model) }
        .navigationDestination(for: Mint.self) { Text("mint \($0.name)") }
      }
    }
  }

  private struct Page: View {
    let name: String
    let model: Model
    @State private var note = ""
    @State private var serial = Int.random(in: 0..<1_000_000_000)

    var body: some View {
      VStack(alignment: .leading) {
        TextField("Note", text: $note)
        Text("page \(name) note \(note) serial \(serial)")
        Button("Twice") {
          model.path.append("b")
          model.path.append("c")
        }
        NavigationLink("Same", value: name)
      }
      .onAppear { model.appeared.append(name) }
    }
  }

  private func serial(_ host: TestHost) -> String { host.text.components(separatedBy: "serial ").last ?? "" }

  /// Rule 3, case 10.
  @Test func typeIsPartOfIdentity() {
    let model = Model()
    let host = TestHost { Screens(model: model) }
    model.path = NavigationPath([1])
    #expect(host.text.contains("number 1"))
    model.path = NavigationPath([Int8(1)])
    #expect(host.text.contains("small number 1"))
    model.path = NavigationPath([Shade(name: "x")])
    host.type("typed")
    #expect(host.text.contains("note typed"))
    model.path = NavigationPath([Mint(name: "x")])
    #expect(host.text.contains("mint x"))
    model.path = NavigationPath([Shade(name: "x")])
    #expect(!host.text.contains("note typed"))
  }

  /// Rule 3, case 9, rule 10.
  @Test func theSameValueTwiceIsTwoEntries() {
    let model = Model()
    let host = TestHost { Screens(model: model) }
    model.path = NavigationPath(["a", "a"])
    host.type("upper")
    #expect(host.text.contains("note upper"))
    host.press(.escape)
    #expect(host.text.contains("page a note ") && !host.text.contains("upper"))
    host.type("lower")
    model.path.append("a")
    #expect(!host.text.contains("lower"))
    model.path.removeLast()
    #expect(host.text.contains("note lower"))
  }

  /// Rule 7, case 7: several pops at once never show the screens between.
  @Test func severalPopsAreOneChange() {
    let model = Model()
    let host = TestHost { Screens(model: model) }
    model.path = NavigationPath(["a", "b", "c", "d"])
    host.update()
    model.appeared = []
    model.path.removeLast(3)
    host.update()
    #expect(model.appeared == ["a"])
  }

  /// Case 6: push, pop, push builds the screen once.
  @Test func pushPopPush() {
    let model = Model()
    let host = TestHost { Screens(model: model) }
    model.path.append("a")
    model.path.removeLast()
    model.path.append("a")
    host.update()
    #expect(model.appeared == ["a"])
  }

  /// Rule 8.
  @Test func assigningAnEqualPathDoesNothing() {
    let model = Model()
    let host = TestHost { Screens(model: model) }
    model.path = NavigationPath(["a", "b"])
    host.type("kept")
    let before = host.text
    model.path = NavigationPath(["a", "b"])
    #expect(host.text == before)
    #expect(model.appeared == ["b"])
  }

  /// Rule 8.
  @Test func aSwapOfTheSameLengthShowsTheNewTop() {
    let model = Model()
    let host = TestHost { Screens(model: model) }
    model.path = NavigationPath(["a", "b"])
    host.type("old")
    model.path = NavigationPath(["a", "c"])
    #expect(host.text.contains("page c note "))
    #expect(!host.text.contains("old"))
  }

  /// Rule 8: assignments from a button's action, several in one turn, and while views are evaluated.
  @Test func anAssignmentIsNeverLost() {
    let model = Model()
    let host = TestHost { Screens(model: model) }
    model.path.append("a")
    host.press(.tab, .enter)
    #expect(model.path.count == 3)
    #expect(host.text.contains("page c"))
    host.press(.escape)
    #expect(host.text.contains("page b"))
  }

  private struct AssignsWhileAppearing: View {
    @State var path: [Int] = []
    var body: some View {
      NavigationStack(path: $path) {
        Text("root")
          .navigationDestination(for: Int.self) { number in
            Text("number \(number)").onAppear { if number < 4 { path.append(number + 1) } }
          }
          .onAppear { path = [1] }
      }
    }
  }

  @Test func anAssignmentWhileAScreenAppears() {
    let host = TestHost { AssignsWhileAppearing() }
    #expect(host.text.contains("number 4"))
    host.press(.escape)
    // The screen beneath appears again, and pushes again.
    #expect(host.text.contains("number 4"))
  }

  /// Rule 9, case 11.
  @Test func entriesComeAndGoBelowTheTop() {
    let model = Model()
    let host = TestHost { Screens(model: model) }
    model.path = NavigationPath(["a", "c"])
    host.type("top")
    let top = serial(host)
    model.path = NavigationPath(["a", "b", "c"])
    #expect(serial(host) == top && host.text.contains("note top"))
    host.press(.escape)
    #expect(host.text.contains("page b"))
    model.path = NavigationPath(["b"])
    #expect(host.text.contains("page b"))
    host.press(.escape)
    #expect(host.text.contains("root"))
  }

  /// Cases 3 and 5: keys that come while a screen changes stop at the root.
  @Test func manyBacks() {
    let model = Model()
    let host = TestHost { Screens(model: model) }
    model.path = NavigationPath((0..<5).map { "\($0)" })
    host.update()
    for _ in 0..<20 { host.press(.escape) }
    #expect(model.path.isEmpty)
    #expect(host.text.contains("root"))
  }

  /// Rule 7: the second use of a link, or of back, before the screen changed.
  @Test func aLinkUsedTwiceBeforeTheScreenChanged() {
    let model = Model()
    let host = TestHost { Screens(model: model) }
    host.press(.enter)
    #expect(model.path.count == 1)
    // The same place is hit twice within a double click's time.
    let second = TestHost { Screens(model: model) }
    model.path = .init()
    second.update()
    second.click(column: 2, row: 1)
    #expect(model.path.count == 1)
    second.click(column: 2, row: 1)
    #expect(model.path.count == 1)
    second.advance(seconds: 1)
    second.click(column: 2, row: 1)
    #expect(model.path.count == 1 && second.text.contains("page a"))
  }

  /// Case 13.
  @Test func aPathThatIsSetBeforeItsDestinations() throws {
    struct Late: View {
      @State var path: NavigationPath
      @State var isReady = false
      var body: some View {
        NavigationStack(path: $path) {
          if isReady {
            Text("root").navigationDestination(for: LateValue.self) { Text("late \($0.id)") }
          } else {
            Text("waiting").onAppear {}
          }
        }
        Button("Ready") { isReady = true }
      }
    }
    struct LateValue: Hashable, Codable { var id: Int }
    let path = NavigationPath([LateValue(id: 3)])
    let host = TestHost { Late(path: path) }
    #expect(host.text.contains("no screen for values of type LateValue"))
    host.press(.enter)
    #expect(host.text.contains("late 3"))
  }

  @Test func aValueThatTheProgramPushesPopsViewsFirst() {
    let model = Model()
    let host = TestHost { Screens(model: model) }
    host.press(.down, .enter)
    #expect(host.text.contains("page view"))
    model.path.append("a")
    #expect(host.text.contains("page a"))
    host.press(.escape)
    #expect(host.text.contains("root"))
  }

  /// A view that was pushed without a value goes with the screen that it was pushed from.
  @Test func pushedViewsGoWithTheirScreen() {
    struct Nested: View {
      @ObservedObject var model: Model
      var body: some View {
        NavigationStack(path: $model.path) {
          Text("root").navigationDestination(for: Int.self) { number in
            VStack {
              Text("number \(number)")
              NavigationLink("View") { NavigationLink("Above") { Text("above \(number)") } }
            }
          }
        }
      }
    }
    let model = Model()
    let host = TestHost { Nested(model: model) }
    model.path = NavigationPath([1, 2])
    host.update()
    host.press(.enter, .enter)
    #expect(host.text.contains("above 2"))
    model.path.removeLast()
    #expect(host.text.contains("number 1"))
    host.press(.enter)
    #expect(host.text.contains("Above"))
    model.path = .init()
    #expect(host.text.contains("root"))
  }
}
