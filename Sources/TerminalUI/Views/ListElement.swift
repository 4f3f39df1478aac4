/// What a list remembers from one evaluation to the next.
@MainActor
final class ListMemory {
  /// A row, found again when others come and go.
  struct Place {
    /// The serial number of the node that stands for it and those around it.
    var node: Int
    var id: AnyHashable
    /// Where it stood.
    var index: Int
  }

  /// The row that has the list's focus.
  var focused: Place?
  /// The row at the top.
  var top: Place?
  /// Which of the controls in the row has the focus.
  var control = 0
  /// How many rows were seen.
  var visible = 1
}

/// The rows of a list that are seen.
@MainActor
final class ListElement: Element {
  /// How the rows look.
  struct Style {
    /// Columns before each row, for the mark of the one with the focus.
    var gutter: Int
    /// Empty lines below each row.
    var spacing: Int
    /// Where narrow rows stand.
    var alignment: HorizontalAlignment

    static let list = Style(gutter: 2, spacing: 0, alignment: .leading)
  }

  private let style: Style
  private let parts: [RowsElement]
  /// The index of each part's first row, and the number of all rows.
  private let starts: [Int]
  private let count: Int
  private let memory: ListMemory
  private let selection: ListSelection?
  private let context: Context
  /// Rows that were made for this picture.
  private var made: [Int: RowsElement.Row] = [:]

  init(
    _ parts: [RowsElement], style: Style = .list, memory: ListMemory, selection: ListSelection? = nil,
    in context: Context
  ) {
    self.style = style
    self.parts = parts
    var starts: [Int] = []
    var count = 0
    for part in parts {
      starts.append(count)
      count += part.count
    }
    self.starts = starts
    self.count = count
    self.memory = memory
    self.selection = selection
    self.context = context
  }

  override func expands(_: Axis) -> Bool { true }

  override func measure(_ proposal: Proposal) -> CellSize {
    let width =
      proposal.width ?? (0..<count).map { row($0).element.size(.unlimited).width }.max().map { $0 + style.gutter } ?? 0
    let height = proposal.height ?? (0..<count).reduce(0) { $0 + self.height($1, width) }
    return CellSize(width: width, height: height)
  }

  // MARK: Rows

  private func find(_ index: Int) -> (part: RowsElement, index: Int) {
    var part = 0
    while part + 1 < starts.count, starts[part + 1] <= index { part += 1 }
    return (parts[part], index - starts[part])
  }

  private func row(_ index: Int) -> RowsElement.Row {
    if let row = made[index] { return row }
    let (part, inner) = find(index)
    let row = part.row(inner)
    made[index] = row
    return row
  }

  private func height(_ index: Int, _ width: Int) -> Int {
    max(1, row(index).element.size(Proposal(width: max(0, width - style.gutter), height: nil)).height)
      + (index < count - 1 ? style.spacing : 0)
  }

  private func isRow(_ index: Int) -> Bool { find(index).part.kind == .row }

  private func place(_ index: Int) -> ListMemory.Place {
    let (part, inner) = find(index)
    return ListMemory.Place(node: part.node.serial, id: part.id(inner), index: index)
  }

  /// Where a row stands now; nil if it is gone.
  private func index(of place: ListMemory.Place) -> Int? {
    if place.index < count {
      let (part, inner) = find(place.index)
      if part.node.serial == place.node, part.id(inner) == place.id { return place.index }
    }
    for (part, start) in zip(parts, starts) where part.node.serial == place.node {
      for inner in 0..<part.count where part.id(inner) == place.id { return start + inner }
    }
    return nil
  }

  /// The nearest row that can have the focus, looking in a direction first.
  private func nearestRow(to index: Int, step: Int = 1) -> Int? {
    var next = index
    while next >= 0, next < count {
      if isRow(next) { return next }
      next += step
    }
    next = index - step
    while next >= 0, next < count {
      if isRow(next) { return next }
      next -= step
    }
    return nil
  }

  // MARK: Focus

  /// Finds the row with the focus again and enters the list among what can have the focus.
  func register() {
    settleFocus()
    guard memory.focused != nil else { return }
    let focusable = Focusable(context.node, .list)
    focusable.press = { [unowned self] in press($0) }
    focusable.activate = { [unowned self] in activate() }
    focusable.paste = { [unowned self] in control?.paste($0) ?? false }
    focusable.advance = { [unowned self] in advance($0) }
    focusable.isTyping = { [unowned self] in control?.isTyping() ?? false }
    context.focus.add(focusable)
    self.focusable = focusable
  }

