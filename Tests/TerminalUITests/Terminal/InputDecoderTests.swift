import TestSupport
import Testing

@testable import TerminalUI

@Suite struct InputDecoderTests {
  static func events(_ text: String) -> [InputEvent] { events(Array(text.utf8)) }

  static func events(_ bytes: [UInt8]) -> [InputEvent] {
    var decoder = InputDecoder()
    return decoder.receive(bytes, at: 0) + decoder.timePassed(to: InputDecoder.pasteDelay)
  }

  static let keys: [(String, KeyPress)] = [
    ("a", KeyPress("a")), ("Z", KeyPress("Z")), (" ", KeyPress(" ")), ("é", KeyPress("é")), ("日", KeyPress("日")),
    ("\r", KeyPress(.enter)), ("\n", KeyPress(.enter)), ("\t", KeyPress(.tab)), ("\u{1b}", KeyPress(.escape)),
    ("\u{7f}", KeyPress(.backspace)), ("\u{8}", KeyPress(.backspace)), ("\u{3}", KeyPress("c", .control)),
    ("\u{1a}", KeyPress("z", .control)), ("\u{0}", KeyPress(" ", .control)), ("\u{1c}", KeyPress("\\", .control)),
    ("\u{1f}", KeyPress("_", .control)),
    // Shift-Tab: most terminals, with parameters, kitty, xterm's modifyOtherKeys, the Linux console.
    ("\u{1b}[Z", KeyPress(.tab, .shift)), ("\u{1b}[1;2Z", KeyPress(.tab, .shift)),
    ("\u{1b}[9;2u", KeyPress(.tab, .shift)), ("\u{1b}[27;2;9~", KeyPress(.tab, .shift)),
    ("\u{1b}\t", KeyPress(.tab, .shift)),
    ("\u{1b}[A", KeyPress(.up)), ("\u{1b}OA", KeyPress(.up)), ("\u{1b}[B", KeyPress(.down)),
    ("\u{1b}[C", KeyPress(.right)), ("\u{1b}OD", KeyPress(.left)), ("\u{1b}[1;5C", KeyPress(.right, .control)),
    ("\u{1b}[1;3A", KeyPress(.up, .alt)), ("\u{1b}\u{1b}[A", KeyPress(.up, .alt)),
    ("\u{1b}Oa", KeyPress(.up, .control)),
    ("\u{1b}[a", KeyPress(.up, .shift)), ("\u{1b}[1;8B", KeyPress(.down, [.shift, .alt, .control])),
    ("\u{1b}[H", KeyPress(.home)), ("\u{1b}OH", KeyPress(.home)), ("\u{1b}[1~", KeyPress(.home)),
    ("\u{1b}[7~", KeyPress(.home)), ("\u{1b}[F", KeyPress(.end)), ("\u{1b}[4~", KeyPress(.end)),
    ("\u{1b}[8~", KeyPress(.end)), ("\u{1b}[2~", KeyPress(.insert)), ("\u{1b}[3~", KeyPress(.delete)),
    ("\u{1b}[3;5~", KeyPress(.delete, .control)), ("\u{1b}[3^", KeyPress(.delete, .control)),
    ("\u{1b}[3$", KeyPress(.delete, .shift)), ("\u{1b}[3@", KeyPress(.delete, [.shift, .control])),
    ("\u{1b}[5~", KeyPress(.pageUp)), ("\u{1b}[6~", KeyPress(.pageDown)), ("\u{1b}OP", KeyPress(.function(1))),
    ("\u{1b}[11~", KeyPress(.function(1))), ("\u{1b}[[A", KeyPress(.function(1))),
    ("\u{1b}[[E", KeyPress(.function(5))), ("\u{1b}[15~", KeyPress(.function(5))),
    ("\u{1b}[24~", KeyPress(.function(12))), ("\u{1b}[1;2R", KeyPress(.function(3), .shift)),
    ("\u{1b}O5P", KeyPress(.function(1), .control)), ("\u{1b}OM", KeyPress(.enter)), ("\u{1b}Oq", KeyPress("1")),
    ("\u{1b}a", KeyPress("a", .alt)), ("\u{1b}é", KeyPress("é", .alt)), ("\u{1b}\r", KeyPress(.enter, .alt)),
    ("\u{1b}\u{7f}", KeyPress(.backspace, .alt)), ("\u{1b}\u{1}", KeyPress("a", [.control, .alt])),
    ("\u{1b}[", KeyPress("[", .alt)), ("\u{1b}O", KeyPress("O", .alt)), ("\u{1b}]", KeyPress("]", .alt)),
    ("\u{1b}[97;5u", KeyPress("a", .control)), ("\u{1b}[97;2u", KeyPress("A")), ("\u{1b}[27u", KeyPress(.escape)),
    ("\u{1b}[13;2u", KeyPress(.enter, .shift)), ("\u{1b}[233;3u", KeyPress("é", .alt)),
    ("\u{1b}[97;1:1u", KeyPress("a")),
  ]

