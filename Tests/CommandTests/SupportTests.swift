import ArgumentParsing
import Commands
import Foundation
import TestSupport
import Testing

@Suite struct WallTimeTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0), ("2026-03-01T09:30:00Z", 1_772_357_400_000),
    ("2026-03-01T10:30:00+01:00", 1_772_357_400_000), ("2026-03-01T04:00:00-05:30", 1_772_357_400_000),
    ("2026-03-01 09:30:00.1259z", 1_772_357_400_125), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
    ("1969-12-31T23:59:59.5Z", -500),
  ])
  func instantsAreRead(text: String, milliseconds: Int) throws {
    #expect(try WallTime(argument: text) == .instant(milliseconds))
    #expect(try WallTime(argument: rfc3339(milliseconds: milliseconds)) == .instant(milliseconds))
  }

  @Test func instantsArePrinted() {
    #expect(rfc3339(milliseconds: 1_772_357_400_000) == "2026-03-01T09:30:00Z")
    #expect(rfc3339(milliseconds: 1_772_357_400_007) == "2026-03-01T09:30:00.007Z")
    #expect(rfc3339(milliseconds: -500) == "1969-12-31T23:59:59.500Z")
    #expect(rfc3339(milliseconds: .max) == "\(Int.max)ms")
  }

  @Test func timesOfTheDayAreToday() throws {
    let now = 1_772_357_400_000
    let time = try WallTime(argument: "14:05:09")
    #expect(time == .today(hour: 14, minute: 5, second: 9))
    let milliseconds = time.milliseconds(now: now)
    #expect(localTimeOfDay(milliseconds: milliseconds) == "14:05:09")
    #expect(abs(milliseconds - now) < 86_400_000)
    #expect(try WallTime(argument: "00:00").argumentText == "00:00:00")
    let date = try WallTime(argument: "2026-03-01")
    #expect(localTimeOfDay(milliseconds: date.milliseconds(now: 0)) == "00:00:00")
  }

  @Test(arguments: [
    "", "now", "24:00", "12:60", "1:30", "12:30:", "12:30x", "2026-02-30", "2026-13-01", "2026-03-01T09:30:00",
    "2026-03-01T09:30Z", "2026-03-01T09:30:00.Z", "2026-03-01T09:30:00+0100", "2026-03-01T24:00:00Z", "2026-3-1",
    "2026-03-01T09:30:00ZZ",
  ])
  func otherTextsAreRefused(text: String) {
    #expect(throws: ValueError.self) { try WallTime(argument: text) }
  }
}

@Suite struct LineReaderTests {
  /// `printf 'one\ntwo\n' | gzip -n`
  static let gzip: [UInt8] = [
    0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0xCF, 0x4B, 0xE5, 0x2A, 0x29, 0xCF, 0xE7, 2, 0, 0xE6, 0x0B, 0xBA, 0x12, 8,
    0, 0, 0,
  ]

  func lines(_ bytes: [UInt8], maximumLineLength: Int = 100) async throws -> [String] {
    var result: [String] = []
    _ = try await withCapturedConsole { console, folder in
      let path = folder.appendingPathComponent("file").path
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let reader = try LineReader(path: path, on: console, maximumLineLength: maximumLineLength)
      while let line = try reader.next() {
        result.append(String(decoding: line, as: UTF8.self))
        #expect(reader.lineNumber == result.count)
      }
      #expect(try reader.next() == nil)
      return .ok
    }
    return result
  }

  @Test(arguments: [
    ("", []), ("\n", [""]), ("a", ["a"]), ("a\nb\n", ["a", "b"]), ("a\r\n\r\nb", ["a", "", "b"]),
    ("ab\n\n", ["ab", ""]),
  ])
  func plainFilesAreSplit(text: String, expected: [String]) async throws {
    #expect(try await lines(Array(text.utf8)) == expected)
  }

  @Test func gzipMembersAreUnpacked() async throws {
    #expect(try await lines(Self.gzip) == ["one", "two"])
    #expect(try await lines(Self.gzip + Self.gzip) == ["one", "two", "one", "two"])
  }

