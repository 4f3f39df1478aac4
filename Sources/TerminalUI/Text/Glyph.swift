/// What one text is shown as in one or two columns.
struct Glyph: Hashable, Sendable {
  /// One grapheme cluster, or a part of one that fills columns of its own.
  let character: Character
  /// 1 or 2.
  let width: Int

  let isDoubtful: Bool
  let isRightToLeft: Bool

  static let blank = Glyph(ascii: " ")

  /// A printable character of ASCII.
  init(ascii character: Character) {
    self.character = character
    width = 1
    isDoubtful = false
    isRightToLeft = false
  }

  init(_ character: Character, width: Int) {
    self.character = character
    self.width = width
    let scalars = character.unicodeScalars
    let first = scalars.first!
    // Terminals measure scalar by scalar or by cluster, and some don't know what is outside of the first plane.
    isDoubtful =
      scalars.index(after: scalars.startIndex) != scalars.endIndex
      || first.value > 0xFFFF && !(0x20000...0x3FFFF).contains(first.value)
    isRightToLeft = first.isRightToLeft
  }
}

extension Unicode.Scalar {
  /// Whether it is in a block whose letters run from right to left: Bidi_Class R or AL, also by default (UAX #44).
  fileprivate var isRightToLeft: Bool {
    switch value {
    case 0x0660...0x0669, 0x06F0...0x06F9, 0x066A...0x066C: false
    case 0x0590...0x08FF, 0xFB1D...0xFDCF, 0xFDF0...0xFDFF, 0xFE70...0xFEFE: true
    case 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
    default: false
    }
  }
}

/// Gives the glyphs of a line of text in order.
///
/// What comes from people and peers is harmless in them: control characters are replaced by signs (`␛` for Escape, `␤`
/// for a line break), so no escape sequence reaches the terminal. Characters without a width of their own (zero-width
/// space, byte-order mark, direction controls) are left out; a combining mark without a base stands on a dotted circle.
/// A tab is blanks up to the next column that is a multiple of eight.
func forEachGlyph(of text: some StringProtocol, _ body: (Glyph) -> Void) {
  var column = 0
  for character in text {
    if let ascii = character.asciiValue, ascii >= 0x20, ascii < 0x7F {
      body(Glyph(ascii: character))
      column += 1
    } else if character == "\t" {
      repeat {
        body(.blank)
        column += 1
      } while column % 8 != 0
    } else {
      forEachGlyph(of: character) { glyph in
        body(glyph)
        column += glyph.width
      }
    }
  }
}

/// Longer clusters are cut: no writing system needs them, and a screenful must stay bounded.
private let longestCluster = 32

private func forEachGlyph(of character: Character, _ body: (Glyph) -> Void) {
  if let sign = sign(forControl: character) {
    body(Glyph(sign, width: 1))
    return
  }
  var piece = String.UnicodeScalarView()
  var width = 0
  var isJoined = false
  var isEmoji = false
  func flush() {
    if width > 0 {
      for (place, part) in String(piece).enumerated() {
        // Only what breaks differently when it stands alone gives more than one.
        body(Glyph(part, width: place == 0 ? width : 1))
      }
    }
    piece = String.UnicodeScalarView()
    width = 0
  }
  for scalar in character.unicodeScalars.prefix(longestCluster) {
    let own = ScalarWidth.of(scalar)
    if scalar == "\u{FE0F}" {
      // The emoji form of a character that has both; alone it does nothing.
      if width > 0 {
        piece.append(scalar)
        if isEmoji { width = 2 }
      }
    } else if own == 0 {
      if width == 0 {
        guard ScalarWidth.isMark(scalar) else { continue }
        piece.append("\u{25CC}")
        width = 1
      } else if ScalarWidth.isInvisible(scalar) {
        continue
      }
      piece.append(scalar)
    } else if width == 0 || !(isJoined || ScalarWidth.continuesCluster(scalar)) {
      flush()
      piece.append(scalar)
      width = own
      isEmoji = scalar.properties.isEmoji
    } else {
      piece.append(scalar)
      if scalar.properties.generalCategory == .spacingMark { width = min(2, width + 1) }
    }
    isJoined = scalar == "\u{200D}"
  }
  flush()
}

/// The visible sign for a control character or a line break; nil for any other character.
private func sign(forControl character: Character) -> Character? {
  if character == "\r\n" { return "\u{2424}" }
  guard let scalar = character.unicodeScalars.first else { return nil }
  switch scalar.value {
  case 0x0A, 0x85, 0x2028, 0x2029: return "\u{2424}"
  case 0..<0x20: return Unicode.Scalar(0x2400 + scalar.value).map(Character.init)
  case 0x7F: return "\u{2421}"
  case 0x80..<0xA0: return "\u{FFFD}"
  default: return nil
  }
}
