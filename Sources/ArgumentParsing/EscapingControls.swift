/// A text with its control characters and line breaks spelled `\u{1b}`, so that what a peer or a person wrote stays on its
/// line and can't act on the terminal.
package func escapingControls(_ text: String) -> String {
  // Most texts have nothing but what is printed, and looking up what a scalar is takes its time.
  if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
  var result = ""
  for scalar in text.unicodeScalars {
    switch scalar.properties.generalCategory {
    // The joiners are format characters that emoji and some scripts need; the others can turn text around.
    case .format where scalar == "\u{200C}" || scalar == "\u{200D}": result.unicodeScalars.append(scalar)
    case .control, .format, .lineSeparator, .paragraphSeparator:
      result += "\\u{\(String(scalar.value, radix: 16))}"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result
}
