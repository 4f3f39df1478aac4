import TestSupport
import Testing

@testable import TerminalUI

@Suite struct ScreenEncoderTests {
  let description: TerminalDescription

  init() throws { description = try #require(TerminalDescription(name: "xterm-256color")) }

  func frame(_ grid: CellGrid, from old: CellGrid, _ colors: ColorDepth, cursor: CellPosition? = nil) -> String {
    let encoder = ScreenEncoder(description: description, colors: colors)
    let bytes = encoder.frame(GridDifference(from: old, to: grid), cursor: cursor)
    return String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "\u{1b}", with: "␛")
  }

  @Test func aFrameIsWhatChangedAndNoMore() {
    let old = CellGrid(width: 20, height: 3)
    var new = old
    new.write("Red", at: CellPosition(column: 2, row: 1), style: CellStyle(foreground: .red, attributes: .bold))
    new.write("!", at: CellPosition(column: 5, row: 1))
    #expect(
      frame(new, from: old, .palette256, cursor: CellPosition(column: 6, row: 1))
        == "␛[?2026h␛[?25l␛(B␛[m␛[2;3H␛[1m␛[31mRed␛(B␛[m!␛[2;7H␛[?12l␛[?25h␛[?2026l")
    #expect(frame(new, from: old, .none) == "␛[?2026h␛[?25l␛(B␛[m␛[2;3H␛[1mRed␛(B␛[m!␛[?2026l")
  }

  @Test(arguments: [
    (CellColor.rgb(red: 255, green: 0, blue: 0), ColorDepth.direct, "␛[38;2;255;0;0m"),
    (.rgb(red: 255, green: 0, blue: 0), .palette256, "␛[38;5;196m"),
    (.rgb(red: 255, green: 0, blue: 0), .palette16, "␛[91m"),
    (.rgb(red: 8, green: 8, blue: 8), .palette256, "␛[38;5;232m"), (.palette(200), .palette256, "␛[38;5;200m"),
    (.palette(200), .palette16, "␛[95m"), (.palette(9), .palette16, "␛[91m"), (.palette(2), .direct, "␛[32m"),
    (.palette(2), .none, ""), (.standard, .direct, ""),
  ])
  func colorsAreTheNearestThatThereAre(color: CellColor, depth: ColorDepth, bytes: String) {
    let old = CellGrid(width: 4, height: 1)
    var new = old
    new.write("x", at: .zero, style: CellStyle(foreground: color))
    let reset = bytes.isEmpty ? "" : "␛(B␛[m"
    #expect(frame(new, from: old, depth).contains("␛[1;1H\(bytes)x"))
    #expect(frame(new, from: old, depth).hasSuffix("x\(new[0, 0].style == .plain ? "" : "␛(B␛[m")␛[?2026l"), "\(reset)")
  }

  @Test func textFromRightToLeftIsIsolatedAndDrawnWhole() {
    var old = CellGrid(width: 30, height: 1)
    old.write("name: שלום עולם, done", at: .zero)
    var new = old
    new.write("ם", at: CellPosition(column: 8, row: 0))
    let difference = GridDifference(from: old, to: new)
    #expect(difference.runs.map(\.column) == [6])
    #expect(difference.runs.map(\.cells.count) == [9])
    #expect(frame(new, from: old, .none).contains("␛[1;7H\u{2068}שלםם עולם\u{2069}␛"))
  }

  @Test func paddingIsLeftOut() {
    #expect(TerminalDescription.withoutPadding(Array("a$<5>b$<10/>$c$<".utf8)) == Array("ab$c$<".utf8))
  }

  /// Terminals with another form of the cursor's address have it computed by ncurses.
  @Test func everyDescriptionPlacesTheCursor() throws {
    var moved: [UInt8] = []
    try #require(TerminalDescription(name: "wyse60") ?? TerminalDescription(name: "hurd"))
      .move(to: CellPosition(column: 4, row: 2), &moved)
    #expect(!moved.isEmpty)
    moved = []
    description.move(to: CellPosition(column: 1234, row: 0), &moved)
    #expect(moved == Array("\u{1b}[1;1235H".utf8))
    #expect(TerminalDescription(name: "no-such-terminal") == nil)
    #expect(TerminalDescription(name: "dumb") == nil)
  }

  /// However a terminal measures what terminals disagree about, everything else stands where it belongs.
  @Test(arguments: 0..<150) func everythingKeepsItsColumns(seed: UInt64) {
    for model in EmulatedTerminal.Model.allCases {
      var generator = SeededGenerator(seed: seed)
      var grid = RandomScreen.grid(&generator)
      var terminal = EmulatedTerminal(size: grid.size, model)
      let encoder = ScreenEncoder(description: description, colors: .palette256)
      terminal.feed(encoder.frame(GridDifference(from: nil, to: grid), cursor: nil))
      for _ in 0..<6 {
        terminal.expect(grid, "\(model)")
        let next = RandomScreen.changed(grid, &generator)
        terminal.feed(encoder.frame(GridDifference(from: grid, to: next), cursor: nil))
        grid = next
      }
      terminal.expect(grid, "\(model)")
    }
  }
}

