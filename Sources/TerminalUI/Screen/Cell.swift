/// One column of one row. A character that is two columns wide stands in the left one of two cells; the right one is
/// its continuation.
package struct Cell: Hashable, Sendable {
  /// What is shown: one grapheme cluster without control characters. A blank in a continuation.
  package let character: Character
  /// The columns that the character takes: 1 or 2, or 0 for a continuation.
  package let width: UInt8
  package var style: CellStyle
  /// The columns that some terminal may move on by, at least the width.
  let reach: UInt8
  /// Whether terminals disagree about the columns that it takes: the next one is placed anew.
  let isDoubtful: Bool
  /// Whether it is a letter that is written from right to left.
  let isRightToLeft: Bool

  private init(character: Character, width: UInt8, style: CellStyle) {
    self.character = character
    self.width = width
    self.style = style
    reach = width
    isDoubtful = false
    isRightToLeft = false
  }

  /// A cell without text.
  package init(blank style: CellStyle = .plain) {
    self.init(character: " ", width: 1, style: style)
  }

  /// The first cell of a glyph.
  init(_ glyph: Glyph, style: CellStyle) {
    character = glyph.character
    width = UInt8(glyph.width)
    self.style = style
    reach = UInt8(clamping: glyph.reach)
    isDoubtful = glyph.isDoubtful
    isRightToLeft = glyph.isRightToLeft
  }

  /// The right half of a wide character.
  init(continuation style: CellStyle) {
    self.init(character: " ", width: 0, style: style)
  }

  package var isContinuation: Bool { width == 0 }
  package var isWide: Bool { width == 2 }
}
