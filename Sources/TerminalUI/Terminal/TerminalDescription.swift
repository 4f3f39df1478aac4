import CNCurses
import Foundation

/// What a terminal can do and how it is told, from the system's descriptions (terminfo), by ncurses.
///
/// Texts of capabilities are bytes to be written; what the terminal hasn't got is empty. Padding is left out: it is for
/// terminals that are slower than any that is left.
package struct TerminalDescription: Sendable {
  /// Terminfo's `colors`; 2^24 where colours are given directly.
  package let colors: Int

  let enterAlternateScreen: [UInt8]
  let leaveAlternateScreen: [UInt8]
  let clear: [UInt8]
  let showCursor: [UInt8]
  let hideCursor: [UInt8]
  let withoutWrapping: [UInt8]
  let withWrapping: [UInt8]
  let plain: [UInt8]
  /// How each attribute is turned on.
  let attributes: [(attribute: CellStyle.Attributes, bytes: [UInt8])]
  /// Index by index, as many as the terminal has, 256 at most.
  let foregrounds: [[UInt8]]
  let backgrounds: [[UInt8]]
  let hasMouse: Bool
  /// The size that its makers gave it, for when the system knows none.
  let usualSize: CellSize?

  private let cursorAddress: [UInt8]
  /// Nearly all terminals take the form of ECMA-48, which is quicker to write than to have computed.
  private let isAddressStandard: Bool

  /// Reads the description of the terminal of that name; nil if there is none, or the terminal can't place its cursor.
  package init?(name: String) {
    // ncurses keeps one terminal for the whole process.
    Self.lock.lock()
    defer { Self.lock.unlock() }
    var result: Int32 = 0
    guard setupterm(name, STDOUT_FILENO, &result) == OK else { return nil }
    defer { del_curterm(set_curterm(nil)) }

    cursorAddress = Self.text("cup")
    clear = Self.text("clear")
    guard !cursorAddress.isEmpty, !clear.isEmpty else { return nil }
    isAddressStandard = cursorAddress == Array("\u{1b}[%i%p1%d;%p2%dH".utf8)
    enterAlternateScreen = Self.text("smcup")
    leaveAlternateScreen = Self.text("rmcup")
    showCursor = Self.text("cnorm")
    hideCursor = Self.text("civis")
    withoutWrapping = Self.text("rmam")
    withWrapping = Self.text("smam")
    plain = Self.text("sgr0")
    let names: [(CellStyle.Attributes, String)] = [
      (.bold, "bold"), (.dim, "dim"), (.italic, "sitm"), (.underline, "smul"), (.reverse, "rev"),
      (.strikethrough, "smxx"),
    ]
    attributes = names.map { ($0.0, Self.text($0.1)) }
    colors = max(0, Int(navsync_tigetnum("colors")))
    let isDirect = colors > 256
    foregrounds = (0..<min(256, colors)).map { isDirect ? Self.standard(38, $0) : Self.text("setaf", Int32($0)) }
    backgrounds = (0..<min(256, colors)).map { isDirect ? Self.standard(48, $0) : Self.text("setab", Int32($0)) }
    hasMouse = !Self.text("kmous").isEmpty
    let width = Int(navsync_tigetnum("cols"))
    let height = Int(navsync_tigetnum("lines"))
    usualSize = width > 0 && height > 0 ? CellSize(width: width, height: height) : nil
  }

  /// Appends what puts the cursor there.
  func move(to position: CellPosition, _ bytes: inout [UInt8]) {
    if isAddressStandard {
      bytes += [0x1B, UInt8(ascii: "[")]
      Self.append(position.row + 1, &bytes)
      bytes.append(UInt8(ascii: ";"))
      Self.append(position.column + 1, &bytes)
      bytes.append(UInt8(ascii: "H"))
    } else {
      Self.lock.lock()
      defer { Self.lock.unlock() }
      bytes += Self.filled(cursorAddress, Int32(position.row), Int32(position.column))
    }
  }

  private static let lock = NSLock()

  private static func text(_ name: String) -> [UInt8] {
    guard let text = navsync_tigetstr(name) else { return [] }
    return withoutPadding(Array(String(cString: text).utf8))
  }

  /// A capability that takes one number.
  private static func text(_ name: String, _ number: Int32) -> [UInt8] {
    let format = text(name)
    return format.isEmpty ? [] : filled(format, number, 0)
  }

  private static func filled(_ format: [UInt8], _ first: Int32, _ second: Int32) -> [UInt8] {
    (format.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { format in
      guard let text = navsync_tparm(format.baseAddress, first, second) else { return [] }
      return Array(String(cString: text).utf8)
    }
  }

  /// Terminals with direct colours have the palette too, though their descriptions don't say it.
  private static func standard(_ ground: Int, _ index: Int) -> [UInt8] { Array("\u{1b}[\(ground);5;\(index)m".utf8) }

  /// Without `$<5>` and the like (terminfo(5), "Delays and Padding").
  static func withoutPadding(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = text[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "$"), rest.first == UInt8(ascii: "<"), let end = rest.firstIndex(of: UInt8(ascii: ">")) {
        rest = rest[(end + 1)...]
      } else {
        result.append(byte)
      }
    }
    return result
  }

  static func append(_ number: Int, _ bytes: inout [UInt8]) {
    if number >= 10 { append(number / 10, &bytes) }
    bytes.append(UInt8(ascii: "0") + UInt8(number % 10))
  }
}
