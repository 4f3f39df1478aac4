import Testing

@testable import TerminalUI

/// What a package on top of TerminalUI needs to share a path: a wrapper of its own, identities of its own, and changes
/// that others make.
@MainActor @Suite struct SharedBindingTests {
  /// Stands for the replica of a stack.
  @MainActor final class Replica: ObservableObject {
    private(set) var elements: [NavigationPath.Element] = []
    private(set) var othersChanges = 0
    private(set) var acts: [String] = []

    /// What the program assigned: entries that are known stay, the others are new.
    func assign(_ path: NavigationPath) {
      let known = Set(elements.map(\.id))
      acts += path.elements.filter { !known.contains($0.id) }.map {
        "push \($0.value.typeName ?? "?") \($0.value.json ?? "?")"
      }
      let kept = Set(path.elements.map(\.id))
      acts += elements.filter { !kept.contains($0.id) }.map { "remove \($0.value.json ?? "?")" }
      elements = path.elements
      objectWillChange.send()
    }

    func remote(_ elements: [NavigationPath.Element]) {
      self.elements = elements
      othersChanges += 1
      objectWillChange.send()
    }
  }

  @propertyWrapper
  struct Shared: DynamicProperty {
    @ObservedObject private var replica: Replica
    @Environment(\.statusLine) private var statusLine

    init(_ replica: Replica) { _replica = ObservedObject(wrappedValue: replica) }

    @MainActor var wrappedValue: NavigationPath {
      get { NavigationPath(elements: replica.elements, sharedName: "alice/main") }
      nonmutating set { replica.assign(newValue) }
    }

    @MainActor var projectedValue: Binding<NavigationPath> {
      let replica = replica
      var binding = Binding(
        get: { NavigationPath(elements: replica.elements, sharedName: "alice/main") },
        set: { replica.assign($0) })
      binding.entryIDs = { replica.elements.map(\.id) }
      binding.othersChanges = { replica.othersChanges }
      return binding
    }

    mutating func update() {
      statusLine?.set(
        StatusContent(stack: "alice/main", devices: [.init(name: "laptop", shows: "Mint")], waiting: 2),
        for: "alice/main")
    }
  }

  struct Program: View {
    @Shared var path: NavigationPath

    init(_ replica: Replica) { _path = Shared(replica) }

    var body: some View {
      NavigationStack(path: $path) {
        VStack(alignment: .leading) {
          NavigationLink("Push", value: "a")
          Button("Pop many") { path.removeLast(3) }
        }
        .navigationTitle("Root")
        .navigationDestination(for: String.self) { Page(name: $0) }
      }
    }
  }

  struct Page: View {
    let name: String
    @State private var note = ""
    var body: some View {
      TextField("Note", text: $note)
      Text("page \(name), note \(note)")
      NavigationLink("Next", value: name + name)
      NavigationLink("View") { TextField("In view", text: $note) }
    }
  }

  private func element(_ value: String) -> NavigationPath.Element {
    NavigationPath.Element(id: EntryID(), value: PathValue(name: "Swift.String", json: "\"\(value)\""))
  }

  @Test func ownActionsShowAtOnceAndAreHandedOnEncoded() {
    let replica = Replica()
    let host = TestHost { Program(replica) }
    #expect(host.text.hasSuffix("alice/main · laptop: Mint · connected, 2 waiting"))
    host.press(.enter)
    #expect(host.text.contains("page a"))
    #expect(replica.acts == [#"push Swift.String "a""#])
    host.press(.escape)
    #expect(replica.acts.last == #"remove "a""#)
  }

  @Test func identitySurvivesWhatOthersDo() {
    let replica = Replica()
    let host = TestHost { Program(replica) }
    let (one, two) = (element("x"), element("x"))
    replica.remote([one])
    host.type("mine")
    host.press(.tab)
    // Another entry with the same value comes on top, and one below.
    replica.remote([one, two])
    #expect(!host.text.contains("mine"))
    replica.remote([two, one])
    #expect(host.text.contains("note mine"))
    replica.remote([element("below"), one])
    #expect(host.text.contains("note mine"))
    replica.remote([two])
    #expect(host.text.contains("page x, note") && !host.text.contains("mine"))
  }

  /// An equal value from elsewhere is another entry.
  @Test func equalValuesDoNotInheritState() {
    let replica = Replica()
    let host = TestHost { Program(replica) }
    replica.remote([element("x")])
    host.type("mine")
    host.press(.tab)
    replica.remote([element("x")])
    #expect(!host.text.contains("mine"))
  }

  /// What another device does never moves the focus of what a person is typing in.
  @Test func typingIsNotDisturbed() {
    let replica = Replica()
    let host = TestHost { Program(replica) }
    let one = element("x")
    replica.remote([one])
    host.type("hel")
    replica.remote([one, element("other")])
    #expect(host.text.contains("page x, note hel"))
    #expect(host.text.contains("Another device shows something else"))
    host.type("lo")
    #expect(host.text.contains("page x, note hello"))
    host.press(.escape)
    #expect(host.text.contains("page other"))
    #expect(replica.elements.count == 2)
    host.press(.escape)
    #expect(host.text.contains("page x, note hello"))
    // Without typing, the other screen is shown at once.
    replica.remote([one, element("third")])
    #expect(host.text.contains("page third"))
  }

  @Test func typingInAScreenThatIsClosedEnds() {
    let replica = Replica()
    let host = TestHost { Program(replica) }
    replica.remote([element("x")])
    host.type("hel")
    replica.remote([])
    #expect(host.text.contains("Push"))
  }

  @Test func typingInAPushedViewIsNotDisturbed() {
    let replica = Replica()
    let host = TestHost { Program(replica) }
    let one = element("x")
    replica.remote([one])
    host.press(.tab, .tab, .enter)
    host.type("abc")
    replica.remote([one, element("other")])
    #expect(host.text.contains("abc"))
    host.press(.escape)
    #expect(host.text.contains("page other"))
  }

  /// `removeLast` beyond the count clamps on a shared path.
  @Test func removingTooMany() {
    let replica = Replica()
    let host = TestHost { Program(replica) }
    replica.remote([element("x")])
    replica.remote([])
    host.press(.down, .enter)
    #expect(host.text.contains("Pop many"))
  }

  private struct Typed: View {
    let path: Binding<[String]>
    var body: some View {
      NavigationStack(path: path) {
        Text("root").navigationDestination(for: String.self) { Page(name: $0) }
      }
    }
  }

  @Test func identitiesOfATypedPath() {
    let values = StateBox(["x", "x"], invalidation: Invalidation())
    let ids = StateBox([EntryID(), EntryID()], invalidation: Invalidation())
    var binding = Binding(get: { values.value }, set: { values.value = $0 })
    binding.entryIDs = { ids.value }
    let host = TestHost { Typed(path: binding) }
    host.type("top")
    values.value = ["new", "x"]
    ids.value = [EntryID(), ids.value[1]]
    host.graph.setNeedsUpdate()
    #expect(host.text.contains("note top"))
    ids.value = [ids.value[0], EntryID()]
    host.graph.setNeedsUpdate()
    #expect(!host.text.contains("note top"))
  }
}
