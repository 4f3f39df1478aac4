import Foundation
import Glibc
import Testing

@testable import TerminalUI

/// Our widths beside those of others, scalar by scalar.
@Suite struct WidthSourcesTests {
  /// The C library's, which most terminals go by. Where it knows a character and measures it otherwise, either nothing
  /// of it is written, or the cursor is placed anew after it.
  @Test func theCLibraryAgreesOrTheCursorIsPlaced() throws {
    typealias Wcwidth = @convention(c) (Int32) -> Int32
    let wcwidth = unsafeBitCast(try #require(dlsym(nil, "wcwidth")), to: Wcwidth.self)
    let locale = try #require(newlocale(LC_CTYPE_MASK, "C.UTF-8", nil))
    let before = uselocale(locale)
    defer {
      uselocale(before)
      freelocale(locale)
    }
    var compared = 0
    for value in UInt32(0x20)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value), scalar.isKnown, wcwidth(Int32(value)) >= 0 else { continue }
      compared += 1
      var glyphs: [Glyph] = []
      forEachGlyph(of: String(scalar)) { glyphs.append($0) }
      guard glyphs != [], ScalarWidth.of(scalar) != Int(wcwidth(Int32(value))) else { continue }
      let isPlaced = glyphs.allSatisfy { $0.isDoubtful }
      #expect(isPlaced, "\(String(value, radix: 16)) is \(glyphs)")
    }
    #expect(compared > 100_000)
  }

  static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// Python's table of East_Asian_Width: what is wide there is wide here, unless it has no width of its own.
  @Test(.enabled(if: python != nil)) func wideIsWideInPython() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Self.python))
    process.arguments = [
      "-c",
      "import unicodedata as u; print(*[c for c in range(0x110000) if u.east_asian_width(chr(c)) in 'WF' and u.category(chr(c)) != 'Cn'])",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let wide = text.split(whereSeparator: \.isWhitespace).compactMap { UInt32($0).flatMap(Unicode.Scalar.init) }
    #expect(wide.count > 90_000)
    for scalar in wide {
      let width = ScalarWidth.of(scalar)
      let hasNone = ScalarWidth.isMark(scalar) || scalar.properties.isDefaultIgnorableCodePoint
      #expect(width == 2 || width == 0 && hasNone, "\(String(scalar.value, radix: 16)) is \(width)")
    }
  }

  /// The standard library's emoji are newer than any other table here.
  @Test func emojiAreWide() {
    var count = 0
    for value in UInt32(0x203C)...0x1FFFF {
      guard let scalar = Unicode.Scalar(value), scalar.properties.isEmojiPresentation else { continue }
      count += 1
      #expect(String(scalar).displayWidth == 2, "\(String(value, radix: 16))")
      #expect((String(scalar) + "\u{FE0F}").displayWidth == 2)
      if scalar.properties.isEmojiModifierBase { #expect((String(scalar) + "\u{1F3FD}").displayWidth == 2) }
    }
    #expect(count > 1200)
  }

  /// The standard library's properties, of which the table of what has no width is made.
  @Test func whatHasNoWidthIsWhatTheStandardLibrarySays() {
    let prepended: Set<UInt32> = [
      0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD,
    ]
    for value in UInt32(0x20)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .control else { continue }
      let isMark = [.nonspacingMark, .enclosingMark, .format].contains(scalar.properties.generalCategory)
      let isZero =
        scalar.isJoiningJamo || scalar.properties.isDefaultIgnorableCodePoint || isMark && !prepended.contains(value)
      guard (ScalarWidth.of(scalar) == 0) != (isZero && value != 0x115F) else { continue }
      Issue.record("\(String(value, radix: 16)) is \(ScalarWidth.of(scalar))")
    }
  }

  @Test(arguments: [wideRanges, zeroRanges]) func theTablesAreInOrderAndApart(ranges: [ClosedRange<UInt32>]) {
    for (range, next) in zip(ranges, ranges.dropFirst()) { #expect(range.upperBound + 1 < next.lowerBound) }
  }
}

extension Unicode.Scalar {
  fileprivate var isKnown: Bool {
    properties.generalCategory != .unassigned && properties.generalCategory != .privateUse
  }
}
