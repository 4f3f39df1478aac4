/// The views with what stands in front of them.
@MainActor
final class ModalElement: Element {
  private let content: Element
  private let modals: [Modal]

  init(_ content: Element, _ modals: [Modal]) {
    self.content = content
    self.modals = modals
  }

  override func expands(_: Axis) -> Bool { true }

  override func place(in rect: CellRect, on canvas: Canvas) {
    guard modals.last?.style != .cover else {
      modals.last?.element.place(in: rect, on: canvas)
      return
    }
    // What is behind is to be seen, and neither heard nor hit.
    let behind = Canvas(clip: rect)
    content.place(in: rect, on: behind)
    for (index, modal) in modals.enumerated() {
      let isLast = index == modals.count - 1
      place(modal, in: rect, on: isLast ? canvas : behind, behind: isLast ? behind : nil)
    }
  }

  private func place(_ modal: Modal, in rect: CellRect, on canvas: Canvas, behind: Canvas?) {
    if let behind { canvas.append(behind.asDecoration, columns: 0, rows: 0) }
    var room = Proposal(width: rect.size.width - 4, height: rect.size.height - 2)
    if modal.style == .alert { room.width = min(60, room.width ?? 0) }
    let size = modal.element.size(room)
    let outer = CellSize(
      width: min(rect.size.width, size.width + 4), height: min(rect.size.height, size.height + 2))
    let box = aligned(outer, in: rect, .center)
    canvas.fill(box, style: .plain)
    let frame = String(repeating: "─", count: max(0, box.size.width - 2))
    let (left, right) = (box.origin.column, box.columns.upperBound - 1)
    func write(_ text: String, _ column: Int, _ row: Int) {
      canvas.write(text, at: CellPosition(column: column, row: row), style: .plain, role: .decoration)
    }
    write("┌\(frame)┐", left, box.origin.row)
    write("└\(frame)┘", left, box.rows.upperBound - 1)
    for row in box.rows.dropFirst().dropLast() {
      write("│", left, row)
      write("│", right, row)
    }
    let inner = CellRect(
      column: left + 2, row: box.origin.row + 1, width: box.size.width - 4, height: box.size.height - 2)
    canvas.clipped(to: inner) { modal.element.place(in: inner, on: canvas) }
  }
}
