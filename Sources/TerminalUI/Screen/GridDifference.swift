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
    let known = old?.size == new.size ? old : nil
    isWhole = known == nil
    let blank = Cell()
    var runs: [Run] = []
    for row in 0..<new.height {
      let cells = new.row(row)
      let changed: [Range<Int>]
      if let known {
        changed = Self.changedColumns(known.row(row), cells)
      } else {
        changed = cells.lastIndex { $0 != blank }.map { [0..<$0 + 1 - cells.startIndex] } ?? []
      }
      guard !changed.isEmpty else { continue }
      for columns in Self.extended(changed, in: cells) {
        let indices = cells.startIndex + columns.lowerBound..<cells.startIndex + columns.upperBound
        runs.append(Run(row: row, column: columns.lowerBound, cells: cells[indices]))
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
  /// With all that drawing these columns may spoil, too: the rest of a text from right to left, since a terminal may show
  /// any of it anywhere in it; and what stands behind characters that some terminals draw over it.
  private static func extended(_ columns: [Range<Int>], in row: ArraySlice<Cell>) -> [Range<Int>] {
    guard row.contains(where: { $0.isRightToLeft || $0.isDoubtful }) else { return columns }
    let parts = row.rightToLeftParts.map { $0.lowerBound - row.startIndex..<$0.upperBound - row.startIndex }
    var result: [Range<Int>] = []
    for columns in columns {
      // What an earlier range has grown to is drawn already.
      var next = columns
      if let last = result.last, last.upperBound >= next.lowerBound {
        next = result.removeLast().lowerBound..<max(last.upperBound, next.upperBound)
      }
      while true {
        var grown = next
        for part in parts where part.overlaps(grown) {
          grown = min(part.lowerBound, grown.lowerBound)..<max(part.upperBound, grown.upperBound)
        }
        for column in grown {
          let end = min(column + Int(row[row.startIndex + column].reach), row.count)
          if end > grown.upperBound { grown = grown.lowerBound..<end }
        }
        if grown.upperBound < row.count, row[row.startIndex + grown.upperBound].isContinuation {
          grown = grown.lowerBound..<grown.upperBound + 1
        }
        if grown == next { break }
        next = grown
      }
      while let last = result.last, last.upperBound >= next.lowerBound {
        next = min(last.lowerBound, next.lowerBound)..<max(last.upperBound, next.upperBound)
        result.removeLast()
      }
      result.append(next)
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
