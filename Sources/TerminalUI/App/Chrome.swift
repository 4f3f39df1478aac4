/// The whole screen: the program's views, the line about the other devices below them, and the help above them.
@MainActor
final class Chrome: Element {
  private let content: Element
  private let status: [String]
  private let showsHelp: Bool

  init(_ elements: [Element], modals: [Modal], focus: FocusOrder, statusLine: [String], showsHelp: Bool) {
    let element = elements.count == 1 ? elements[0] : StackElement(.vertical, elements, alignment: .leading, spacing: 0)
    let views = element is ScreenElement ? element : ScrollIfNeededElement(element, focus)
    content = modals.isEmpty ? views : ModalElement(views, modals)
    status = statusLine
    self.showsHelp = showsHelp
  }

  override func place(in rect: CellRect, on canvas: Canvas) {
    if showsHelp { return Chrome.placeHelp(in: rect, on: canvas) }
    let lines = min(status.count, max(0, rect.size.height - 1))
    let room = CellRect(origin: rect.origin, size: CellSize(width: rect.size.width, height: rect.size.height - lines))
    canvas.clipped(to: room) { content.place(in: room, on: canvas) }
    for (index, line) in status.suffix(lines).enumerated() {
      let place = CellPosition(column: rect.origin.column, row: room.rows.upperBound + index)
      canvas.write(line, at: place, style: CellStyle(attributes: .dim))
    }
  }

  private static let keys = [
    ("↑ ↓  k j", "move"),
    ("Tab  Shift-Tab", "next, previous control"),
    ("Enter  →", "open, press"),
    ("Esc  Backspace  ←", "back"),
    ("g", "to the root"),
    ("PgUp PgDn Home End", "move far"),
    ("/", "search"),
    ("1 to 9", "a tab, where there are tabs"),
    ("Delete", "delete the row, where rows can be"),
    ("Ctrl-L", "draw again"),
    ("?", "this help"),
    ("q  Ctrl-C", "quit"),
  ]

  private static func placeHelp(in rect: CellRect, on canvas: Canvas) {
    var place = rect.origin
    canvas.write("Keys", at: place, style: CellStyle(attributes: [.bold, .underline]))
    place.row += 1
    let width = keys.map { $0.0.displayWidth }.max() ?? 0
    for (key, meaning) in keys {
      canvas.write(key, at: place, style: .plain)
      canvas.write(meaning, at: CellPosition(column: place.column + width + 2, row: place.row), style: .plain)
      place.row += 1
    }
    canvas.write("Any key closes this.", at: place, style: CellStyle(attributes: .dim))
  }
}
