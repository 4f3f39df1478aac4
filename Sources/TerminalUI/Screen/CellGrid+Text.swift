extension CellGrid {
  /// What a person reads, as lines without the blanks at their ends and without the empty lines at the bottom.
  package var text: String { trimmed(lines: (0..<height).map(line)).joined(separator: "\n") }

  /// As `text`, with what isn't plain said below each line: `~ 0-5 bold, 7-9 red`. The columns are those of the screen.
  package var styledText: String {
    let lines = (0..<height).map { row in
      let line = line(row)
      let styles = styles(row)
      return styles.isEmpty ? line : "\(line)\n  ~ \(styles.joined(separator: ", "))"
    }
    return trimmed(lines: lines).joined(separator: "\n")
  }

  private func line(_ row: Int) -> String {
    var line = ""
    for cell in self.row(row) where !cell.isContinuation { line.append(cell.character) }
    while line.last == " " { line.removeLast() }
    return line
  }

  private func styles(_ row: Int) -> [String] {
    var styles: [String] = []
    var start = 0
    for column in 1...max(1, width) where column >= width || self[column, row].style != self[start, row].style {
      if width > 0, self[start, row].style != .plain {
        styles.append("\(start)-\(column - 1) \(self[start, row].style)")
      }
      start = column
    }
    return styles
  }

  private func trimmed(lines: [String]) -> [String] {
    Array(lines[..<(lines.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? 0)])
  }
}
