/// What one text is shown as in one or two columns.
struct Glyph: Hashable, Sendable {
  /// One grapheme cluster, or a part of one that fills columns of its own.
  let character: Character
  /// 1 or 2.
  let width: Int

  /// The most columns that a terminal may give it, which may measure it scalar by scalar.
  let reach: Int
  /// Whether terminals disagree about the columns.
  let isDoubtful: Bool
  let isRightToLeft: Bool

  static let blank = Glyph(ascii: " ")

  /// A printable character of ASCII.
  init(ascii character: Character) {
    self.character = character
    width = 1
    reach = 1
    isDoubtful = false
    isRightToLeft = false
  }

  init(_ character: Character, width: Int) {
    self.character = character
    self.width = width
    let scalars = character.unicodeScalars
    let first = scalars.first!
    isRightToLeft = first.isRightToLeft
    if scalars.index(after: scalars.startIndex) != scalars.endIndex {
      isDoubtful = true
      reach = max(width, scalars.reduce(0) { $0 + ScalarWidth.of($1) })
    } else {
      isDoubtful = first.isOfDoubtfulWidth
      reach = isDoubtful ? 2 : width
    }
  }
}

extension Unicode.Scalar {
  /// Whether terminals disagree about its columns: some don't know what is outside of the first plane, and some took
  /// the changes of Unicode 16 (or, for numbers in squares, those of their makers).
  fileprivate var isOfDoubtfulWidth: Bool {
    switch value {
    case 0x2630...0x2637, 0x268A...0x268F, 0x3248...0x324F: true
    case 0x10000...0x1FFFF, 0xE0000...: true
    default: false
    }
  }

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
  let isPlain = text.utf8.withContiguousStorageIfAvailable { bytes in
    guard bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return false }
    let glyphs = asciiGlyphs
    for byte in bytes { body(glyphs[Int(byte) - 0x20]) }
    return true
  }
  if isPlain == true { return }
  var column = 0
  for character in text {
    if character == "\t" {
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

/// From the blank on. Most text is of them.
private let asciiGlyphs = (UInt8(0x20)..<0x7F).map { Glyph(ascii: Character(Unicode.Scalar($0))) }

/// Longer clusters are cut: no writing system needs them, and a screenful must stay bounded.
private let longestCluster = 32

private func forEachGlyph(of character: Character, _ body: (Glyph) -> Void) {
  if let sign = sign(forControl: character) {
    body(Glyph(sign, width: 1))
    return
  }
  let scalars = character.unicodeScalars
  var piece = GlyphPiece(start: scalars.startIndex)
  var count = 0
  for index in scalars.indices.prefix(longestCluster) {
    count += 1
    let scalar = scalars[index]
    if !piece.take(scalar) {
      piece.glyphs(scalars[piece.start..<index]).forEach(body)
      piece = GlyphPiece(start: index)
      _ = piece.take(scalar)
    }
  }
  guard piece.width > 0 else { return }
  if piece.start == scalars.startIndex, piece.isWhole, count < longestCluster {
    body(Glyph(character, width: piece.width))
  } else {
    let end = scalars.index(scalars.startIndex, offsetBy: count)
    piece.glyphs(scalars[piece.start..<end]).forEach(body)
  }
}

/// What fills columns together: a base and all that changes it.
private struct GlyphPiece {
  let start: String.UnicodeScalarView.Index
  private(set) var width = 0
  /// Whether the piece is shown as it stands: nothing is put before it or left out.
  private(set) var isWhole = true
  private var prefix = ""
  private var base: Unicode.Scalar?
  private var isJoined = false

  init(start: String.UnicodeScalarView.Index) { self.start = start }

  /// False if the scalar fills columns of its own, so that another piece begins.
  mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    let own = ScalarWidth.of(scalar)
    let isFirst = width == 0
    if own > 0 {
      guard isFirst || isJoined || ScalarWidth.continuesCluster(scalar) else { return false }
      if isFirst {
        width = own
        base = scalar
      } else if scalar.properties.isEmojiModifier, base?.properties.isEmoji == true {
        width = 2
      } else if scalar.properties.generalCategory == .spacingMark {
        width = min(2, width + 1)
      }
    } else if isFirst {
      isWhole = false
      // What joins needs something to join: a circle, or the letters of Hangul that have no sound.
      if ScalarWidth.isMark(scalar) {
        (prefix, width) = ("\u{25CC}", 1)
      } else if scalar.isJoiningJamo {
        (prefix, width) = (scalar.isVowelJamo ? "\u{115F}" : "\u{115F}\u{1160}", 2)
      }
    } else if scalar == "\u{FE0F}" {
      // The emoji form of a character that has both.
      if base?.properties.isEmoji == true { width = 2 }
    } else if ScalarWidth.isInvisible(scalar) {
      isWhole = false
    }
    isJoined = scalar == "\u{200D}"
    return true
  }

  /// The glyphs of the piece's scalars: one, unless they break differently when they stand alone.
  func glyphs(_ scalars: Substring.UnicodeScalarView) -> [Glyph] {
    guard width > 0 else { return [] }
    var text = String.UnicodeScalarView(prefix.unicodeScalars)
    var isEmpty = prefix.isEmpty
    for scalar in scalars {
      // Before the base, nothing that has no form; after it, nothing that does nothing either.
      let hasNone = ScalarWidth.of(scalar) == 0
      if hasNone, isEmpty || ScalarWidth.isInvisible(scalar) { continue }
      text.append(scalar)
      isEmpty = false
    }
    return String(text).enumerated().map { place, part in Glyph(part, width: place == 0 ? width : 1) }
  }
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
