/// Turns differences between grids into the bytes that draw them.
///
/// ncurses' own windows aren't used for that: they keep five code points a cell and measure each by `wcwidth`, so that a
/// family of four takes eight columns in them, and a red heart one. Here each cluster stays whole, and after
/// one that terminals disagree about the cursor is put where it belongs. Text that runs from right to left is isolated,
/// so that a terminal that reorders it (UAX #9) keeps it in its columns.
package struct ScreenEncoder: Sendable {
  package let description: TerminalDescription
  package let colors: ColorDepth

  package init(description: TerminalDescription, colors: ColorDepth) {
    self.description = description
    self.colors = colors
  }

  /// The bytes of one frame. Terminals that know how show nothing until it is whole ("synchronized output").
  ///
  /// - Parameter cursor: where the cursor stands and is seen afterwards; nil to hide it.
  package func frame(_ difference: GridDifference, cursor: CellPosition?) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(difference.runs.reduce(64) { $0 + 24 + $1.cells.count })
    bytes += Self.beginFrame
    bytes += description.hideCursor
    bytes += description.plain
    if difference.isWhole { bytes += description.clear }
    var style = CellStyle.plain
    for run in difference.runs { append(run, &style, &bytes) }
    change(&style, to: .plain, &bytes)
    if let cursor {
      description.move(to: cursor, &bytes)
      bytes += description.showCursor
    }
    bytes += Self.endFrame
    return bytes
  }

  /// DEC private mode 2026; others leave it out.
  private static let beginFrame = Array("\u{1b}[?2026h".utf8)
  static let endFrame = Array("\u{1b}[?2026l".utf8)

  private static let firstStrongIsolate = Array("\u{2068}".utf8)
  private static let popDirectionalIsolate = Array("\u{2069}".utf8)

  private func append(_ run: GridDifference.Run, _ style: inout CellStyle, _ bytes: inout [UInt8]) {
    var position = CellPosition(column: run.column, row: run.row)
    let isolates = run.rightToLeftParts
    var nextIsolate = 0
    var isPlaced = false
    for (index, cell) in zip(run.cells.indices, run.cells) where !cell.isContinuation {
      if !isPlaced { description.move(to: position, &bytes) }
      change(&style, to: cell.style, &bytes)
      let isolate = nextIsolate < isolates.count ? isolates[nextIsolate] : nil
      if isolate?.lowerBound == index { bytes += Self.firstStrongIsolate }
      if cell.isDoubtful, cell.isWide {
        // Where a terminal draws it narrow, the other column is a blank.
        bytes += [0x20, 0x20]
        description.move(to: position, &bytes)
      }
      bytes += cell.character.utf8
      position.column += Int(cell.width)
      isPlaced = !cell.isDoubtful
      if isolate?.upperBound == index + 1 {
        bytes += Self.popDirectionalIsolate
        nextIsolate += 1
        isPlaced = false
      }
    }
  }

  private func change(_ style: inout CellStyle, to next: CellStyle, _ bytes: inout [UInt8]) {
    guard style != next else { return }
    if style != .plain { bytes += description.plain }
    for (attribute, on) in description.attributes where next.attributes.contains(attribute) { bytes += on }
    append(next.foreground, description.foregrounds, "38", &bytes)
    append(next.background, description.backgrounds, "48", &bytes)
    style = next
  }

  private func append(_ color: CellColor, _ palette: [[UInt8]], _ ground: String, _ bytes: inout [UInt8]) {
    switch color.shown(in: colors) {
    case .standard: break
    case .palette(let index): if Int(index) < palette.count { bytes += palette[Int(index)] }
    case .rgb(let red, let green, let blue): bytes += "\u{1b}[\(ground);2;\(red);\(green);\(blue)m".utf8
    }
  }
}
