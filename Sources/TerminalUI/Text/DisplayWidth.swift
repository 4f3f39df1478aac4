extension StringProtocol {
  /// The columns of this text in one line, as `CellGrid.write` fills them. Linear in the length.
  package var displayWidth: Int {
    var width = 0
    forEachGlyph(of: self) { width += $0.width }
    return width
  }

  /// The text cut to no more than that many columns, with `…` where something is missing.
  package func truncated(toWidth limit: Int) -> String {
    guard limit > 0 else { return "" }
    var kept = ""
    // How much of it fits beside the ellipsis, in bytes.
    var beside = 0
    var width = 0
    forEachGlyph(of: self) { glyph in
      width += glyph.width
      if width <= limit { kept.append(glyph.character) }
      if width <= limit - 1 { beside = kept.utf8.count }
    }
    return width <= limit ? kept : String(decoding: kept.utf8.prefix(beside), as: UTF8.self) + "…"
  }

  /// The text in lines of no more than that many columns, and at least one line.
  ///
  /// Lines end at line breaks and else between words; blanks there are left out. A word that is longer than a line is
  /// broken between characters. A character wider than the limit has a line of its own.
  package func wrapped(toWidth limit: Int) -> [String] {
    split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).flatMap { line in
      wrap(line, toWidth: Swift.max(1, limit))
    }
  }

  /// The first so many of its lines, the last one marked if there are more.
  func wrapped(toWidth width: Int, atMost limit: Int) -> [String] { cut(wrapped(toWidth: width), to: limit, width) }
}

/// The first lines of a text that has been wrapped, the last one marked if there are more.
func cut(_ lines: [String], to limit: Int, _ width: Int) -> [String] {
  guard lines.count > limit else { return lines }
  let last = lines[limit - 1]
  return lines[..<(limit - 1)]
    + [((last + " …").displayWidth <= width ? last + " …" : last + "……").truncated(toWidth: width)]
}

/// One line of the text, which has no line break.
private func wrap(_ text: some StringProtocol, toWidth limit: Int) -> [String] {
  var lines: [String] = []
  var line = ""
  var width = 0
  /// Where the line can end, in characters of `line` before and after the blanks, and the width after them.
  var lastBreak: (before: String.Index, after: String.Index, width: Int)?
  forEachGlyph(of: text) { glyph in
    if glyph.character == " ", width > 0 || lines.isEmpty {
      let start = line.endIndex
      // Blanks may hang over the edge, where nobody sees them.
      let isRunOfBlanks = lastBreak?.after == start
      line.append(" ")
      width += 1
      lastBreak = (isRunOfBlanks ? lastBreak!.before : start, line.endIndex, width)
      return
    }
    if glyph.character == " " { return }
    if width + glyph.width > limit, width > 0 {
      if let end = lastBreak, end.before > line.startIndex {
        lines.append(String(line[..<end.before]))
        line = String(line[end.after...])
        width -= end.width
      }
      // A word that fills a line is broken, and so is one after nothing but blanks, which hang over.
      if width + glyph.width > limit, width > 0 {
        lines.append(width > limit ? String(line.prefix(limit)) : line)
        line = ""
        width = 0
      }
      lastBreak = nil
    }
    line.append(glyph.character)
    width += glyph.width
    if glyph.width == 2 || glyph.character == "-" {
      // Writing of wide characters has no blanks: a line may end after each.
      lastBreak = (line.endIndex, line.endIndex, width)
    }
  }
  // Scalar by scalar: a sign that spans what follows makes one cluster with a blank.
  while line.unicodeScalars.last == " ", width > limit {
    line.unicodeScalars.removeLast()
    width -= 1
  }
  lines.append(line)
  return lines
}
