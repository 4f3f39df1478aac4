/// Content that may be larger than its room: it moves so that what has the focus is seen.
public struct ScrollView<Content: View>: View {
  private let axes: Axis.Set
  private let content: Content
  private let place: SourcePlace

  /// - Parameters:
  ///   - axes: the directions in which the content may be larger.
  ///   - showsIndicators: has no effect; a terminal has no room for them.
  ///   - content: the views, from top to bottom.
  ///   - file: where it is written, for diagnostics.
  ///   - line: where it is written, for diagnostics.
  ///   - column: where it is written, for diagnostics.
  public init(
    _ axes: Axis.Set = .vertical, showsIndicators: Bool = true, file: String = #fileID, line: UInt = #line,
    column: UInt = #column, @ViewBuilder content: () -> Content
  ) {
    self.axes = axes
    self.content = content()
    place = SourcePlace(file: file, line: line, column: column)
  }
}

extension ScrollView: PrimitiveView {
  func elements(in context: Context) -> [Element] {
    let children = context.evaluate(content, .body) { environment in
      environment.defersRows = false
      environment.isScrolled = axes == .vertical
      environment.lazyContainer = LazyPlace(name: "ScrollView", place: place)
    }
    let element = children.count == 1 ? children[0] : StackElement(.vertical, children, alignment: .leading, spacing: 0)
    return [ScrollElement(element, axes: axes, memory: context.node.own { ScrollMemory() }, in: context)]
  }
}

/// How far content has been moved.
@MainActor
final class ScrollMemory {
  var offset = CellPosition.zero
  /// What had the focus when it was moved last: a person may look elsewhere until it changes.
  weak var focused: Node?
}

/// Content in a room that may be smaller.
@MainActor
final class ScrollElement: Element {
  private let content: Element
  private let axes: Axis.Set
  private let memory: ScrollMemory
  private let focus: FocusOrder
  private let node: Node
  private let changed: () -> Void
  private let hasNothingToUse: Bool
  private var room = CellSize.zero
  private var extent = CellSize.zero
  private var focusable: Focusable?

  init(_ content: Element, axes: Axis.Set, memory: ScrollMemory, in context: Context) {
    self.content = content
    self.axes = axes
    self.memory = memory
    focus = context.focus
    node = context.node
    hasNothingToUse = !context.focus.items.contains { context.node.contains($0.node) }
    changed = { [weak graph = context.graph] in graph?.setNeedsDisplay() }
    super.init()
    // Without anything to use in it, the content has the focus itself, so that keys can move it.
    if context.isShown, hasNothingToUse {
      let focusable = Focusable(context.node, .list)
      focusable.press = { [unowned self] in press($0) }
      focusable.activate = { [unowned self] in _ = scroll(room.height - 1) }
      focus.add(focusable)
      self.focusable = focusable
    }
  }

  override func expands(_ axis: Axis) -> Bool { axes.contains(axis) || content.expands(axis) }

