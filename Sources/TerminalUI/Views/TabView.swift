/// Several views of which one is shown, with a line of their names below. Each keeps its state while another is shown, a
/// stack its path.
///
/// The keys `1` to `9` choose one, and so does its name in the line.
public struct TabView<Selection: Hashable, Content: View>: View {
  private let selection: Binding<Selection>?
  private let content: Content

  /// - Parameters:
  ///   - selection: the value of the tab that is shown.
  ///   - content: `Tab`s, or views with `tabItem(_:)` and `tag(_:)` after it.
  public init(selection: Binding<Selection>, @ViewBuilder content: () -> Content) {
    self.selection = selection
    self.content = content()
  }

  /// Tabs of which the first is shown at first.
  ///
  /// - Parameter content: `Tab`s, or views with `tabItem(_:)`.
  public init(@ViewBuilder content: () -> Content) where Selection == Int {
    selection = nil
    self.content = content()
  }
}

/// One of the views of a `TabView`.
public struct Tab<Value: Hashable, Content: View>: View {
  private let title: String
  private let value: Value?
  private let content: Content

  /// - Parameters:
  ///   - title: its name.
  ///   - systemImage: a symbol that a terminal doesn't have.
  ///   - value: what stands for it in the selection.
  ///   - content: the view.
  public init(_ title: String, systemImage: String = "", value: Value, @ViewBuilder content: () -> Content) {
    self.title = title
    self.value = value
    self.content = content()
  }

  /// A tab that stands for itself in no selection.
  ///
  /// - Parameters:
  ///   - title: its name.
  ///   - systemImage: a symbol that a terminal doesn't have.
  ///   - content: the view.
  public init(_ title: String, systemImage: String = "", @ViewBuilder content: () -> Content) where Value == Int {
    self.title = title
    value = nil
    self.content = content()
  }
}

extension View {
  /// The name of the view in a `TabView`.
  public func tabItem<Label: View>(@ViewBuilder _ label: () -> Label) -> some View {
    TabItem(content: self, label: AnyView(label()))
  }
}

extension TabView: PrimitiveView {
  func elements(in context: Context) -> [Element] {
    let own = context.node.own { StateBox(AnyHashable?.none, invalidation: context.graph.invalidation) }
    let tabs = Tabs(selected: selection.map { AnyHashable($0.wrappedValue) } ?? own.value) { [selection] id in
      guard let selection else {
        own.value = id
        return
      }
      if let value = id.base as? Selection { selection.wrappedValue = value }
    }
    // Before the content, which has the keys first.
    if context.isShown { tabs.addKeys(to: context.focus) }
    _ = context.evaluate(content, .index(0)) { environment in
      environment.leaveContainers()
      environment.tabs = tabs
    }
    let bar = context.evaluateOne(TabBar(tabs: tabs), .index(1))
    return [TabsElement(ScrollIfNeededElement(tabs.takeShown() ?? Element(), context.focus), bar)]
  }
}

extension Tab: PrimitiveView {
  func elements(in context: Context) -> [Element] {
    guard let tabs = context.environment.tabs else { return context.evaluate(content, .body) }
    return tabs.take(content, id: value.map { AnyHashable($0) }, label: AnyView(Text(title)), in: context)
  }
}

private struct TabItem<Content: View>: View, PrimitiveView {
  let content: Content
  let label: AnyView

  func elements(in context: Context) -> [Element] {
    guard let tabs = context.environment.tabs else { return context.evaluate(content, .body) }
    return tabs.take(content, id: context.environment.tag, label: label, in: context)
  }
}

/// The views of a `TabView` in one evaluation.
@MainActor
final class Tabs {
  struct Entry {
    var id: AnyHashable
    var label: AnyView
  }

  /// The first that is entered, unless something was chosen.
  private(set) var selected: AnyHashable?
  let select: (AnyHashable) -> Void
  private(set) var entries: [Entry] = []
  /// What is to be seen; nil if nothing stands for the selection.
  private(set) var shown: Element?

  init(selected: AnyHashable?, select: @escaping (AnyHashable) -> Void) {
    self.selected = selected
    self.select = select
  }

  /// Enters a view. All of them are evaluated, as screens beneath others are, since what they remember is theirs.
  func take<Content: View>(_ content: Content, id: AnyHashable?, label: AnyView, in context: Context) -> [Element] {
    let id = id ?? AnyHashable(entries.count)
    selected = selected ?? id
    entries.append(Entry(id: id, label: label))
    var inner = context
    inner.environment.tabs = nil
    inner.environment.tag = nil
    if id != selected || shown != nil {
      inner.isShown = false
      inner.focus = FocusOrder()
      inner.environment.isPresented = false
      inner.environment.screenInfo = ScreenInfo()
    }
    let element = inner.evaluateOne(content, .body)
    if id == selected, shown == nil { shown = element }
    return []
  }

  /// What is to be seen, given away: an element knows the keys, which know the tabs.
  func takeShown() -> Element? {
    defer { shown = nil }
    return shown
  }

  func addKeys(to focus: FocusOrder) {
    for number in 1...9 {
      let press = KeyPress(.character(Character("\(number)")))
      focus.shortcuts.append(
        KeyAction(press: press) { [self] in
          guard number <= entries.count else { return false }
          select(entries[number - 1].id)
          return true
        })
    }
  }
}

/// The names of the tabs.
private struct TabBar: View {
  let tabs: Tabs

  var body: some View {
    HStack {
      ForEach(Array(tabs.entries.enumerated()), id: \.offset) { _, entry in
        Button {
          tabs.select(entry.id)
        } label: {
          HStack(spacing: 0) {
            if entry.id == tabs.selected { Text("•").bold() }
            entry.label
          }
        }
      }
    }
  }
}

/// A view above the line of the tabs' names.
private final class TabsElement: Element {
  private let content: Element
  private let bar: Element

  init(_ content: Element, _ bar: Element) {
    self.content = content
    self.bar = bar
  }

  override func expands(_: Axis) -> Bool { true }

  override func measure(_ proposal: Proposal) -> CellSize {
    let size = content.size(proposal)
    return CellSize(width: proposal.width ?? size.width, height: proposal.height ?? size.height + 1)
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    let lines = min(1, rect.size.height)
    let room = CellSize(width: rect.size.width, height: rect.size.height - lines)
    content.place(in: CellRect(origin: rect.origin, size: room), on: canvas)
    bar.place(
      in: CellRect(
        column: rect.origin.column, row: rect.origin.row + room.height, width: rect.size.width, height: lines),
      on: canvas)
  }
}
