import TerminalUI

/// The first byte says where the rest is split, and whether time passes there.
func takeKeys(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let first = bytes.first else { return false }
  let bytes = bytes.dropFirst()
  func end(_ decoder: inout InputDecoder) throws(BrokenLaw) -> [InputEvent] {
    let events = decoder.timePassed(to: .max)
    try hold(decoder.deadline == nil, "something waits though all time has passed")
    return events
  }
  var whole = InputDecoder()
  var events = whole.receive(bytes, at: 0)
  events += try end(&whole)

  var split = InputDecoder()
  let cut = bytes.startIndex + Int(first) % (bytes.count + 1)
  var others = split.receive(bytes[..<cut], at: 0) + split.receive(bytes[cut...], at: 0)
  others += try end(&split)
  try hold(others == events, "split at \(cut - bytes.startIndex) it is \(others)")

  var single = InputDecoder()
  others = []
  for byte in bytes { others += single.receive(CollectionOfOne(byte), at: 0) }
  others += try end(&single)
  try hold(others == events, "byte by byte it is \(others)")

  // Whatever comes while time passes, the next key is itself.
  var late = InputDecoder()
  _ = late.receive(bytes, at: 0)
  let key = late.receive(CollectionOfOne(UInt8(ascii: "q")), at: 1 << 62)
  try hold(key.last == .key(KeyPress("q")), "after a pause, q is \(key)")

  var pasted = 0
  for event in events {
    switch event {
    case .key(let press):
      guard case .character(let character) = press.key else { continue }
      let scalars = character.unicodeScalars
      try hold(scalars.count == 1, "a key is the cluster \(character)")
      try hold(scalars.first?.properties.generalCategory != .control, "a key is a control character")
    case .paste(let text):
      pasted += text.utf8.count
      try hold(!text.isEmpty && !text.contains("\r"), "a paste is \(text.debugDescription)")
    case .mouse(let mouse):
      try hold(mouse.position.column >= 0 && mouse.position.row >= 0, "the mouse is at \(mouse.position)")
    default: break
    }
  }
  try hold(pasted <= 3 * bytes.count, "more is pasted than came")
  return !events.isEmpty
}

/// The first byte is a width, the rest the text.
func takeText(_ bytes: [UInt8]) throws(BrokenLaw) -> Bool {
  guard let first = bytes.first, let text = String(validating: bytes.dropFirst(), as: UTF8.self) else { return false }
  let width = Int(first) % 40
  let columns = text.displayWidth
  var grid = CellGrid(width: min(columns, 4096) + 1, height: 1)
  try hold(grid.write(text, at: .zero) == columns, "the width isn't \(columns)")
  var filled = 0
  for cell in grid.cells {
    filled += Int(cell.width)
    let isHarmless = cell.character.unicodeScalars.allSatisfy { scalar in
      let category = scalar.properties.generalCategory
      let isJoiner = scalar == "\u{200C}" || scalar == "\u{200D}" || (0xE0020...0xE007F).contains(scalar.value)
      return category != .control && category != .lineSeparator && category != .paragraphSeparator
        && (category != .format || isJoiner || scalar.properties.isDefaultIgnorableCodePoint == false)
    }
    try hold(isHarmless, "a cell has \(cell.character.unicodeScalars.map { String($0.value, radix: 16) })")
  }
  try hold(filled == grid.width, "the cells fill \(filled) of \(grid.width) columns")

  let cut = text.truncated(toWidth: width)
  try hold(cut.displayWidth <= width, "cut to \(width) it has \(cut.displayWidth)")
  for line in text.wrapped(toWidth: width) {
    // A character of two columns has a line of its own where there is one column.
    try hold(line.displayWidth <= max(2, width), "a line of \(width) has \(line.displayWidth)")
  }
  var clipped = CellGrid(width: 9, height: 3)
  clipped.write(
    text, at: CellPosition(column: width - 20, row: 1), clip: CellRect(column: 2, row: 0, width: 5, height: 3))
  try hold(
    clipped.cells.indices.allSatisfy { (2..<7).contains($0 % 9) || clipped.cells[$0] == Cell() },
    "something is outside of the clip")
  let difference = GridDifference(from: CellGrid(width: 9, height: 3), to: clipped)
  try hold(
    difference.applied(to: CellGrid(width: 9, height: 3), size: clipped.size) == clipped,
    "the difference lacks something")
  return true
}
