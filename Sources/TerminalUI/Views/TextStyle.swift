/// How text looks. What isn't said is left to the views above.
struct TextStyle: Hashable {
  var color: Color?
  var background: Color?
  var bold: Bool?
  var italic: Bool?
  var underline: Bool?
  var strikethrough: Bool?

  /// This style, with another one's where it says nothing.
  func over(_ base: TextStyle) -> TextStyle {
    TextStyle(
      color: color ?? base.color, background: background ?? base.background, bold: bold ?? base.bold,
      italic: italic ?? base.italic, underline: underline ?? base.underline,
      strikethrough: strikethrough ?? base.strikethrough)
  }

  func cellStyle(isEnabled: Bool = true) -> CellStyle {
    var attributes: CellStyle.Attributes = []
    if bold == true { attributes.insert(.bold) }
    if italic == true { attributes.insert(.italic) }
    if underline == true { attributes.insert(.underline) }
    if strikethrough == true { attributes.insert(.strikethrough) }
    if color?.isDim == true || !isEnabled { attributes.insert(.dim) }
    return CellStyle(
      foreground: color?.cell ?? .standard, background: background?.cell ?? .standard, attributes: attributes)
  }
}
