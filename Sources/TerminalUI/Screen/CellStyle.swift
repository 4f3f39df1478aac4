/// The colour of a cell's text or ground. A terminal with fewer colours shows the nearest that it has.
package enum CellColor: Hashable, Sendable {
  /// The terminal's own, as its user set it.
  case standard
  /// 0–15: the terminal's sixteen (black, red, green, yellow, blue, magenta, cyan, white, and the same brighter), which
  /// its user may have set; 16–231: a cube of 6×6×6; 232–255: greys.
  case palette(UInt8)
  case rgb(red: UInt8, green: UInt8, blue: UInt8)

  package static let black = CellColor.palette(0)
  package static let red = CellColor.palette(1)
  package static let green = CellColor.palette(2)
  package static let yellow = CellColor.palette(3)
  package static let blue = CellColor.palette(4)
  package static let magenta = CellColor.palette(5)
  package static let cyan = CellColor.palette(6)
  package static let white = CellColor.palette(7)
  package static let grey = CellColor.palette(8)
}

/// How a cell looks, apart from its text.
package struct CellStyle: Hashable, Sendable {
  package struct Attributes: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let bold = Attributes(rawValue: 1)
    package static let dim = Attributes(rawValue: 2)
    package static let italic = Attributes(rawValue: 4)
    package static let underline = Attributes(rawValue: 8)
    package static let reverse = Attributes(rawValue: 16)
    package static let strikethrough = Attributes(rawValue: 32)
  }

  package var foreground: CellColor
  package var background: CellColor
  package var attributes: Attributes

  package init(
    foreground: CellColor = .standard, background: CellColor = .standard, attributes: Attributes = []
  ) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }

  /// The terminal's own colours and nothing more.
  package static let plain = CellStyle()
}

extension CellStyle: CustomStringConvertible {
  /// As goldens show it: `bold underline red on blue`; `plain` for nothing at all.
  package var description: String {
    var words = attributes.names
    if foreground != .standard { words.append(foreground.description) }
    if background != .standard { words.append("on \(background)") }
    return words.isEmpty ? "plain" : words.joined(separator: " ")
  }
}

extension CellStyle.Attributes {
  fileprivate var names: [String] {
    let all: [(Self, String)] = [
      (.bold, "bold"), (.dim, "dim"), (.italic, "italic"), (.underline, "underline"), (.reverse, "reverse"),
      (.strikethrough, "strikethrough"),
    ]
    return all.filter { contains($0.0) }.map(\.1)
  }
}

extension CellColor: CustomStringConvertible {
  package var description: String {
    switch self {
    case .standard: return "standard"
    case .palette(let index):
      let names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]
      if index == 8 { return "grey" }
      return index < 8
        ? names[Int(index)] : index < 16 ? "bright-\(names[Int(index) - 8])" : "palette-\(index)"
    case .rgb(let red, let green, let blue):
      return "#"
        + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
  }
}
