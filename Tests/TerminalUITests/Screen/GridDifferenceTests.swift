import TestSupport
import Testing

@testable import TerminalUI

@Suite struct GridDifferenceTests {
  @Test func onlyWhatChangedIsDrawn() {
    var old = CellGrid(width: 40, height: 4)
    old.write("one two three four five", at: CellPosition(column: 0, row: 1))
    var new = old
    new.write("TWO", at: CellPosition(column: 4, row: 1))
    new.write("FIVE", at: CellPosition(column: 19, row: 1))
    let difference = GridDifference(from: old, to: new)
    #expect(difference.runs.map(\.row) == [1, 1])
    #expect(difference.runs.map(\.column) == [4, 19])
    #expect(difference.runs.map(\.cells.count) == [3, 4])
    #expect(GridDifference(from: new, to: new).isEmpty)
  }

  @Test func anotherSizeIsAllNew() {
    let difference = GridDifference(from: CellGrid(width: 4, height: 4), to: CellGrid(width: 4, height: 3))
    #expect(difference.isWhole && difference.runs.isEmpty && !difference.isEmpty)
  }

  @Test(arguments: 0..<200)
  func appliedToTheOldItGivesTheNew(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let old = RandomScreen.grid(&generator)
    let new = seed % 3 == 0 ? RandomScreen.changed(old, &generator) : RandomScreen.grid(&generator, size: old.size)
    for start in [old, nil] {
      let difference = GridDifference(from: start, to: new)
      #expect(difference.applied(to: start, size: new.size) == new)
      for run in difference.runs {
        #expect(run.cells.first?.isContinuation == false && run.cells.last?.isWide == false)
      }
    }
  }
}

/// Screens with all that has made others lose their columns.
enum RandomScreen {
  static let texts = [
    "a", "screen", "日本語", "👨‍👩‍👧‍👦", "👍🏽", "❤️", "🇩🇪", "e\u{301}", "שלום", "\u{1b}[31m", "\t", "ｗｉｄｅ", " ", "é", "क्षि", "नमस्ते",
  ]

  static func grid(_ generator: inout SeededGenerator, size: CellSize? = nil) -> CellGrid {
    let size =
      size
      ?? CellSize(width: Int.random(in: 1...30, using: &generator), height: Int.random(in: 1...6, using: &generator))
    var grid = CellGrid(size: size)
    for _ in 0..<Int.random(in: 0...12, using: &generator) { grid = changed(grid, &generator) }
    return grid
  }

  static func changed(_ grid: CellGrid, _ generator: inout SeededGenerator) -> CellGrid {
    var grid = grid
    let position = CellPosition(
      column: Int.random(in: -4...grid.width + 1, using: &generator),
      row: Int.random(in: -1...grid.height, using: &generator))
    let style = CellStyle(
      foreground: .palette(UInt8.random(in: 0...255, using: &generator)),
      attributes: CellStyle.Attributes(rawValue: UInt8.random(in: 0...63, using: &generator)))
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: grid.fill(CellRect(origin: position, size: CellSize(width: 3, height: 2)), style: style)
    case 1: grid.restyle(CellRect(origin: position, size: CellSize(width: 3, height: 2))) { $0 = style }
    case 2:
      let copy = grid
      grid.copy(copy, at: position, clip: CellRect(column: 1, row: 0, width: 9, height: 9))
    default: grid.write(texts.randomElement(using: &generator)!, at: position, style: style)
    }
    return grid
  }
}
