/// What has to be drawn to get from one grid to the next.
package struct GridDifference: Hashable, Sendable {
  /// Cells that stand side by side in one row. A run never begins or ends within a wide character.
  package struct Run: Hashable, Sendable {
    package let row: Int
    package let column: Int
    package let cells: ArraySlice<Cell>
  }

  /// Whether the screen is cleared first: there was no grid, or one of another size.
  package let isWhole: Bool
  /// From the top, and from the left in each row.
  package let runs: [Run]

  package var isEmpty: Bool { !isWhole && runs.isEmpty }

  /// Equal cells between two changed ones are drawn again if there are no more than that: moving the cursor costs more.
  private static let longestGap = 4

  /// - Parameter old: what is on the screen; nil if that isn't known.
  package init(from old: CellGrid?, to new: CellGrid) {
    guard let old, old.size == new.size else {
      isWhole = true
      let blank = Cell()
      runs = (0..<new.height).compactMap { row in
        let cells = new.row(row)
        guard let last = cells.lastIndex(where: { $0 != blank }) else { return nil }
        return Run(row: row, column: 0, cells: cells[cells.startIndex...last])
      }
      return
    }
    isWhole = false
    var runs: [Run] = []
    for row in 0..<new.height {
      let changed = Self.changedColumns(old.row(row), new.row(row))
      guard !changed.isEmpty else { continue }
      for columns in Self.whole(changed, in: new.row(row)) {
        let start = row * new.width
        runs.append(
          Run(
            row: row, column: columns.lowerBound,
            cells: new.cells[start + columns.lowerBound..<start + columns.upperBound]))
      }
    }
    self.runs = runs
  }

  /// What the screen shows after drawing.
  package func applied(to old: CellGrid?, size: CellSize) -> CellGrid {
    var grid = isWhole ? CellGrid(size: size) : old ?? CellGrid(size: size)
    for run in runs { grid.replace(run) }
    return grid
  }

  private static func changedColumns(_ old: ArraySlice<Cell>, _ new: ArraySlice<Cell>) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var column = 0
    while column < new.count {
      let at = new.startIndex + column
      guard old[old.startIndex + column] != new[at] else {
        column += 1
        continue
      }
      // The whole of a wide character, on the left as it is and on the right as it was too.
      let first = new[at].isContinuation ? column - 1 : column
      let end = column + max(1, Int(new[at].width))
      if let last = ranges.last, first - last.upperBound <= longestGap {
        ranges[ranges.count - 1] = last.lowerBound..<max(end, last.upperBound)
      } else {
        ranges.append(first..<end)
      }
      column = end
    }
    return ranges
  }
}

extension GridDifference {
  /// Text from right to left is drawn as a whole, since a terminal may show any of it anywhere in it.
  private static func whole(_ columns: [Range<Int>], in row: ArraySlice<Cell>) -> [Range<Int>] {
    guard row.contains(where: \.isRightToLeft) else { return columns }
    let parts = row.rightToLeftParts.map { $0.lowerBound - row.startIndex..<$0.upperBound - row.startIndex }
    var result: [Range<Int>] = []
    for columns in columns {
      var columns = columns
      for part in parts where part.overlaps(columns) {
        columns = min(part.lowerBound, columns.lowerBound)..<max(part.upperBound, columns.upperBound)
      }
      if let last = result.last, last.upperBound >= columns.lowerBound {
        result[result.count - 1] = last.lowerBound..<max(last.upperBound, columns.upperBound)
      } else {
        result.append(columns)
      }
    }
    return result
  }
}

extension CellGrid {
  /// Puts a run where it came from, in a grid of the same size.
  fileprivate mutating func replace(_ run: GridDifference.Run) {
    let start = run.row * width + run.column
    replaceCells(start, with: run.cells)
  }
}
