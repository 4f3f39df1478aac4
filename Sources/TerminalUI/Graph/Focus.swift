/// Something that can have the focus: keys go to it.
@MainActor
final class Focusable {
  enum Kind {
    /// A button, a link.
    case control
    /// Characters are typed into it.
    case text
    /// A list, with a focus of its own among its rows.
    case list
  }

  let node: Node
  let kind: Kind
  /// Where it stands; known when it has been placed.
  var rect: CellRect?
  /// What Enter and a click do. A click tells where.
  var activate: () -> Void = {}
  /// What another key does; false if it does nothing here.
  var press: (KeyPress) -> Bool = { _ in false }
  /// What pasted text does.
  var paste: (String) -> Bool = { _ in false }
  /// For a list: whether the next or the last of its controls, in the row that has its focus, took the focus.
  var advance: (_ steps: Int) -> Bool = { _ in false }
  /// Whether text is being typed: true for a text field, and for a list with one in the row that has its focus.
  var isTyping: () -> Bool
  /// What Esc does in the field of a search, before the focus goes elsewhere.
  var leave: () -> Void = {}
  /// Whether it isn't given the focus before somebody asks for it, as the field of a search.
  var isReserved = false
  /// The name to be announced.
  var label = ""

  init(_ node: Node, _ kind: Kind = .control) {
    self.node = node
    self.kind = kind
    isTyping = { kind == .text }
  }
}

/// What a key does wherever the focus is.
struct KeyAction {
  var press: KeyPress
  /// What the help says that it does; nil: nothing.
  var meaning: String?
  /// False if it has no use for the key.
  var action: () -> Bool
}

/// What can have the focus in one picture, in order.
@MainActor
final class FocusOrder {
  private(set) var items: [Focusable] = []
  /// The node that has the focus; known when all of them are.
  private(set) weak var focused: Node?
  /// What `/` goes to.
  weak var searchField: Node?
  /// What keys do wherever the focus is.
  var shortcuts: [KeyAction] = []

  func add(_ item: Focusable) { items.append(item) }

  func resolve(_ node: Node?) { focused = node }

  func isFocused(_ node: Node) -> Bool { focused === node }

  var current: Focusable? { items.first { $0.node === focused } }

  var index: Int? { items.firstIndex { $0.node === focused } }
}

/// Where the focus was in a screen, kept for when the screen is shown again.
@MainActor
final class FocusMemory {
  weak var node: Node?
  var index = 0
}