  private var focusable: Focusable?

  /// Beneath the screen that is shown only the row with the focus is made: what was pushed from it goes on changing
  /// with it.
  func makeFocusedRow() {
    settleFocus()
    if let focused = memory.focused { _ = row(focused.index) }
  }

  private func settleFocus() {
    guard count > 0 else {
      memory.focused = nil
      return
    }
    let before = memory.focused
    let start = before.flatMap { index(of: $0) } ?? before?.index ?? firstOfUse()
    memory.focused = nearestRow(to: min(start, count - 1)).map { place($0) }
    if before?.id != memory.focused?.id { memory.control = 0 }
  }

  /// Where the focus is at first: where Enter does something, if that is near the top, else the first row.
  private func firstOfUse() -> Int {
    guard selection == nil else { return 0 }
    return (0..<min(count, 6)).first { isRow($0) && !row($0).focus.items.isEmpty } ?? 0
  }

  private var control: Focusable? {
    guard let focused = memory.focused, focused.index < count else { return nil }
    let items = row(focused.index).focus.items
    return items.isEmpty ? nil : items[min(memory.control, items.count - 1)]
  }

  private func activate() {
    if let focused = memory.focused { choose(focused.index) }
    control?.activate()
  }

  private func choose(_ index: Int) {
    let (part, inner) = find(index)
    selection?.choose(row(index).tag ?? part.id(inner))
  }

  private func advance(_ steps: Int) -> Bool {
    guard let focused = memory.focused else { return false }
    let next = memory.control + steps
    guard next >= 0, next < row(focused.index).focus.items.count else { return false }
    memory.control = next
    context.graph.setNeedsDisplay()
    return true
  }

  private func press(_ press: KeyPress) -> Bool {
    if let control, control.press(press) { return true }
    guard let focused = memory.focused?.index else { return false }
    if press.modifiers == .alt { return moveRow(press.key, focused) }
    let isTyping = control?.isTyping() ?? false
    switch press.key {
    case .down: return move(to: focused + 1, step: 1)
    case .up: return move(to: focused - 1, step: -1)
    case .pageDown: return move(to: min(count - 1, focused + max(1, memory.visible - 1)), step: 1)
    case .pageUp: return move(to: max(0, focused - max(1, memory.visible - 1)), step: -1)
    case .character("j") where !isTyping: return move(to: focused + 1, step: 1)
    case .character("k") where !isTyping: return move(to: focused - 1, step: -1)
    case .home where !isTyping: return jump(to: 0, step: 1)
    case .end where !isTyping: return jump(to: count - 1, step: -1)
    case .delete where !isTyping:
      let (part, inner) = find(focused)
      part.delete?(inner)
      return part.delete != nil
    default: return false
    }
  }

  private func move(to index: Int, step: Int) -> Bool {
    guard index >= 0, index < count, let row = nearestRow(to: index, step: step), row != memory.focused?.index else {
      // Above the first row there may be a header to be seen.
      if index < 0 || step < 0, memory.top?.index != 0 {
        memory.top = place(0)
        context.graph.setNeedsDisplay()
      }
      return false
    }
    if let focused = memory.focused?.index, (row - focused).signum() != step { return false }
    return jump(to: row, step: step)
  }

  private func jump(to index: Int, step: Int) -> Bool {
    guard let row = nearestRow(to: index, step: step) else { return false }
    memory.focused = place(row)
    memory.control = 0
    context.graph.setNeedsDisplay()
    return true
  }

  private func moveRow(_ key: KeyPress.Key, _ focused: Int) -> Bool {
    let (part, inner) = find(focused)
    guard let move = part.move else { return false }
    switch key {
    case .up where inner > 0: move(inner, inner - 1)
    case .down where inner + 1 < part.count: move(inner, inner + 2)
    default: return false
    }
    return true
  }

  private func click(_ index: Int) {
    guard isRow(index) else { return }
    memory.focused = place(index)
    memory.control = 0
    context.graph.setFocus(context.node)
    activate()
  }

