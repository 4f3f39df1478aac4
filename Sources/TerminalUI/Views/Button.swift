/// What a button is for.
public enum ButtonRole: Hashable, Sendable {
  /// It destroys something.
  case destructive
  /// It stops what was begun.
  case cancel
}

/// Something to press: with Enter, the space bar or a click.
public struct Button<Label: View>: View {
  private let action: () -> Void
  private let label: Label
  private let role: ButtonRole?

  /// - Parameters:
  ///   - action: what happens.
  ///   - label: what is written on it.
  public init(action: @escaping () -> Void, @ViewBuilder label: () -> Label) {
    self.init(role: nil, action: action, label: label)
  }

  /// - Parameters:
  ///   - role: what it is for.
  ///   - action: what happens.
  ///   - label: what is written on it.
  public init(role: ButtonRole?, action: @escaping () -> Void, @ViewBuilder label: () -> Label) {
    self.action = action
    self.label = label()
    self.role = role
  }
}

extension Button where Label == Text {
  /// - Parameters:
  ///   - title: what is written on it.
  ///   - action: what happens.
  public init(_ title: String, action: @escaping () -> Void) {
    self.init(role: nil, action: action) { Text(title) }
  }

  /// - Parameters:
  ///   - title: what is written on it.
  ///   - action: what happens.
  @_disfavoredOverload
  public init<Title: StringProtocol>(_ title: Title, action: @escaping () -> Void) {
    self.init(role: nil, action: action) { Text(String(title)) }
  }

  /// - Parameters:
  ///   - title: what is written on it.
  ///   - role: what it is for.
  ///   - action: what happens.
  public init(_ title: String, role: ButtonRole?, action: @escaping () -> Void) {
    self.init(role: role, action: action) { Text(title) }
  }
}

extension Button: PrimitiveView {
  func elements(in context: Context) -> [Element] {
    let label = context.evaluateOne(label, .body) { environment in
      if role == .destructive { environment.textStyle = TextStyle(color: .red).over(environment.textStyle) }
    }
    return [ControlElement(label, decoration: .button, action: action, in: context)]
  }
}

/// A view that can have the focus and does something.
@MainActor
final class ControlElement: Element {
  enum Decoration {
    case button
    case link
    /// The label alone.
    case plain
  }

  private let label: Element
  private let decoration: Decoration
  private let isInRow: Bool
  private let focusable: Focusable?
  private let focus: FocusOrder
  private let isEnabled: Bool
  private let setFocus: () -> Void

  /// - Parameter action: nil if the control can't be used.
  init(_ label: Element, decoration: Decoration, action: (() -> Void)?, in context: Context) {
    self.label = label
    self.decoration = decoration
    isInRow = context.environment.isInRow
    isEnabled = context.environment.isEnabled && action != nil
    focus = context.focus
    setFocus = { [weak graph = context.graph, weak node = context.node] in node.map { graph?.setFocus($0) } }
    if let action, isEnabled {
      let afterAction = context.environment.afterAction
      let action = {
        action()
        afterAction?()
      }
      if let shortcut = context.environment.shortcut {
        focus.shortcuts.append(
          KeyAction(press: shortcut.press) {
            action()
            return true
          })
      }
      let focusable = Focusable(context.node)
      focusable.activate = action
      focusable.press = { press in
        guard press == KeyPress(" ") else { return false }
        action()
        return true
      }
      focus.add(focusable)
      self.focusable = focusable
    } else {
      focusable = nil
    }
  }

  /// Does something with keys that the control has a use for, beside Enter and the space bar.
  func press(_ press: @escaping (KeyPress) -> Bool) {
    guard let focusable else { return }
    let own = focusable.press
    focusable.press = { own($0) || press($0) }
  }

  /// What stands before and after the label.
  private var edges: (before: Int, after: Int) {
    switch (decoration, isInRow) {
    case (.button, false): (1, 1)
    case (.link, false): (1, 2)
    case (.link, true): (0, 2)
    case (.button, true), (.plain, _): (0, 0)
    }
  }

  /// In a row, the sign of a link stands at the right.
  override func expands(_ axis: Axis) -> Bool {
    label.expands(axis) || axis == .horizontal && isInRow && decoration == .link
  }

  override func measure(_ proposal: Proposal) -> CellSize {
    let edges = edges
    var offer = proposal
    offer.width = proposal.width.map { max(0, $0 - edges.before - edges.after) }
    let size = label.size(offer)
    let width = size.width + edges.before + edges.after
    return CellSize(
      width: isInRow && decoration == .link ? max(width, proposal.width ?? 0) : width, height: size.height)
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    let edges = edges
    let room = CellRect(
      column: rect.origin.column + edges.before, row: rect.origin.row,
      width: max(0, rect.size.width - edges.before - edges.after), height: rect.size.height)
    let content = CellRect(origin: room.origin, size: label.size(Proposal(room.size)))
    label.place(in: content, on: canvas)
    let isFocused = focusable.map { focus.isFocused($0.node) } ?? false
    let style = CellStyle(attributes: isEnabled ? [] : .dim)
    let end = CellPosition(column: rect.columns.upperBound - 1, row: rect.origin.row)
    switch (decoration, isInRow) {
    case (.button, false):
      canvas.write(isFocused ? "▸" : "[", at: rect.origin, style: style, role: .decoration)
      canvas.write(isFocused ? "◂" : "]", at: end, style: style, role: .decoration)
    case (.link, _):
      if isFocused, !isInRow { canvas.write("▸", at: rect.origin, style: style, role: .decoration) }
      canvas.write("›", at: end, style: style, role: .decoration)
    default: break
    }
    guard let focusable else { return }
    focusable.rect = rect
    if isFocused { canvas.highlight(rect) }
    // A row with one control is clicked as a whole.
    guard !isInRow || focus.items.count > 1 else { return }
    let (activate, setFocus, isInRow) = (focusable.activate, setFocus, isInRow)
    canvas.hit(
      rect,
      Canvas.HitTarget(click: { _ in
        if !isInRow { setFocus() }
        activate()
      }))
  }
}
