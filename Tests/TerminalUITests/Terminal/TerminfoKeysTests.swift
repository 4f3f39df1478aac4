import Foundation
import Testing

@testable import TerminalUI

/// What the descriptions of terminals on this machine say their keys send is understood without looking there. (Only the
/// VT100's own differs: it calls keys of its number pad F5 to F10.)
@Suite struct TerminfoKeysTests {
  static let infocmp = "/usr/bin/infocmp"

  /// The names of terminfo(5), "Predefined Capabilities".
  static let keys: [String: KeyPress] = {
    var keys: [String: KeyPress] = [
      "kcuu1": KeyPress(.up), "kcud1": KeyPress(.down), "kcub1": KeyPress(.left), "kcuf1": KeyPress(.right),
      "khome": KeyPress(.home), "kend": KeyPress(.end), "kpp": KeyPress(.pageUp), "knp": KeyPress(.pageDown),
      "kich1": KeyPress(.insert), "kdch1": KeyPress(.delete), "kcbt": KeyPress(.tab, .shift),
      "kbs": KeyPress(.backspace), "kent": KeyPress(.enter), "kLFT": KeyPress(.left, .shift),
      "kRIT": KeyPress(.right, .shift), "kHOM": KeyPress(.home, .shift), "kEND": KeyPress(.end, .shift),
      "kDC": KeyPress(.delete, .shift), "kPRV": KeyPress(.pageUp, .shift), "kNXT": KeyPress(.pageDown, .shift),
    ]
    for number in 1...12 { keys["kf\(number)"] = KeyPress(.function(number)) }
    return keys
  }()

  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: infocmp)),
    arguments: [
      "xterm", "xterm-256color", "xterm-color", "tmux", "tmux-256color", "screen", "screen-256color", "linux", "rxvt",
      "rxvt-unicode", "rxvt-unicode-256color", "Eterm", "vt220", "hurd", "cygwin", "xterm-kitty", "alacritty",
      "foot", "konsole", "gnome", "vte", "putty", "st", "mlterm", "wezterm", "ghostty", "iterm2", "mintty", "contour",
    ])
  func theKeysOfTerminalsAreUnderstood(terminal: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Self.infocmp)
    process.arguments = ["-1", "-x", terminal]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    // A terminal that this machine doesn't know can't be compared.
    guard process.terminationStatus == 0 else { return }
    var compared = 0
    for line in text.components(separatedBy: "\n") {
      let parts = line.trimmingCharacters(in: .whitespaces).dropLast().split(separator: "=", maxSplits: 1)
      guard parts.count == 2, let press = Self.keys[String(parts[0])] else { continue }
      compared += 1
      #expect(
        InputDecoderTests.events(Self.bytes(parts[1])) == [.key(press)], "\(terminal): \(parts[0]) is \(parts[1])")
    }
    #expect(compared >= 4)
  }

  /// From terminfo's way to write control characters.
  private static func bytes(_ text: Substring) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "^"): bytes.append(rest.popFirst().map { $0 == UInt8(ascii: "?") ? 0x7F : $0 & 0x1F } ?? byte)
      case UInt8(ascii: "\\"):
        let next = rest.popFirst() ?? byte
        if next == UInt8(ascii: "E") {
          bytes.append(0x1B)
        } else if (0x30...0x37).contains(next) {
          let digits = [next] + rest.prefix(2)
          rest = rest.dropFirst(2)
          bytes.append(digits.reduce(0) { $0 &* 8 &+ ($1 - 0x30) })
        } else {
          bytes.append(["r": 0x0D, "n": 0x0A, "t": 0x09, "b": 0x08, "s": 0x20][Unicode.Scalar(next)] ?? next)
        }
      default: bytes.append(byte)
      }
    }
    return bytes
  }
}
