/// What a screen shows, cell by cell: a pure value.
///
/// No half of a wide character stands alone: what is written over one half leaves a blank in the other. Anything outside
/// of the grid or of the clip is left out, so no position is wrong.
package struct CellGrid: Hashable, Sendable {
  package let size: CellSize
  /// Row by row from the top.
  package private(set) var cells: [Cell]

  /// A grid of blanks.
  package init(size: CellSize, style: CellStyle = .plain) {
    self.size = size
    cells = Array(repeating: Cell(blank: style), count: size.width * size.height)
  }

  package init(width: Int, height: Int) {
    self.init(size: CellSize(width: width, height: height))
  }

  package var width: Int { size.width }
  package var height: Int { size.height }
  package var bounds: CellRect { CellRect(origin: .zero, size: size) }

  /// The cell at a position that lies in the grid.
  package subscript(column: Int, row: Int) -> Cell { cells[row * size.width + column] }

  /// The cells of a row that lies in the grid.
  package func row(_ row: Int) -> ArraySlice<Cell> { cells[row * size.width..<(row + 1) * size.width] }

  /// Writes one line of text. Control characters are shown as visible signs, a wide character of which the clip or the
  /// edge leaves half is a blank there.
  ///
  /// - Returns: the columns that the whole text takes, those outside of the clip too.
  @discardableResult
  package mutating func write(
    _ text: some StringProtocol, at position: CellPosition, style: CellStyle = .plain, clip: CellRect? = nil
  ) -> Int {
    let clip = clip?.intersection(bounds) ?? bounds
    let columns = clip.columns
    let isVisible = clip.rows.contains(position.row)
    var column = position.column
    forEachGlyph(of: text) { glyph in
      defer { column += glyph.width }
      guard isVisible, column < columns.upperBound, column + glyph.width > columns.lowerBound else { return }
      if column >= columns.lowerBound, column + glyph.width <= columns.upperBound {
        put(glyph, column: column, row: position.row, style: style)
      } else {
        for column in (column..<column + glyph.width).clamped(to: columns) {
          put(.blank, column: column, row: position.row, style: style)
        }
      }
    }
    return column - position.column
  }

  /// Makes all cells of a part of the screen blanks of that style.
  package mutating func fill(_ rect: CellRect, style: CellStyle = .plain) {
    let rect = rect.intersection(bounds)
    for row in rect.rows {
      for column in rect.columns { put(.blank, column: column, row: row, style: style) }
    }
  }

  /// Changes how a part of the screen looks and keeps its text. A wide character changes with its left half.
  package mutating func restyle(_ rect: CellRect, _ change: (inout CellStyle) -> Void) {
    let rect = rect.intersection(bounds)
    for row in rect.rows {
      for column in rect.columns {
        let index = row * width + column
        guard !cells[index].isContinuation else { continue }
        change(&cells[index].style)
        if cells[index].isWide { cells[index + 1].style = cells[index].style }
      }
    }
  }

  /// Copies all of another grid to a place in this one.
  package mutating func copy(_ other: CellGrid, at position: CellPosition, clip: CellRect? = nil) {
    let clip = (clip?.intersection(bounds) ?? bounds).intersection(CellRect(origin: position, size: other.size))
    for row in clip.rows {
      for column in clip.columns {
        let cell = other[column - position.column, row - position.row]
        // A half that the clip leaves alone is a blank.
        let isWhole =
          cell.isWide && column + 1 < clip.columns.upperBound || cell.isContinuation && column > clip.columns.lowerBound
        let index = row * width + column
        if cell.width == 1 || isWhole {
          if !cell.isContinuation { makeRoom(at: index) }
          if cell.isWide { makeRoom(at: index + 1) }
          cells[index] = cell
        } else {
          makeRoom(at: index)
          cells[index] = Cell(blank: cell.style)
        }
      }
    }
  }

  /// Cells of a run as they are; they hold no half of a wide character.
  mutating func replaceCells(_ start: Int, with new: ArraySlice<Cell>) {
    cells.replaceSubrange(start..<start + new.count, with: new)
  }

  /// The glyph lies in the grid.
  private mutating func put(_ glyph: Glyph, column: Int, row: Int, style: CellStyle) {
    let index = row * width + column
    makeRoom(at: index)
    if glyph.width == 2 {
      makeRoom(at: index + 1)
      cells[index + 1] = Cell(continuation: style)
    }
    cells[index] = Cell(glyph, style: style)
  }

  /// Of a wide character that has a half here, leaves blanks.
  private mutating func makeRoom(at index: Int) {
    switch cells[index].width {
    case 2: cells[index + 1] = Cell(blank: cells[index + 1].style)
    case 0: cells[index - 1] = Cell(blank: cells[index - 1].style)
    default: break
    }
  }
}