  @Test(arguments: keys)
  func keysHaveTheirMeaning(text: String, press: KeyPress) {
    #expect(Self.events(text) == [.key(press)])
    // Amid others it is the same, unless only time ends it.
    let endsByTime = ["\u{1b}", "\u{1b}[", "\u{1b}O", "\u{1b}]", "\u{1b}[3$"].contains(text)
    if !endsByTime {
      #expect(
        Self.events("x" + text + "\ry") == [KeyPress("x"), press, KeyPress(.enter), KeyPress("y")].map(InputEvent.key))
    }
  }

  @Test func theMouseIsUnderstood() {
    func mouse(_ text: String) -> [InputEvent] { Self.events("\u{1b}[<" + text) }
    let position = CellPosition(column: 9, row: 4)
    #expect(mouse("0;10;5M") == [.mouse(MouseEvent(.press(.left), at: position))])
    #expect(mouse("0;10;5m") == [.mouse(MouseEvent(.release(.left), at: position))])
    #expect(mouse("2;10;5M") == [.mouse(MouseEvent(.press(.right), at: position))])
    #expect(mouse("64;10;5M") == [.mouse(MouseEvent(.wheelUp, at: position))])
    #expect(mouse("65;10;5M") == [.mouse(MouseEvent(.wheelDown, at: position))])
    #expect(mouse("16;10;5M") == [.mouse(MouseEvent(.press(.left), at: position, .control))])
    #expect(mouse("35;10;5M") == [])
    let farAway = CellPosition(column: 0, row: (1 << 24) - 1)
    #expect(mouse("0;0;99999999999999999999M") == [.mouse(MouseEvent(.press(.left), at: farAway))])
    // The old form.
    #expect(Self.events("\u{1b}[M *%a") == [.mouse(MouseEvent(.press(.left), at: position)), .key(KeyPress("a"))])
    #expect(Self.events("\u{1b}[M#*%") == [.mouse(MouseEvent(.release(.left), at: position))])
  }

  @Test func pastedTextIsNoKeys() {
    #expect(
      Self.events("\u{1b}[200~q\r\u{3}\u{1b}[A\r\nü\u{1b}[201~x") == [
        .paste("q\n\u{3}\u{1b}[A\nü"), .key(KeyPress("x")),
      ])
    #expect(Self.events("\u{1b}[200~\u{1b}[201~") == [])
    #expect(Self.events("\u{1b}[201~a") == [.key(KeyPress("a"))])
    // A terminal that forgets the end doesn't lock the person out.
    var decoder = InputDecoder()
    #expect(decoder.receive(Array("\u{1b}[200~abc".utf8), at: 5) == [])
    #expect(decoder.receive([UInt8(ascii: "d")], at: InputDecoder.pasteDelay) == [])
    #expect(decoder.deadline == 2 * InputDecoder.pasteDelay)
    #expect(
      decoder.receive([UInt8(ascii: "q")], at: 2 * InputDecoder.pasteDelay) == [.paste("abcd"), .key(KeyPress("q"))])
    #expect(decoder.deadline == nil)
  }

  @Test func aLongPasteComesInParts() {
    let text = String(repeating: "añ日👍", count: 40_000)
    let events = Self.events("\u{1b}[200~" + text + "\u{1b}[201~")
    let parts = events.map { event in if case .paste(let part) = event { part } else { "" } }
    #expect(parts.count > 5 && parts.joined() == text)
    #expect(parts.allSatisfy { $0.utf8.count <= InputDecoder.pastePart })
  }

  @Test func focusIsTold() {
    #expect(Self.events("\u{1b}[I\u{1b}[O") == [.focus(true), .focus(false)])
  }

  @Test(arguments: [
    "\u{1b}[?62;4c", "\u{1b}[24;80R", "\u{1b}]11;rgb:0000/0000/0000\u{7}", "\u{1b}]11;rgb:0/0/0\u{1b}\\",
    "\u{1b}P>|xterm\u{1b}\\",
    "\u{1b}_Gi=1;OK\u{1b}\\", "\u{1b}[?2026;2$y", "\u{1b}[97;1:3u", "\u{1b}[57358u", "\u{1b}[[Q", "\u{1b}[99~",
    "\u{1b}[x",
    "\u{1b}[12345678901234567890123456789012345678901234567890123456789012345678901234567890m", "\u{9b}", "\u{85}",
  ])
  func whatHasNoMeaningLeavesNothing(text: String) {
    #expect(Self.events(text) == [])
    #expect(Self.events(text + "a") == [.key(KeyPress("a"))])
  }

  @Test func brokenUnicodeIsTheReplacementCharacter() {
    func characters(_ bytes: [UInt8]) -> String {
      Self.events(bytes).reduce(into: "") { text, event in
        if case .key(let press) = event, case .character(let character) = press.key { text.append(character) }
      }
    }
    #expect(characters([0xFF, 0x61]) == "\u{FFFD}a")
    #expect(characters([0xE6, 0x97]) == "\u{FFFD}")
    for bytes: [UInt8] in [
      [0xE6, 0x97, 0x61], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
      [0xF0, 0x9F, 0x91, 0xE6, 0x97, 0xA5], [0xE0, 0x80, 0xAF],
    ] {
      #expect(characters(bytes) == String(decoding: bytes, as: UTF8.self))
    }
  }

  @Test func timeDecidesWhatEscapeIs() {
    var decoder = InputDecoder()
    #expect(decoder.deadline == nil)
    #expect(decoder.receive([0x1B], at: 100) == [])
    #expect(decoder.deadline == 100 + InputDecoder.escapeDelay)
    #expect(decoder.timePassed(to: 99 + InputDecoder.escapeDelay) == [])
    #expect(decoder.timePassed(to: 100 + InputDecoder.escapeDelay) == [.key(KeyPress(.escape))])
    #expect(decoder.deadline == nil)
    // A key that comes later is itself, even where nobody asked in between.
    #expect(decoder.receive([0x1B], at: 0) == [])
    #expect(
      decoder.receive(Array("[A".utf8), at: 1 << 40) == [
        .key(KeyPress(.escape)), .key(KeyPress("[")), .key(KeyPress("A")),
      ])
    // The answer to a question that nobody ends.
    #expect(decoder.receive(Array("\u{1b}]0;never ends".utf8), at: 1 << 41) == [])
    #expect(decoder.receive([UInt8(ascii: "q")], at: 1 << 42) == [.key(KeyPress("q"))])
  }

  /// Bytes that are likely to be parts of sequences.
  static func randomBytes(_ generator: inout SeededGenerator) -> [UInt8] {
    let pieces =
      keys.map { Array($0.0.utf8) } + [
        Array("\u{1b}[200~".utf8), Array("\u{1b}[201~".utf8), Array("\u{1b}[<0;1;1M".utf8), Array("\u{1b}[M".utf8),
        [0x1B], [0x1B, 0x5D],
        [0x9B], Array("\u{1b}[1;".utf8),
      ]
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 1...12, using: &generator) {
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: bytes.append(.random(in: 0...255, using: &generator))
      case 1: bytes += pieces.randomElement(using: &generator)!.dropLast(Int.random(in: 0...1, using: &generator))
      default: bytes += pieces.randomElement(using: &generator)!
      }
    }
    return bytes
  }

  @Test(arguments: 0..<400)
  func splittingAnywhereChangesNothing(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let bytes = Self.randomBytes(&generator)
    let whole = Self.events(bytes)
    for cut in 0...bytes.count {
      var decoder = InputDecoder()
      var events = decoder.receive(bytes[..<cut], at: 0)
      events += decoder.receive(bytes[cut...], at: 0) + decoder.timePassed(to: InputDecoder.pasteDelay)
      #expect(events == whole, "\(bytes) cut at \(cut)")
      #expect(decoder.deadline == nil)
    }
    var decoder = InputDecoder()
    var events: [InputEvent] = []
    for byte in bytes { events += decoder.receive(CollectionOfOne(byte), at: 0) }
    #expect(events + decoder.timePassed(to: InputDecoder.pasteDelay) == whole)
  }
}
