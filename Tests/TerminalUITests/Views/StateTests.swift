import Foundation
import Testing

@testable import TerminalUI

@MainActor @Suite struct StateTests {
  private struct Counter: View {
    let name: String
    @State private var count = 0
    var body: some View { Button("\(name) \(count)") { count += 1 } }
  }

  private struct Branches: View {
    @State private var isFirst = true
    var body: some View {
      VStack(alignment: .leading) {
        Button("Switch") { isFirst.toggle() }
        if isFirst { Counter(name: "first") } else { Counter(name: "second") }
      }
    }
  }

  /// Another branch is another view, though the type is the same.
  @Test func stateBelongsToTheBranch() {
    let host = TestHost { Branches() }
    host.press(.down, .enter)
    #expect(host.text.contains("first 1"))
    host.press(.up, .enter)
    #expect(host.text.contains("second 0"))
    host.press(.enter)
    #expect(host.text.contains("first 0"))
  }

  private struct Items: View {
    @State private var items = ["a", "b", "c"]
    var body: some View {
      VStack(alignment: .leading) {
        ForEach(items, id: \.self) { Counter(name: $0) }
        Button("Reverse") { items.reverse() }
        Button("Drop") { items.removeFirst() }
      }
    }
  }

  @Test func stateFollowsTheIdentityOfAnElement() {
    let host = TestHost { Items() }
    host.press(.enter, .down, .enter, .enter)
    #expect(host.text.contains("a 1") && host.text.contains("b 2"))
    host.press(.down, .down, .enter)
    #expect(host.lines.prefix(3) == ["c 0", "b 2", "a 1"])
    host.press(.down, .enter)
    #expect(host.lines.prefix(2) == ["b 2", "a 1"])
  }

  /// One view value that is used twice has two states.
  @Test func twoUsesOfOneValueAreTwoViews() {
    let counter = Counter(name: "x")
    let host = TestHost {
      VStack {
        counter
        counter
      }
    }
    host.press(.enter)
    #expect(host.lines == ["> x 1", "x 0"])
  }

  private struct Identified: View {
    @State private var id = 0
    var body: some View {
      VStack {
        Counter(name: "x").id(id)
        Button("Next") { id += 1 }
      }
    }
  }

  @Test func anotherIdIsAnotherView() {
    let host = TestHost { Identified() }
    host.press(.enter)
    #expect(host.text.contains("x 1"))
    host.press(.down, .enter)
    #expect(host.text.contains("x 0"))
  }

  private struct Parent: View {
    @State private var value = 1
    var body: some View {
      VStack {
        Text("parent \(value)")
        Child(value: $value)
      }
    }

    struct Child: View {
      @Binding var value: Int
      var body: some View { Button("child \(value)") { value += 1 } }
    }
  }

  @Test func aBindingWritesThrough() {
    let host = TestHost { Parent() }
    host.press(.enter)
    #expect(host.lines == ["parent 2", "> child 2"])
  }

  private final class Model: ObservableObject {
    @Published var text = "a"
    @Published var number = 1
    init(_ made: (() -> Void)? = nil) { made?() }
  }

  private struct Owner: View {
    @StateObject private var model: Model
    @State private var tick = 0

    init(made: @escaping () -> Void = {}) { _model = StateObject(wrappedValue: Model(made)) }

    var body: some View {
      VStack {
        TextField("text", text: $model.text)
        Button("tick \(tick)") { tick += 1 }
        Reader().environmentObject(model)
      }
    }

    struct Reader: View {
      @EnvironmentObject var model: Model
      var body: some View { Text("model \(model.text) \(model.number)") }
    }
  }

  @Test func aStateObjectIsMadeOnce() {
    var made = 0
    let host = TestHost { Owner { made += 1 } }
    host.type("b")
    host.press(.tab, .enter, .enter)
    #expect(host.text.contains("tick 2") && host.text.contains("model ab 1"))
    #expect(made == 1)
  }

  @Observable final class Store {
    var read = 0
    var unread = 0
  }

  private struct Observer: View {
    let store: Store
    var body: some View { Text("read \(store.read)") }
  }

  @Test func onlyWhatWasReadEvaluatesAgain() {
    let store = Store()
    let host = TestHost { Observer(store: store) }
    let passes = host.passes
    store.unread = 1
    #expect(!host.update())
    store.read = 1
    #expect(host.update())
    #expect(host.passes == passes + 1)
    #expect(host.text == "read 1")
  }

  private struct Bound: View {
    @Bindable var store: Named
    @Environment(Named.self) private var same
    var body: some View {
      VStack {
        TextField("name", text: $store.name)
        Text("is \(same.name)")
      }
    }
  }

  @Observable final class Named {
    var name = ""
  }