  override func measure(_ proposal: Proposal) -> CellSize {
    if axes == .vertical, content.expands(.vertical), proposal.height != nil { return content.size(proposal) }
    var offer = proposal
    for axis in Axis.allCases where axes.contains(axis) { offer[axis] = nil }
    let size = content.size(offer)
    return CellSize(
      width: axes.contains(.horizontal) ? proposal.width ?? size.width : size.width,
      height: axes.contains(.vertical) ? proposal.height ?? size.height : size.height)
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    room = rect.size
    focusable?.rect = rect
    // A list in it scrolls itself.
    if axes == .vertical, content.expands(.vertical) { return content.place(in: rect, on: canvas) }
    var offer = Proposal(rect.size)
    for axis in Axis.allCases where axes.contains(axis) { offer[axis] = nil }
    extent = content.size(offer)
    let whole = CellRect(
      origin: .zero, size: CellSize(width: max(extent.width, rect.size.width), height: max(extent.height, 1)))
    let inside = Canvas(clip: whole)
    content.place(
      in: CellRect(origin: .zero, size: CellSize(width: whole.size.width, height: extent.height)), on: inside)
    if let current = focus.current, node.contains(current.node), let rect = current.rect,
      memory.focused !== current.node
    {
      memory.focused = current.node
      reveal(rect)
    }
    clampOffset()
    canvas.hit(rect, Canvas.HitTarget(scroll: { [unowned self] in _ = scroll($0) }))
    canvas.clipped(to: rect) {
      canvas.append(
        inside, columns: rect.origin.column - memory.offset.column, rows: rect.origin.row - memory.offset.row)
    }
    for item in focus.items where node.contains(item.node) && item !== focusable {
      item.rect = item.rect.map { inner in
        CellRect(
          column: inner.origin.column + rect.origin.column - memory.offset.column,
          row: inner.origin.row + rect.origin.row - memory.offset.row, width: inner.size.width,
          height: inner.size.height)
      }
    }
    if extent.height > rect.size.height {
      canvas.scrollPosition = (min(extent.height, memory.offset.row + rect.size.height), extent.height)
    }
  }

  private func reveal(_ rect: CellRect) {
    memory.offset.row = max(min(memory.offset.row, rect.origin.row), rect.rows.upperBound - room.height)
    memory.offset.column = max(min(memory.offset.column, rect.origin.column), rect.columns.upperBound - room.width)
  }

  private func clampOffset() {
    memory.offset.row = min(max(0, memory.offset.row), max(0, extent.height - room.height))
    memory.offset.column = min(max(0, memory.offset.column), max(0, extent.width - room.width))
  }

  private func scroll(_ rows: Int) -> Bool {
    let before = memory.offset.row
    memory.offset.row += rows
    clampOffset()
    guard memory.offset.row != before else { return false }
    changed()
    return true
  }

  private func press(_ press: KeyPress) -> Bool {
    switch press.key {
    case .down, .character("j"): return scroll(1)
    case .up, .character("k"): return scroll(-1)
    case .pageDown, .character(" "): return scroll(max(1, room.height - 1))
    case .pageUp: return scroll(-max(1, room.height - 1))
    case .home: return scroll(-extent.height)
    case .end: return scroll(extent.height)
    default: return false
    }
  }
}

/// Content of a screen: where it is larger than the screen, as with a small terminal, it scrolls to what has the focus.
@MainActor
final class ScrollIfNeededElement: WrappedElement {
  private let focus: FocusOrder

  init(_ content: Element, _ focus: FocusOrder) {
    self.focus = focus
    super.init(content)
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    let height =
      content.expands(.vertical) ? rect.size.height : content.size(Proposal(width: rect.size.width, height: nil)).height
    let width = content.expands(.horizontal) ? rect.size.width : content.size(Proposal(rect.size)).width
    guard height > rect.size.height else {
      return content.place(
        in: CellRect(
          origin: rect.origin,
          size: CellSize(
            width: min(width, rect.size.width), height: min(content.size(Proposal(rect.size)).height, rect.size.height))
        ),
        on: canvas)
    }
    let inside = Canvas(clip: CellRect(origin: .zero, size: CellSize(width: rect.size.width, height: height)))
    let unplaced = focus.items.filter { $0.rect == nil }
    content.place(in: inside.clip, on: inside)
    // The line that has the focus is the last item that highlights.
    let line = inside.items.last { $0.role == .focus }?.position.row ?? 0
    let offset = min(max(0, line - rect.size.height / 2), height - rect.size.height)
    canvas.clipped(to: rect) {
      canvas.append(inside, columns: rect.origin.column, rows: rect.origin.row - offset)
    }
    for item in unplaced {
      item.rect?.origin.column += rect.origin.column
      item.rect?.origin.row += rect.origin.row - offset
    }
    canvas.scrollPosition = (min(height, offset + rect.size.height), height)
  }
}