/// A terminal in so far as columns go.
private struct EmulatedTerminal {
  enum Model: CaseIterable {
    /// As we measure.
    case clusters
    /// Scalar by scalar, as the C library and most terminals do.
    case scalars
    /// Scalar by scalar, and what isn't in the first plane is one column.
    case old
  }

  private let size: CellSize
  private let model: Model
  private var cells: [String]
  private var column = 0
  private var row = 0

  init(size: CellSize, _ model: Model) {
    self.size = size
    self.model = model
    cells = Array(repeating: " ", count: size.width * size.height)
  }

  mutating func feed(_ bytes: [UInt8]) {
    var rest = Substring(String(decoding: bytes, as: UTF8.self)).unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard scalar == "\u{1b}" else {
        // A terminal by clusters has the whole of it before it measures.
        var text = String(scalar)
        if model == .clusters {
          while let next = rest.first, next != "\u{1b}", (text + String(next)).count == 1 {
            text.unicodeScalars.append(rest.removeFirst())
          }
        }
        write(text)
        continue
      }
      guard rest.popFirst() == "[" else {
        rest.removeFirst()
        continue
      }
      let parameters = rest.prefix { !(0x40..<0x7F).contains($0.value) }
      rest = rest[parameters.endIndex...]
      let final = rest.removeFirst()
      let numbers = String(parameters).split(separator: ";").map { Int($0) ?? 0 }
      if final == "H" { (row, column) = ((numbers.first ?? 1) - 1, (numbers.last ?? 1) - 1) }
      if final == "J" { cells = Array(repeating: " ", count: cells.count) }
    }
  }

  private func width(_ text: String) -> Int {
    switch model {
    case .clusters: text.displayWidth
    case .scalars: ScalarWidth.of(text.unicodeScalars.first!)
    case .old: text.unicodeScalars.first!.value > 0xFFFF ? 1 : ScalarWidth.of(text.unicodeScalars.first!)
    }
  }

  private mutating func write(_ text: String) {
    let width = width(text)
    if width == 0 {
      if column > 0, text != "\u{2068}", text != "\u{2069}" { cells[row * size.width + column - 1] += text }
      return
    }
    // Without wrapping the last column takes all that comes.
    column = min(column, size.width - width)
    guard column >= 0 else {
      column = 0
      return
    }
    for place in column..<column + width { clear(place) }
    cells[row * size.width + column] = text
    if width == 2 { cells[row * size.width + column + 1] = "" }
    column += width
  }

  /// Of a wide character, the other half goes too.
  private mutating func clear(_ column: Int) {
    let index = row * size.width + column
    if cells[index] == "", column > 0 { cells[index - 1] = " " }
    if column + 1 < size.width, cells[index + 1] == "" { cells[index + 1] = " " }
    cells[index] = " "
  }

  func expect(_ grid: CellGrid, _ comment: String, sourceLocation: SourceLocation = #_sourceLocation) {
    for row in 0..<size.height {
      for column in 0..<size.width {
        let cell = grid[column, row]
        guard !cell.isContinuation, !cell.isDoubtful else { continue }
        let shown = cells[row * size.width + column]
        #expect(
          shown == String(cell.character), "\(comment), column \(column), row \(row) of \(grid.text.debugDescription)",
          sourceLocation: sourceLocation)
      }
    }
  }
}