  private func scroll(_ steps: Int) {
    guard let top = memory.top?.index else { return }
    let new = min(max(0, top + steps), max(0, count - memory.visible))
    memory.top = place(new)
    if let focused = memory.focused?.index {
      let seen = min(max(focused, new), min(count - 1, new + max(0, memory.visible - 1)))
      if seen != focused, let row = nearestRow(to: seen, step: steps > 0 ? 1 : -1) { memory.focused = place(row) }
    }
    context.graph.setNeedsDisplay()
  }

  // MARK: Placing

  override func place(in rect: CellRect, on canvas: Canvas) {
    guard count > 0, !rect.isEmpty else { return }
    focusable?.rect = rect
    canvas.hit(rect, Canvas.HitTarget(scroll: { [unowned self] in scroll($0) }))
    let top = settleTop(rect.size)
    memory.top = place(top)
    let hasFocus = context.focus.isFocused(context.node)
    canvas.clipped(to: rect) {
      var line = rect.origin.row
      var index = top
      while index < count, line < rect.rows.upperBound {
        let height = height(index, rect.size.width)
        let room = CellRect(column: rect.origin.column, row: line, width: rect.size.width, height: height)
        placeRow(index, in: room, hasFocus: hasFocus && memory.focused?.index == index, on: canvas)
        line += height
        index += 1
      }
      memory.visible = index - top
    }
    if memory.visible < count {
      canvas.scrollPosition = ((memory.focused?.index ?? top) + 1, count)
    }
  }

  private func placeRow(_ index: Int, in rect: CellRect, hasFocus: Bool, on canvas: Canvas) {
    let row = row(index)
    var content = CellRect(
      column: rect.origin.column + style.gutter, row: rect.origin.row, width: max(0, rect.size.width - style.gutter),
      height: max(1, rect.size.height - (index < count - 1 ? style.spacing : 0)))
    if style.gutter == 0 {
      let width = min(content.size.width, row.element.size(Proposal(width: content.size.width, height: nil)).width)
      content.origin.column += style.alignment.offset(of: width, in: content.size.width)
      content.size.width = width
    }
    if isRow(index) {
      canvas.hit(rect, Canvas.HitTarget(click: { [unowned self] _ in click(index) }))
    }
    let items = row.focus.items
    // A list shows the focus of a row's only button by the row itself.
    let showsControl = items.count > 1 || items.first?.kind == .text || style.gutter == 0 && !items.isEmpty
    if hasFocus, showsControl { row.focus.resolve(items[min(memory.control, items.count - 1)].node) }
    row.element.place(in: content, on: canvas)
    if hasFocus, style.gutter == 0 {
      if !showsControl { canvas.highlight(content) }
    } else if hasFocus {
      canvas.write("▸", at: rect.origin, style: CellStyle(attributes: .bold), role: .decoration)
      if !showsControl {
        canvas.highlight(rect)
        focusable?.label = items.first?.label ?? ""
      } else {
        canvas.highlight(CellRect(origin: rect.origin, size: CellSize(width: 1, height: 1)))
      }
    } else if let selection, isRow(index) {
      let (part, inner) = find(index)
      if selection.contains(row.tag ?? part.id(inner)) {
        canvas.write("✓", at: rect.origin, style: CellStyle(attributes: .bold))
      }
    }
  }

  /// The row at the top, such that the one with the focus is seen and no room is left below the last one.
  private func settleTop(_ size: CellSize) -> Int {
    var top = memory.top.flatMap { index(of: $0) } ?? min(memory.top?.index ?? 0, count - 1)
    if let focused = memory.focused?.index {
      if focused <= top {
        top = focused
        // The headers above it are seen with it.
        while top > 0, !isRow(top - 1) { top -= 1 }
      }
      // Going up from the row with the focus, as far as there is room.
      var room = size.height - height(focused, size.width)
      var first = focused
      while first > top, room > 0 {
        let next = height(first - 1, size.width)
        guard next <= room else { break }
        room -= next
        first -= 1
      }
      top = max(top, first)
    }
    var room = size.height
    var end = top
    while end < count, room > 0 {
      room -= height(end, size.width)
      end += 1
    }
    while top > 0, room > 0 {
      let next = height(top - 1, size.width)
      guard next <= room else { break }
      room -= next
      top -= 1
    }
    return top
  }
}
