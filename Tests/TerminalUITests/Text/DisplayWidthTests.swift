import Testing

@testable import TerminalUI

@Suite struct DisplayWidthTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本語", 6), ("ｱ", 1), ("Ａ", 2), ("한국", 4),
    ("\u{1112}\u{1161}\u{11ab}", 2),
    ("👨‍👩‍👧‍👦", 2), ("👍🏽", 2), ("❤️", 2), ("❤", 1), ("☺️", 2), ("🇩🇪", 2), ("🇩", 2), ("#️⃣", 2), ("1⃣", 1), ("🏴‍☠️", 2),
    ("🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}", 2), ("שָׁלוֹם", 4), ("مرحبا", 5), ("ไทย", 3), ("กำ", 2),
    ("का", 2),
    ("क्ष", 2), ("\u{200B}\u{FEFF}\u{2060}", 0), ("a\u{AD}b", 2), ("\u{202E}abc\u{202C}", 3), ("\u{301}", 1),
    ("a\u{FE0F}", 1),
    ("\u{200D}", 0), ("½", 1), ("—", 1), ("🫩", 2), ("\u{1161}", 2), ("\u{11A8}", 2), ("✌🏻", 2), ("\u{115F}\u{1161}", 2),
    ("\u{1112}\u{1161}\u{11AB}\u{11AB}", 2), ("\u{0600}12", 3),
  ])
  func widthsAreThoseOfTheClusters(text: String, width: Int) {
    #expect(text.displayWidth == width)
  }

  @Test func controlCharactersAreSignsAndActOnNothing() {
    func shown(_ text: String) -> String {
      var grid = CellGrid(width: 40, height: 1)
      grid.write(text, at: .zero)
      return grid.text
    }
    #expect(shown("\u{1b}[2J\u{1b}]0;title\u{7}") == "␛[2J␛]0;title␇")
    #expect(shown("a\nb\r\nc\rd\u{7f}\u{9b}31m\u{0}") == "a␤b␤c␍d␡�31m␀")
    #expect(shown("a\tb") == "a       b")
    #expect(shown("\u{202E}gpj.exe\u{2066}\u{200B}") == "gpj.exe")
    #expect(shown("\u{301}") == "◌\u{301}")
  }

  /// Not the square of its length.
  @Test func longTextTakesTimeForItsLength() {
    let text = String(repeating: "日 ", count: 20_000) + String(repeating: " ", count: 40_000)
    #expect(text.truncated(toWidth: 59_999).displayWidth == 59_998)
    #expect(text.wrapped(toWidth: 80).count == 741)
    #expect(text.wrapped(toWidth: 1_000_000).count == 1)
  }

  @Test func aClusterOfAnyLengthIsBounded() {
    var grid = CellGrid(width: 4, height: 1)
    grid.write("a" + String(repeating: "\u{301}", count: 100_000) + "b", at: .zero)
    #expect(grid[1, 0].character == "b")
    #expect(grid[0, 0].character.utf8.count < 100)
  }

  @Test(arguments: [
    ("navigation", 10, "navigation"), ("navigation", 9, "navigati…"), ("navigation", 1, "…"), ("navigation", 0, ""),
    ("", 0, ""),
    ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("a👨‍👩‍👧b", 3, "a…"), ("e\u{301}e\u{301}", 1, "…"),
  ])
  func truncationEndsInAnEllipsis(text: String, width: Int, result: String) {
    #expect(text.truncated(toWidth: width) == result)
    #expect(text.truncated(toWidth: width).displayWidth <= width)
  }

  @Test(arguments: [
    ("one two three", 7, ["one two", "three"]), ("one two three", 3, ["one", "two", "thr", "ee"]), ("", 5, [""]),
    ("a\nb\n", 5, ["a", "b", ""]), ("日本語です", 4, ["日本", "語で", "す"]), ("日", 1, ["日"]),
    ("ab\u{11A8}", 3, ["ab", "\u{115F}\u{1160}\u{11A8}"]), ("one  two", 4, ["one", "two"]),
    ("well-known fact", 6, ["well-", "known", "fact"]), ("ab日本", 3, ["ab", "日", "本"]), ("  indent", 10, ["  indent"]),
    ("\tab", 2, ["  ", "ab"]), ("a    ", 3, ["a  "]), ("\u{600} ", 1, ["\u{600}"]),
    ("a verylongword b", 5, ["a", "veryl", "ongwo", "rd b"]),
  ])
  func linesEndBetweenWords(text: String, width: Int, lines: [String]) {
    #expect(text.wrapped(toWidth: width) == lines)
  }
}
