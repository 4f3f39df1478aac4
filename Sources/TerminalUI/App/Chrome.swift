/// The whole screen: the program's views, the line about the other devices below them, and the help above them.
@MainActor
final class Chrome: Element {
  private let content: Element
  private let status: [String]
  /// In the place of all else, if it is asked for.
  private let help: KeyHelp?

  init(_ elements: [Element], modals: [Modal], focus: FocusOrder, statusLine: [String], help: KeyHelp?) {
    let element = elements.count == 1 ? elements[0] : StackElement(.vertical, elements, alignment: .leading, spacing: 0)
    let views = element is ScreenElement ? element : ScrollIfNeededElement(element, focus)
    content = modals.isEmpty ? views : ModalElement(views, modals)
    status = statusLine
    self.help = help
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    if let help { return help.place(in: rect, on: canvas) }
    let lines = min(status.count, max(0, rect.size.height - 1))
    let room = CellRect(origin: rect.origin, size: CellSize(width: rect.size.width, height: rect.size.height - lines))
    canvas.clipped(to: room) { content.place(in: room, on: canvas) }
    for (index, line) in status.suffix(lines).enumerated() {
      let place = CellPosition(column: rect.origin.column, row: room.rows.upperBound + index)
      canvas.write(line, at: place, style: CellStyle(attributes: .dim))
    }
  }
}
