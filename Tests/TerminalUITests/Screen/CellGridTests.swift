import Testing

@testable import TerminalUI

@Suite struct CellGridTests {
  func grid(_ width: Int, _ height: Int, _ change: (inout CellGrid) -> Void) -> CellGrid {
    var grid = CellGrid(width: width, height: height)
    change(&grid)
    return grid
  }

  @Test func textIsWrittenByClusters() {
    let grid = grid(12, 2) { grid in
      #expect(grid.write("e\u{301}a日本👨‍👩‍👧!", at: .zero) == 9)
    }
    #expect(grid.text == "e\u{301}a日本👨‍👩‍👧!")
    #expect(grid[0, 0].character == "e\u{301}")
    #expect(grid[2, 0].isWide && grid[3, 0].isContinuation)
    #expect(grid[6, 0].character == "👨‍👩‍👧" && grid[6, 0].isWide && grid[7, 0].isContinuation)
    #expect(grid[8, 0].character == "!")
  }

  @Test func nothingIsWrittenOutside() {
    let grid = grid(4, 2) { grid in
      #expect(grid.write("abcdefgh", at: CellPosition(column: -2, row: 0)) == 8)
      grid.write("above", at: CellPosition(column: 0, row: -1))
      grid.write("below", at: CellPosition(column: 0, row: 2))
      grid.write("abcd", at: CellPosition(column: 0, row: 1), clip: CellRect(column: 1, row: 0, width: 2, height: 9))
    }
    #expect(grid.text == "cdef\n bc")
  }

  @Test func halfAWideCharacterIsABlank() {
    let cut = grid(3, 2) { grid in
      grid.write("a日本", at: .zero)
      grid.write("日本", at: CellPosition(column: -1, row: 1), style: CellStyle(attributes: .reverse))
    }
    #expect(cut.text == "a日\n 本")
    #expect(cut[0, 1].style.attributes == .reverse)
    let over = grid(6, 1) { grid in
      grid.write("日本語", at: .zero)
      grid.write("x", at: CellPosition(column: 1, row: 0))
      grid.write("y", at: CellPosition(column: 4, row: 0))
    }
    #expect(over.text == " x本y")
    #expect(over.cells.map(\.width) == [1, 1, 2, 0, 1, 1])
  }

  @Test func aGridIsCopiedWithinAClip() {
    let inner = grid(4, 2) { grid in
      grid.write("日本", at: .zero)
      grid.write("abcd", at: CellPosition(column: 0, row: 1))
    }
    let outer = grid(6, 3) { grid in
      for row in 0..<3 { grid.write("------", at: CellPosition(column: 0, row: row)) }
      grid.copy(inner, at: CellPosition(column: 1, row: 1), clip: CellRect(column: 2, row: 0, width: 9, height: 9))
    }
    #expect(outer.text == "------\n-- 本-\n--bcd-")
    #expect(grid(2, 1) { $0.copy(inner, at: CellPosition(column: -9, row: 4)) } == CellGrid(width: 2, height: 1))
  }

  @Test func stylesAreInTheGoldenForm() {
    let grid = grid(8, 3) { grid in
      grid.write("Red", at: .zero, style: CellStyle(foreground: .red, attributes: [.bold, .underline]))
      grid.write("日", at: CellPosition(column: 6, row: 0), style: CellStyle(background: .palette(200)))
      grid.restyle(CellRect(column: 1, row: 1, width: 2, height: 1)) { $0.attributes.insert(.reverse) }
    }
    #expect(
      grid.styledText == """
        Red   日
          ~ 0-2 bold underline red, 6-7 on palette-200

          ~ 1-2 reverse
        """)
  }

  @Test func anEmptyGridTakesEverything() {
    var grid = CellGrid(width: 0, height: -3)
    #expect(grid.write("日本", at: .zero) == 4)
    grid.fill(CellRect(column: -5, row: -5, width: 100, height: 100))
    #expect(grid.text == "" && grid.styledText == "")
    #expect(CellGrid(width: 0, height: 4).styledText == "")
  }
}