  @Test func theInputIsRead() async throws {
    _ = try await withCapturedConsole(input: Self.gzip) { console, _ in
      let reader = try LineReader(path: "-", on: console)
      #expect(try reader.next() == Array("one".utf8))
      #expect(reader.name == "the standard input")
      return .ok
    }
  }

  @Test func linesLongerThanABlockAreWhole() async throws {
    let long = String(repeating: "x", count: 200_000)
    #expect(try await lines(Array("\(long)\n\(long)".utf8), maximumLineLength: 200_000) == [long, long])
  }

  @Test func tooLongLinesAreRefused() async throws {
    await #expect(throws: CommandError.self) { try await lines(Array("12345\n123456".utf8), maximumLineLength: 5) }
    let endless = [UInt8](repeating: 0x30, count: 1 << 20)
    await #expect(throws: CommandError.self) { try await lines(endless) }
  }

  @Test func cutAndDamagedGzipIsDamage() async throws {
    for cut in 2..<Self.gzip.count {
      do {
        _ = try await lines(Array(Self.gzip.prefix(cut)))
        Issue.record("no error when cut to \(cut)")
      } catch let error as CommandError {
        #expect(error.code == .damage)
      }
    }
    var flipped = Self.gzip
    flipped[22] ^= 1
    await #expect(throws: CommandError.self) { try await lines(flipped) }
  }

  @Test func aMissingFileIsNotFound() async throws {
    _ = try await withCapturedConsole { console, folder in
      let error = #expect(throws: CommandError.self) {
        try LineReader(path: folder.appendingPathComponent("none").path, on: console)
      }
      #expect(error?.code == .notFound)
      return .ok
    }
  }
}

@Suite struct FileTests {
  @Test func filesAreWrittenWholeOrNotAtAll() async throws {
    _ = try await withCapturedConsole { console, folder in
      let path = folder.appendingPathComponent("file").path
      func content() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
      try writeFile(path: path, on: console, overwrites: false) { try $0.print("one") }
      #expect(try content() == "one\n")
      let refused = #expect(throws: CommandError.self) {
        try writeFile(path: path, on: console, overwrites: false) { try $0.print("two") }
      }
      #expect(refused?.code == .refused)
      #expect(throws: CancellationError.self) {
        try writeFile(path: path, on: console, overwrites: true) { output in
          try output.write([UInt8](repeating: 0x30, count: 1 << 20))
          throw CancellationError()
        }
      }
      #expect(try content() == "one\n")
      try writeFile(path: path, on: console, overwrites: true) { try $0.print("three") }
      #expect(try content() == "three\n")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["file", "streams"])
      return .ok
    }
  }

  @Test func whatIsNoRegularFileIsWrittenTo() async throws {
    _ = try await withCapturedConsole { console, folder in
      try writeFile(path: "/dev/null", on: console, overwrites: true) { try $0.print("data") }
      let folderError = #expect(throws: CommandError.self) {
        try writeFile(path: folder.path, on: console, overwrites: true) { try $0.print("data") }
      }
      #expect(folderError?.message.contains("Is a directory") == true)
      return .ok
    }
    var status = stat()
    #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
  }

  @Test func dashIsTheOutput() async throws {
    let captured = try await withCapturedConsole { console, _ in
      try writeFile(path: "-", on: console, overwrites: false) { try $0.print("data") }
      return .ok
    }
    #expect(captured.output == "data\n")
  }

  @Test(arguments: [
    (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (20 << 20, "20 MiB"), (1_048_575, "1 MiB"),
    (10_444, "10 KiB"), (Int.max, "8 EiB"),
  ])
  func sizesAreReadable(bytes: Int, text: String) {
    #expect(humanSize(bytes) == text)
  }

  @Test func talkIsOneLineAndCantActOnTheTerminal() async throws {
    let captured = try await withCapturedConsole { console, _ in
      console.say("a\u{1B}[2Jb\nc\u{202E}d\u{200D}e")
      return .ok
    }
    #expect(captured.error == "a\\u{1b}[2Jb\\u{a}c\\u{202e}d\u{200D}e\n")
  }
}
