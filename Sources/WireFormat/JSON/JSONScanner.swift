/// Walks JSON text (RFC 8259) in place and checks it: total over any bytes, in time linear in them, without allocating.
///
/// Stricter than the RFC in two ways: text is UTF-8 without faults, and line breaks are not allowed as whitespace, so
/// that what passes always fits into one line.
struct JSONScanner {
  /// Objects and arrays inside each other at most.
  static let maximumDepth = 256

  let bytes: [UInt8]
  /// The next byte.
  var at: Int
  let end: Int

  init(_ bytes: [UInt8], in range: Range<Int>) {
    self.bytes = bytes
    at = range.lowerBound
    end = range.upperBound
  }

  /// Checks that a range is one JSON text without anything around it.
  static func check(_ bytes: [UInt8], in range: Range<Int>) throws(DecodeError) {
    var scanner = JSONScanner(bytes, in: range)
    try scanner.skipValue()
    guard scanner.at == scanner.end else { throw scanner.fault() }
  }

  /// Passes over one value and returns where it stood.
  @discardableResult
  mutating func skipValue(depth: Int = 0) throws(DecodeError) -> Range<Int> {
    let start = at
    switch try peek() {
    case UInt8(ascii: "\""): try skipString()
    case UInt8(ascii: "{"): try skipObject(depth: depth)
    case UInt8(ascii: "["): try skipArray(depth: depth)
    case UInt8(ascii: "t"): try skipWord("true")
    case UInt8(ascii: "f"): try skipWord("false")
    case UInt8(ascii: "n"): try skipWord("null")
    case _: try skipNumber()
    }
    return start..<at
  }

  /// Passes over one string and returns where it stood, quotes included.
  @discardableResult
  mutating func skipString() throws(DecodeError) -> Range<Int> {
    let start = at
    try expect(UInt8(ascii: "\""))
    while at < end {
      let byte = bytes[at]
      switch byte {
      case UInt8(ascii: "\""):
        at += 1
        return start..<at
      case UInt8(ascii: "\\"): try skipEscape()
      case 0x20...0x7F: at += 1
      case 0..<0x20: throw fault()
      case _: try skipMultibyte(byte)
      }
    }
    throw fault()
  }

  mutating func skipWhitespace() {
    while at < end, bytes[at] == UInt8(ascii: " ") || bytes[at] == UInt8(ascii: "\t") { at += 1 }
  }

  /// The next byte, left in place.
  func peek() throws(DecodeError) -> UInt8 {
    guard at < end else { throw fault() }
    return bytes[at]
  }

  mutating func expect(_ byte: UInt8) throws(DecodeError) {
    guard at < end, bytes[at] == byte else { throw fault() }
    at += 1
  }

  /// Whether the byte stood next; if so it is passed.
  mutating func take(_ byte: UInt8) -> Bool {
    guard at < end, bytes[at] == byte else { return false }
    at += 1
    return true
  }

  func fault(_ code: DecodeError.Code = .notJSON) -> DecodeError { DecodeError(code, at: at, in: "JSON text") }

  // MARK: Parts

  private mutating func skipObject(depth: Int) throws(DecodeError) {
    try enter(depth)
    skipWhitespace()
    if take(UInt8(ascii: "}")) { return }
    repeat {
      skipWhitespace()
      try skipString()
      skipWhitespace()
      try expect(UInt8(ascii: ":"))
      skipWhitespace()
      try skipValue(depth: depth + 1)
      skipWhitespace()
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"))
  }

  private mutating func skipArray(depth: Int) throws(DecodeError) {
    try enter(depth)
    skipWhitespace()
    if take(UInt8(ascii: "]")) { return }
    repeat {
      skipWhitespace()
      try skipValue(depth: depth + 1)
      skipWhitespace()
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
  }

  private mutating func enter(_ depth: Int) throws(DecodeError) {
    guard depth < Self.maximumDepth else { throw fault(.tooLarge) }
    at += 1
  }

  private mutating func skipWord(_ word: StaticString) throws(DecodeError) {
    guard end - at >= word.utf8CodeUnitCount else { throw fault() }
    for place in 0..<word.utf8CodeUnitCount where unsafe bytes[at + place] != word.utf8Start[place] { throw fault() }
    at += word.utf8CodeUnitCount
  }

  private mutating func skipNumber() throws(DecodeError) {
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try skipDigits() }
    if take(UInt8(ascii: ".")) { try skipDigits() }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try skipDigits()
    }
  }

  private mutating func skipDigits() throws(DecodeError) {
    let start = at
    while at < end, bytes[at] &- UInt8(ascii: "0") < 10 { at += 1 }
    guard at > start else { throw fault() }
  }

  private mutating func skipEscape() throws(DecodeError) {
    at += 1
    switch try peek() {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      at += 1
    case UInt8(ascii: "u"):
      at += 1
      for _ in 0..<4 {
        guard at < end, Self.hexadecimalValue(of: bytes[at]) != nil else { throw fault() }
        at += 1
      }
    case _: throw fault()
    }
  }

  static func hexadecimalValue(of digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(digit - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(digit - UInt8(ascii: "A") + 10)
    case _: nil
    }
  }

  /// One character above U+007F: the well-formed sequences of the Unicode Standard, table 3-7.
  private mutating func skipMultibyte(_ lead: UInt8) throws(DecodeError) {
    let second: ClosedRange<UInt8>
    let count: Int
    switch lead {
    case 0xC2...0xDF: (second, count) = (0x80...0xBF, 2)
    case 0xE0: (second, count) = (0xA0...0xBF, 3)
    case 0xED: (second, count) = (0x80...0x9F, 3)
    case 0xE1...0xEF: (second, count) = (0x80...0xBF, 3)
    case 0xF0: (second, count) = (0x90...0xBF, 4)
    case 0xF1...0xF3: (second, count) = (0x80...0xBF, 4)
    case 0xF4: (second, count) = (0x80...0x8F, 4)
    case _: throw fault(.badText)
    }
    guard end - at >= count, second.contains(bytes[at + 1]) else { throw fault(.badText) }
    for place in 2..<max(count, 2) where bytes[at + place] & 0xC0 != 0x80 { throw fault(.badText) }
    at += count
  }
}
