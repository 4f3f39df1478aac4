import Foundation
import Testing

@testable import TerminalUI

@MainActor @Suite struct ControlsTests {
  private struct Settings: View {
    @State var isOn = false
    @State var number = 2
    @State var color = "red"
    @State var size: Int? = 1
    var body: some View {
      Form {
        Toggle("Sound", isOn: $isOn)
        Stepper("Volume \(number)", value: $number, in: 0...3)
        Picker("Color", selection: $color) { ForEach(["red", "green"], id: \.self) { Text($0) } }
        Picker("Size", selection: $size) {
          Text("none").tag(Int?.none)
          Text("small").tag(Optional(1))
          Text("large").tag(Optional(2))
        }
        LabeledContent("Version", value: "1.0")
        Label("Labelled", systemImage: "star")
        ProgressView("Loading", value: 1, total: 4)
      }
    }
  }

  @Test func settings() {
    let host = TestHost(width: 40) { Settings() }
    #expect(
      host.text == """
        ▸ [ ] Sound
          Volume 2 - +
          Color ◂ red ▸
          Size ◂ small ▸
          Version                            1.0
          Labelled
          Loading ██████░░░░░░░░░░░░░░░░░░░ 25 %
        """)
    host.type(" ")
    #expect(host.focusedLine == "[x] Sound")
    host.press(.down, .tab, .enter)
    #expect(host.focusedLine == "Volume 3 - +")
    host.press(.enter)
    #expect(host.focusedLine == "Volume 3 - +")
    host.press(.down, .enter)
    #expect(host.text.contains("◂ green ▸"))
    host.press(.left)
    #expect(host.text.contains("◂ red ▸"))
    host.press(.down, .enter)
    #expect(host.text.contains("◂ large ▸"))
    host.press(.enter)
    #expect(host.text.contains("◂ none ▸"))
  }

  private struct Asking: View {
    @State var isAsking = false
    @State var isSheetShown = false
    @State var answer = "none"
    @State var dismissals = 0
    var body: some View {
      NavigationStack {
        VStack(alignment: .leading) {
          Button("Ask") { isAsking = true }
          Button("Sheet") { isSheetShown = true }
          NavigationLink("Next", value: 1)
          Text("answer \(answer), dismissed \(dismissals)")
        }
        .navigationTitle("Home")
        .navigationDestination(for: Int.self) { Text("number \($0)") }
      }
      .alert("Really?", isPresented: $isAsking) {
        Button("Yes") { answer = "yes" }
        Button("No", role: .cancel) { answer = "no" }
      } message: {
        Text("It can't be undone.")
      }
      .sheet(isPresented: $isSheetShown, onDismiss: count) { Sheet() }
    }

    func count() { dismissals += 1 }

    struct Sheet: View {
      @Environment(\.dismiss) var dismiss
      @State var taps = 0
      var body: some View {
        NavigationStack {
          VStack(alignment: .leading) {
            Button("Tap \(taps)") { taps += 1 }
            NavigationLink("Inside", value: "x")
            Button("Close") { dismiss() }
          }
          .navigationTitle("Sheet")
          .navigationDestination(for: String.self) { Text("inside \($0)") }
        }
      }
    }
  }

  @Test func anAlert() {
    let host = TestHost(width: 40, height: 10) { Asking() }
    host.press(.enter)
    #expect(
      host.text == """
        Home
        [Ask]
        [Sheet] ┌─────────────────────┐
         Next › │ Really?             │
        answer n│ It can't be undone. │
                │                     │
                │ ▸Yes◂  [No]         │
                └─────────────────────┘
        """)
    // Only what is in front is heard.
    #expect(host.lines == ["Really?", "It can't be undone.", "> Yes No"])
    host.press(.tab, .enter)
    #expect(host.text.contains("answer no, dismissed 0"))
    #expect(host.focusedLine == "Ask")
    host.press(.enter, .escape)
    #expect(host.focusedLine == "Ask")
    host.press(.enter)
    host.click("Yes")
    #expect(host.text.contains("answer yes"))
  }

  @Test func aSheetHasAStackOfItsOwn() {
    let host = TestHost(width: 40, height: 12) { Asking() }
    host.press(.down, .enter)
    #expect(host.lines.first == "Sheet")
    host.press(.enter, .enter, .down, .enter)
    #expect(host.lines == ["‹ Sheet", "inside x"])
    host.press(.escape)
    #expect(host.focusedLine == "Inside")
    #expect(host.text.contains("Tap 2"))
    host.press(.down, .enter)
    #expect(host.text.contains("dismissed 1") && host.focusedLine == "Sheet")
    host.press(.enter, .escape)
    #expect(host.text.contains("dismissed 2"))
    #expect(host.diagnostics == [])
  }

  private struct Fields: View {
    enum Field: Hashable { case name, place }
    @FocusState private var field: Field?
    @State var name = ""
    @State var place = ""
    var body: some View {
      VStack(alignment: .leading) {
        TextField("Name", text: $name).focused($field, equals: .name).onSubmit { field = .place }
        TextField("Place", text: $place).focused($field, equals: .place)
        Button("Back") { field = .name }
        Text("\(name)|\(place)|\(field.map { "\($0)" } ?? "none")")
      }
    }
  }

  @Test func theProgramMovesTheFocus() {
    let host = TestHost { Fields() }
    #expect(host.text.contains("||name"))
    host.type("Ada")
    host.press(.enter)
    host.type("Rome")
    #expect(host.text.contains("Ada|Rome|place"))
    host.press(.tab)
    #expect(host.text.contains("Ada|Rome|none"))
    host.press(.enter)
    #expect(host.text.contains("Ada|Rome|name"))
  }

  @Test func toolbarsAndShortcuts() {
    struct Screen: View {
      @State var count = 0
      @State var keys = 0
      @State var text = ""
      var body: some View {
        NavigationStack {
          VStack(alignment: .leading) {
            TextField("Text", text: $text)
            Text("count \(count), keys \(keys)")
          }
          .navigationTitle("Tools")
          .toolbar {
            ToolbarItem(placement: .primaryAction) { Button("Add") { count += 1 }.keyboardShortcut("n") }
            ToolbarItem(placement: .bottomBar) { Button("Clear") { count = 0 }.keyboardShortcut("c", modifiers: []) }
          }
          .onKeyPress("x") {
            keys += 1
            return .handled
          }
        }
      }
    }
    let host = TestHost(width: 30, height: 6) { Screen() }
    #expect(
      host.text == """
        Tools                    [Add]
        Text
        count 0, keys 0


        [Clear]
        """)
    host.send(.key(KeyPress("n", .control)))
    #expect(host.text.contains("count 1"))
    host.type("cx")
    #expect(host.text.contains("cx\ncount 1, keys 0"))
    host.press(.tab)
    host.type("x")
    #expect(host.text.contains("keys 1"))
    host.type("c")
    #expect(host.text.contains("count 0"))
    host.press(.tab)
    #expect(host.text.contains("▸Add◂") || host.text.contains("▸Clear◂"))
  }

  @Test func disclosure() {
    let host = TestHost {
      List {
        DisclosureGroup("More") {
          Text("one")
          Text("two")
        }
        Text("after")
      }
    }
    #expect(host.lines == ["> ▸ More", "after"])
    host.press(.enter)
    #expect(host.lines == ["> ▾ More", "one", "two", "after"])
  }

  @Test func theRoomThatThereIs() {
    struct Room: View {
      var body: some View {
        VStack(alignment: .leading) {
          Text("top")
          GeometryReader { room in Text("\(room.size.width) by \(room.size.height)") }
        }
      }
    }
    let host = TestHost(width: 30, height: 8) { Room() }
    #expect(host.text == "top\n30 by 7")
    host.resize(width: 20, height: 5)
    #expect(host.text == "top\n20 by 4")
  }

  @Test func editingText() {
    struct Editor: View {
      @State var text = "añ👍🏽b"
      var body: some View { TextField("Text", text: $text) }
    }
    let host = TestHost { Editor() }
    #expect(host.cursor == CellPosition(column: 5, row: 0))
    host.press(.backspace, .backspace)
    #expect(host.text == "añ")
    host.press(.left)
    host.type("日")
    #expect(host.text == "a日ñ" && host.cursor == CellPosition(column: 3, row: 0))
    // A mark joins the character before it.
    host.type("\u{301}")
    host.press(.home, .delete)
    #expect(host.text == "日\u{301}ñ")
    host.press(.end)
    host.type(" two words")
    host.send(.key(KeyPress("w", .control)))
    #expect(host.text == "日\u{301}ñ two")
    host.send(.key(KeyPress("u", .control)))
    #expect(host.text == "Text")
    host.send(.paste("pa\nsted q"))
    #expect(host.text == "pa sted q" && !host.isFinished)
    host.press(.backspace, modifiers: .alt)
    #expect(host.text == "pa sted")
  }

  @Test func aLongTextScrollsInItsField() {
    struct Editor: View {
      @State var text = "0123456789"
      var body: some View { TextField("Text", text: $text).frame(width: 6) }
    }
    let host = TestHost { Editor() }
    #expect(host.text == "56789")
    host.press(.home)
    #expect(host.text == "012345")
  }

  @Test func keysOfTheProgram() {
    let host = TestHost(height: 20) { Text("x") }
    host.type("?")
    #expect(host.text.contains("Any key closes this."))
    host.type("q")
    #expect(host.text == "x" && !host.isFinished)
    host.type("q")
    #expect(host.isFinished)
    let other = TestHost { Text("x") }
    other.send(.key(KeyPress("c", .control)))
    #expect(other.isFinished)
  }

  /// Both encodings of Shift-Tab are one key by the time they come here: case 25.
  @Test func tabGoesRound() {
    let host = TestHost {
      VStack {
        Button("one") {}
        Button("two") {}.disabled(true)
        Button("three") {}
      }
    }
    #expect(host.focusedLine == "one")
    host.press(.tab)
    #expect(host.focusedLine == "three")
    host.press(.tab)
    #expect(host.focusedLine == "one")
    host.press(.tab, modifiers: .shift)
    #expect(host.focusedLine == "three")
  }

  /// Case 20.
  @Test func aLinkWaitsForTheFirstViewThatWantsIt() throws {
    struct Opening: View {
      @State var isReady = false
      @State var opened: [String] = []
      var body: some View {
        if isReady {
          Text("opened \(opened.joined(separator: " "))").onOpenURL { opened.append($0.lastPathComponent) }
        } else {
          Button("Ready") { isReady = true }
        }
      }
    }
    let host = TestHost { Opening() }
    host.open(try #require(URL(string: "myapp://shop/early")))
    host.press(.enter)
    #expect(host.text == "opened early")
    host.open(try #require(URL(string: "myapp://shop/late")))
    #expect(host.text == "opened early late")
  }

  @Test func announcementsLastUntilTheNextKey() {
    let host = TestHost(width: 40, height: 4) { Text("x") }
    host.statusLine.announce("laptop went back")
    #expect(host.text == "x\n\n\nlaptop went back")
    host.statusLine.announce("phone opened Mint")
    host.statusLine.announce("Another one")
    #expect(host.text == "x\n\nphone opened Mint\nAnother one")
    host.press(.up)
    #expect(host.text == "x")
    // What is long is wrapped, and cut after three lines.
    host.resize(width: 12, height: 6)
    host.statusLine.announce("one two three four five six seven eight nine ten")
    #expect(host.text == "x\n\n\none two\nthree four\nfive six …")
    host.resize(width: 40, height: 4)
    host.press(.up)
    host.statusLine.set(
      StatusContent(stack: "alice/main", connection: .offline, waiting: 3, conflicts: 1), for: 1)
    #expect(host.text == "x\n\n\nalice/main · offline, 3 waiting · 1 con…")
    host.statusLine.set(nil, for: 1)
    #expect(host.text == "x")
  }
}

@MainActor @Suite struct AnnouncementTests {
  /// Where lines are printed an announcement is one, and not a part of the screen too.
  @Test func announcementsAreSaidOnceWhereThereIsNoScreen() {
    let host = TestHost { Text("x") }
    host.graph.statusLine.announcesAside = true
    host.statusLine.announce("laptop went back")
    #expect(host.update())
    #expect(host.lines == ["x"])
    #expect(host.graph.statusLine.takeUnread() == ["laptop went back"])
  }
}

@MainActor @Suite struct SmallControlsTests {
  private struct Menus: View {
    @State var chosen = "none"
    @State var value = 0.5
    @State var opened = ""
    var body: some View {
      VStack(alignment: .leading) {
        Menu("Sort") {
          Button("By name") { chosen = "name" }
          Button("By date") { chosen = "date" }
        }
        Slider(value: $value, in: 0...1, step: 0.25).frame(width: 20)
        Link("Open", destination: URL(string: "myapp://x/there")!)
        Text("\(chosen) \(value) \(opened)")
      }
      .onOpenURL { opened = $0.lastPathComponent }
    }
  }

  @Test func menusSlidersLinks() {
    let host = TestHost(width: 40, height: 10) { Menus() }
    host.press(.enter)
    #expect(host.lines == ["> By name", "By date"])
    host.press(.down, .enter)
    #expect(host.text.contains("date 0.5") && host.focusedLine == "Sort ▾")
    host.press(.down, .right, .right, .right)
    #expect(host.text.contains("date 1.0"))
    host.press(.left)
    #expect(host.text.contains("date 0.75"))
    host.press(.down, .enter)
    #expect(host.text.contains("there"))
  }

  @Test func whatIsReadInstead() {
    let host = TestHost(width: 30, height: 5) {
      VStack(alignment: .leading) {
        HStack {
          Text("★★★☆☆").accessibilityLabel("three stars of five")
          Text("Aspen")
        }
        Text("~~~").accessibilityHidden(true)
        Button("×") {}.accessibilityLabel("Close")
      }
    }
    #expect(host.text == "★★★☆☆ Aspen\n~~~\n▸×◂")
    #expect(host.lines == ["three stars of five Aspen", "> Close"])
  }

  @Test func whatATerminalDoesNotHaveCompiles() {
    struct Ported: View {
      @State var isOn = false
      var body: some View {
        List {
          Button("Toggle") { withAnimation { isOn.toggle() } }.buttonStyle(.bordered)
          if isOn { Text("on") }
        }
        .listStyle(.plain)
        .animation(.default, value: isOn)
        .navigationBarTitleDisplayMode(.inline)
      }
    }
    let host = TestHost { Ported() }
    host.press(.enter)
    #expect(host.text.contains("on"))
  }

  @Test func refreshing() async {
    let (refreshed, done) = AsyncStream.makeStream(of: Void.self)
    let host = TestHost { Text("x").refreshable { done.yield() } }
    host.type("r")
    var iterator = refreshed.makeAsyncIterator()
    #expect(await iterator.next() != nil)
  }
}
