/// A place on the screen: columns from the left, rows from the top, both from 0. May lie outside of any grid.
package struct CellPosition: Hashable, Sendable {
  package var column: Int
  package var row: Int

  package init(column: Int, row: Int) {
    self.column = column
    self.row = row
  }

  package static let zero = CellPosition(column: 0, row: 0)
}

/// A size in cells, never negative.
package struct CellSize: Hashable, Sendable {
  package var width: Int { didSet { width = max(0, width) } }
  package var height: Int { didSet { height = max(0, height) } }

  package init(width: Int, height: Int) {
    self.width = max(0, width)
    self.height = max(0, height)
  }

  package static let zero = CellSize(width: 0, height: 0)
}

/// A part of the screen. May lie outside of any grid, and may be empty.
package struct CellRect: Hashable, Sendable {
  package var origin: CellPosition
  package var size: CellSize

  package init(origin: CellPosition, size: CellSize) {
    self.origin = origin
    self.size = size
  }

  package init(column: Int, row: Int, width: Int, height: Int) {
    self.init(
      origin: CellPosition(column: column, row: row), size: CellSize(width: width, height: height))
  }

  package var columns: Range<Int> { origin.column..<origin.column + size.width }
  package var rows: Range<Int> { origin.row..<origin.row + size.height }
  package var isEmpty: Bool { size.width == 0 || size.height == 0 }

  package func contains(_ position: CellPosition) -> Bool {
    columns.contains(position.column) && rows.contains(position.row)
  }

  /// What lies in both; empty if nothing does.
  package func intersection(_ other: CellRect) -> CellRect {
    let columns = columns.clamped(to: other.columns)
    let rows = rows.clamped(to: other.rows)
    return CellRect(column: columns.lowerBound, row: rows.lowerBound, width: columns.count, height: rows.count)
  }
}
