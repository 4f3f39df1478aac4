/// Screens one above the other, of which the top one is shown: a root that is always there, and one for each value of
/// the path.
public struct NavigationStack<Data, Root: View>: View {
  private let access: PathAccess?
  private let root: Root

  /// A stack that manages its own path.
  ///
  /// - Parameter root: the screen at the bottom.
  public init(@ViewBuilder root: () -> Root) where Data == NavigationPath {
    access = nil
    self.root = root()
  }

  /// A stack whose path of values of any type is shared with the program.
  ///
  /// - Parameters:
  ///   - path: the values above the root.
  ///   - root: the screen at the bottom.
  public init(path: Binding<NavigationPath>, @ViewBuilder root: () -> Root) where Data == NavigationPath {
    access = PathAccess(path)
    self.root = root()
  }

  /// A stack whose path of values of one type is shared with the program.
  ///
  /// - Parameters:
  ///   - path: the values above the root.
  ///   - root: the screen at the bottom.
  public init(path: Binding<Data>, @ViewBuilder root: () -> Root)
  where Data: MutableCollection & RandomAccessCollection & RangeReplaceableCollection, Data.Element: Hashable {
    access = PathAccess(path)
    self.root = root()
  }
}

extension NavigationStack: PrimitiveView {
  func elements(in context: Context) -> [Element] {
    let stack = context.node.own { StackModel(graph: context.graph) }
    stack.begin(access)
    if context.isShown { context.graph.show(stack) }
    var screens = StackScreens(stack: stack, context: context)
    screens.evaluate(.root, title: nil) { context, key in context.evaluateOne(root, key) }
    for entry in stack.entries { screens.evaluate(entry) }
    var index = 0
    // A pushed view may push another one.
    while index < stack.views.count {
      let view = stack.views[index]
      screens.evaluate(view.id, title: nil, view.content)
      index += 1
    }
    return [ScreenElement(screens.shown, titles: screens.titles, stack: stack, focus: context.focus)]
  }
}

/// What a screen tells about itself while it is evaluated.
@MainActor
final class ScreenInfo {
  var title: String?
  /// Whether the bar isn't to be seen.
  var hidesBar = false
  /// Whether there is no way back from here but the program's own.
  var hidesBack = false
  /// What stands at the right of the bar.
  var bar: [Element] = []
  /// What stands below the content.
  var bottom: [Element] = []
  /// The field of the search.
  var search: Element?
}

/// Evaluates the screens of a stack, in order.
@MainActor
private struct StackScreens {
  let stack: StackModel
  let context: Context
  /// From the root up; nil for a screen without a title.
  var titles: [String?] = []
  var shown: (content: Element, info: ScreenInfo)?

  mutating func evaluate(
    _ screen: ScreenID, title: String?, _ content: (Context, Node.Key) -> Element
  ) {
    let isTop = screen == stack.shownScreen
    let info = ScreenInfo()
    info.title = title
    var inner = context
    inner.isShown = context.isShown && isTop
    if !inner.isShown { inner.focus = FocusOrder() }
    inner.node = context.node.child(.screen(screen), type: Screen.self, in: context)
    if inner.isShown { context.graph.show(inner.node) }
    inner.environment.navigation = stack
    inner.environment.screen = screen
    inner.environment.screenInfo = info
    inner.environment.leaveContainers()
    inner.environment.isPresented = inner.isShown && screen != .root
    if screen != .root {
      inner.environment.dismiss = DismissAction { [weak stack] in stack?.close(screen) }
    }
    let element = content(inner, .body)
    if shown == nil { titles.append(info.title) }
    if isTop { shown = (element, info) }
  }

  mutating func evaluate(_ entry: StackModel.Entry) {
    let screen = ScreenID.entry(entry.id)
    entry.value.resolve()
    guard let value = entry.value.value else { return evaluateUnknown(screen, entry.value) }
    guard let destination = stack.destination(for: type(of: value)) else {
      context.graph.report(
        .valueWithoutDestination(entry.value.shownType, entry.value.place), once: entry.value.shownType)
      return evaluateUnknown(screen, entry.value)
    }
    evaluate(screen, title: nil) { destination.content($0, $1, value) }
  }

  /// A value that no view shows is shown as it is, and can be closed.
  private mutating func evaluateUnknown(_ screen: ScreenID, _ value: PathValue) {
    if let problem = value.problem {
      context.graph.report(.notDecodable(value.shownType, problem), once: value.shownType)
    } else if value.value == nil {
      context.graph.report(.valueWithoutDestination(value.shownType, value.place), once: value.shownType)
    }
    evaluate(screen, title: value.shownType) { context, key in
      context.evaluateOne(UnknownValueView(type: value.shownType, value: value.shownValue), key)
    }
  }
}

/// What stands for a screen in the tree.
private enum Screen {}

/// Shows a value that no view shows.
private struct UnknownValueView: View {
  let type: String
  let value: String

  var body: some View {
    VStack(alignment: .leading) {
      Text("This program has no screen for values of type \(type).")
      Text("")
      Text(value).foregroundStyle(.secondary)
      Spacer()
    }
  }
}

/// Closes a screen. `dismiss()` pops the screen that it was read in, and those above it.
public struct DismissAction {
  private let action: () -> Void

  init(_ action: @escaping () -> Void = {}) { self.action = action }

  /// Closes the screen; does nothing at the root, or if the screen is closed already.
  public func callAsFunction() { action() }
}
