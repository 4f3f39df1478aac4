/// A screen of a stack with its bar: the way back, the title, and what the program puts there.
@MainActor
final class ScreenElement: Element {
  private let content: Element
  private let info: ScreenInfo
  private let titles: [String?]
  private let stack: StackModel

  init(_ shown: (content: Element, info: ScreenInfo)?, titles: [String?], stack: StackModel, focus: FocusOrder) {
    content = ScrollIfNeededElement(shown?.content ?? Element(), focus)
    info = shown?.info ?? ScreenInfo()
    self.titles = titles
    self.stack = stack
  }

  override func expands(_: Axis) -> Bool { true }

  override func measure(_ proposal: Proposal) -> CellSize {
    let size = content.size(proposal)
    return CellSize(width: proposal.width ?? size.width, height: proposal.height ?? size.height + 1)
  }

  private var showsBack: Bool { stack.canGoBack && !info.hidesBack }

  private var hasBar: Bool {
    !info.hidesBar && (showsBack || titles.contains { $0 != nil } || !info.bar.isEmpty)
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    var room = rect
    func takeTop(_ height: Int) -> CellRect {
      let height = min(height, room.size.height)
      let top = CellRect(origin: room.origin, size: CellSize(width: room.size.width, height: height))
      room = CellRect(
        column: room.origin.column, row: room.origin.row + height, width: room.size.width,
        height: room.size.height - height)
      return top
    }
    let bar = hasBar ? takeTop(1) : nil
    // The bar is read first, though it is known last: it shows how far a list has been scrolled.
    let inside = Canvas(clip: canvas.clip.intersection(rect))
    if let search = info.search { search.place(in: takeTop(1), on: inside) }
    if !info.bottom.isEmpty {
      let element = StackElement(.horizontal, info.bottom, spacing: 2) { _, _ in 0 }
      let height = min(room.size.height, element.size(Proposal(width: room.size.width, height: nil)).height)
      room.size.height -= height
      let place = CellPosition(column: room.origin.column, row: room.rows.upperBound)
      element.place(
        in: CellRect(origin: place, size: CellSize(width: room.size.width, height: height)), on: inside)
    }
    content.place(in: room, on: inside)
    if let bar { placeBar(in: bar, position: inside.scrollPosition, on: canvas) }
    let position = canvas.scrollPosition
    canvas.append(inside, columns: 0, rows: 0)
    // It is shown here and not in an outer bar again.
    if bar != nil { canvas.scrollPosition = position }
  }

  private func placeBar(in rect: CellRect, position: (row: Int, count: Int)?, on canvas: Canvas) {
    let style = CellStyle(attributes: .underline)
    canvas.fill(rect, style: style)
    var right = rect.columns.upperBound
    if let position {
      let text = "\(position.row)/\(position.count)"
      right -= text.displayWidth
      canvas.write(text, at: CellPosition(column: right, row: rect.origin.row), style: style)
      right -= 2
    }
    if !info.bar.isEmpty {
      let items = StackElement(.horizontal, info.bar, spacing: 1) { _, _ in 0 }
      let size = items.size(Proposal(width: max(0, right - rect.origin.column), height: 1))
      right -= size.width
      items.place(in: CellRect(column: right, row: rect.origin.row, width: size.width, height: 1), on: canvas)
      right -= 2
    }
    placeTitles(in: rect, width: max(0, right - rect.origin.column), style, on: canvas)
  }

  /// The titles of the screens below, cut at the left if there is too little room, and the one of this screen.
  private func placeTitles(in rect: CellRect, width: Int, _ style: CellStyle, on canvas: Canvas) {
    var start = rect.origin
    let title = (titles.last ?? nil) ?? ""
    var room = width
    if showsBack {
      var below = "‹ "
      var trail = titles.dropLast().compactMap { $0 }.suffix(8).map { $0 + " › " }.joined()
      let space = max(0, room - 2 - title.displayWidth)
      if trail.displayWidth > space {
        let kept = titles.dropLast().last.flatMap { $0 }.map { "… › \($0) › " } ?? ""
        trail = kept.displayWidth <= space ? kept : ""
      }
      if title.isEmpty, trail.hasSuffix(" › ") { trail.removeLast(3) }
      below += trail
      canvas.write(below, at: start, style: style)
      let back = CellRect(origin: start, size: CellSize(width: below.displayWidth, height: 1))
      canvas.hit(back, Canvas.HitTarget(click: { [weak stack] _ in _ = stack?.goBack() }))
      start.column += below.displayWidth
      room -= below.displayWidth
    }
    canvas.write(
      title.truncated(toWidth: room), at: start, style: CellStyle(attributes: [.bold, .underline]))
  }
}