  @Test func bindableAndObjectsInTheEnvironment() {
    let store = Named()
    let host = TestHost { Bound(store: store).environment(store) }
    host.type("Eva")
    #expect(store.name == "Eva")
    #expect(host.text.contains("is Eva"))
  }

  private struct Reader: View {
    @Environment(\.depth) private var depth
    var body: some View { Text("depth \(depth)") }
  }

  @Test func valuesOfTheEnvironment() {
    let host = TestHost {
      VStack {
        Reader()
        Reader().environment(\.depth, 2)
        Reader().transformEnvironment(\.depth) { $0 += 1 }.environment(\.depth, 5)
      }
    }
    #expect(host.lines == ["depth 0", "depth 2", "depth 6"])
  }

  /// A wrapper of a program's own, made of the library's.
  @propertyWrapper
  private struct Doubled: DynamicProperty {
    @State private var base: Int
    @Environment(\.depth) private var depth
    private var seen = 0

    init(wrappedValue: Int) { _base = State(initialValue: wrappedValue) }

    @MainActor var wrappedValue: Int {
      get { base * 2 + seen }
      nonmutating set { base = newValue / 2 }
    }

    mutating func update() { seen = depth }
  }

  private struct UsesDoubled: View {
    @Doubled private var value = 4
    var body: some View { Button("value \(value)") { value = 20 } }
  }

  @Test func aDynamicPropertyOfTheProgramsOwn() {
    let host = TestHost { UsesDoubled().environment(\.depth, 1) }
    #expect(host.lines == ["> value 9"])
    host.press(.enter)
    #expect(host.lines == ["> value 21"])
  }

  private struct Life: View {
    let log: Log
    @State private var isThere = true
    @State private var id = 0
    var body: some View {
      NavigationStack {
        VStack {
          NavigationLink("Push") { Text("pushed").onAppear { log.lines.append("pushed appears") } }
          Button("Toggle") { isThere.toggle() }
          Button("Id") { id += 1 }
          if isThere {
            Text("x")
              .onAppear { log.lines.append("appears") }
              .onDisappear { log.lines.append("disappears") }
              .onChange(of: id) { log.lines.append("changed \($0) to \($1)") }
          }
        }
      }
    }
  }

  private final class Log {
    var lines: [String] = []
  }

  @Test func appearingAndDisappearing() {
    let log = Log()
    let host = TestHost { Life(log: log) }
    #expect(log.lines == ["appears"])
    log.lines = []
    host.press(.enter)
    #expect(log.lines == ["disappears", "pushed appears"])
    log.lines = []
    host.press(.escape)
    #expect(log.lines == ["appears"])
    log.lines = []
    host.press(.down, .enter)
    #expect(log.lines == ["disappears"])
    log.lines = []
    host.press(.enter, .down, .enter)
    #expect(log.lines == ["appears", "changed 0 to 1"])
  }

  private struct WithTask: View {
    let events: AsyncStream<Int>
    let ended: AsyncStream<Void>.Continuation
    @State private var last = 0
    @State private var isThere = true
    var body: some View {
      VStack {
        Button("Remove") { isThere = false }
        if isThere {
          Text("last \(last)").task {
            for await event in events { last = event }
            ended.yield()
          }
        }
      }
    }
  }

  @Test func aTaskRunsWhileItsViewIsThere() async {
    let (events, send) = AsyncStream.makeStream(of: Int.self)
    let (ended, ending) = AsyncStream.makeStream(of: Void.self)
    let host = TestHost { WithTask(events: events, ended: ending) }
    send.yield(7)
    while !host.text.contains("last 7") { await Task.yield() }
    host.press(.enter)
    // Cancelled with its view, the loop over the stream ends.
    var iterator = ended.makeAsyncIterator()
    await iterator.next()
    #expect(!host.text.contains("last"))
  }

  /// What the views hold is let go with them.
  @Test func nothingIsKeptForEver() {
    weak var model: Model?
    weak var graph: AnyObject?
    weak var inner: AnyObject?
    do {
      let host = TestHost {
        NavigationStack {
          List {
            NavigationLink("a", value: 1)
            Owner()
          }
          .navigationDestination(for: Int.self) { Text("\($0)") }
        }
      }
      host.press(.enter, .escape)
      graph = host
      let own = Model()
      let other = TestHost { Held(model: own) }
      _ = other.text
      inner = other.graph
      model = own
    }
    #expect(model == nil)
    #expect(graph == nil && inner == nil)
  }

  private struct Held: View {
    @ObservedObject var model: Model
    var body: some View {
      NavigationStack {
        List { Button(model.text) { model.number += 1 } }
        ScrollView { Text(model.text) }
      }
    }
  }
}

extension EnvironmentValues {
  fileprivate var depth: Int {
    get { self[DepthKey.self] }
    set { self[DepthKey.self] = newValue }
  }
}

private struct DepthKey: EnvironmentKey {
  static let defaultValue = 0
}
