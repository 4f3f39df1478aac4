import Foundation
import TestSupport
import Testing

@testable import TerminalUI

/// What a terminal that draws makes of our bytes.
@Suite(.serialized, .enabled(if: TmuxSession.isAvailable)) struct TmuxTests {
  @Test func hardTextKeepsItsColumns() throws {
    let session = try TmuxSession(columns: 60, rows: 12, "'\(BuiltProgram.url("terminal-probe").path)'")
    let screen = try session.wait(for: "last row")
    let lines = screen.components(separatedBy: "\n")
    #expect(lines.first == "probe 60x12")
    #expect(lines.count == 12 && lines.last == "last row")
    // Where the bars stand doesn't depend on what the terminal makes of the text between them.
    let bars = try session.columns(of: "|", row: 1)
    #expect(bars == [4, 7, 10, 13, 16, 18, 26, 32, 35, 38])
    #expect(lines[1].hasSuffix("end"))
    #expect(try session.columns(of: "e", row: 1).last == 57)
    try session.press("q")
  }

  @Test func resizingDrawsOnceAndClean() throws {
    let session = try TmuxSession("'\(BuiltProgram.url("terminal-probe").path)'")
    try session.wait(for: "last row")
    #expect(try session.value("alternate_on") == "1")
    try session.resize(columns: 80, rows: 10)
    var screen = try session.wait(for: "resize 80x10")
    #expect(screen.components(separatedBy: "\n").count == 10 && screen.hasSuffix("last row"))
    try session.resize(columns: 40, rows: 20)
    screen = try session.wait(for: "resize 40x20")
    let lines = screen.components(separatedBy: "\n")
    #expect(lines.first == "probe 40x20" && lines.count == 20 && lines.last == "last row")
    try session.press("q")
    try session.wait("the end") { _ in try session.value("pane_dead") == "1" }
    #expect(try session.value("alternate_on") == "0")
  }

  @Test func keysComeThroughTmux() throws {
    let session = try TmuxSession("'\(BuiltProgram.url("terminal-probe").path)'")
    try session.wait(for: "last row")
    let keys = [
      ("Up", "key up 0"), ("Enter", "key enter 0"), ("BTab", "key tab 1"), ("BSpace", "key backspace 0"),
      ("Escape", "key escape 0"), ("C-c", #"key character("c") 4"#), ("M-x", #"key character("x") 2"#),
      ("F5", "key function(5) 0"), ("PPage", "key pageUp 0"), ("é", #"key character("é") 0"#),
      ("C-Right", "key right 4"), ("Home", "key home 0"),
    ]
    for (number, (key, event)) in keys.enumerated() {
      try session.press(key)
      try session.wait(for: "\(number + 1) \(event)")
    }
  }
}

extension TmuxSession {
  /// The columns of a row where the terminal has that character. tmux knows flags and joined emoji, but no emoji form of
  /// what has two.
  fileprivate func columns(of character: Character, row: Int) throws -> [Int] {
    var columns: [Int] = []
    var column = 0
    forEachGlyph(of: try screen().components(separatedBy: "\n")[row]) { glyph in
      if glyph.character == character { columns.append(column) }
      column += ScalarWidth.of(glyph.character.unicodeScalars.first!)
    }
    return columns
  }
}
