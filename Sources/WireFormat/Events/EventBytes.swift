/// Writing the numbers of canonical events.
extension [UInt8] {
  /// A varint of protobuf's form, in its shortest spelling. The number must not be negative.
  mutating func append(number: Int) { append(varint: UInt64(number)) }

  /// A number of either sign, as protobuf's `sint64` (zigzag): small magnitudes are short.
  mutating func append(signed: Int) { append(varint: UInt64(bitPattern: Int64(signed << 1 ^ signed >> 63))) }

  mutating func append(varint: UInt64) {
    var rest = varint
    while rest > 127 {
      append(UInt8(truncatingIfNeeded: rest) | 128)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  /// Eight bytes, the most significant first.
  mutating func append(word: UInt64) {
    unsafe Swift.withUnsafeBytes(of: word.bigEndian) { unsafe append(contentsOf: $0) }
  }
}

extension [UInt8] {
  /// The text that a range of UTF-8 spells, nil if it isn't UTF-8. ASCII, the common case, is much the fastest.
  func text(in range: Range<Int>) -> String? {
    let slice = self[range]
    if slice.allSatisfy({ $0 < 128 }) { return String(decoding: slice, as: UTF8.self) }
    return String(validating: slice, as: UTF8.self)
  }
}

/// Reads canonical bytes in place; each read checks its bounds.
struct EventByteReader {
  let bytes: [UInt8]
  var at: Int
  let end: Int

  init(_ bytes: [UInt8], in range: Range<Int>) {
    self.bytes = bytes
    at = range.lowerBound
    end = range.upperBound
  }

  var left: Int { end - at }

  func fault(_ code: DecodeError.Code, at place: Int? = nil) -> DecodeError {
    DecodeError(code, at: place ?? at, in: "event")
  }

  mutating func byte() throws(DecodeError) -> UInt8 {
    guard at < end else { throw fault(.truncated) }
    let result = bytes[at]
    at += 1
    return result
  }

  /// A varint of at most eight bytes, in its shortest spelling only.
  mutating func number() throws(DecodeError) -> Int {
    let first = try byte()
    return first < 128 ? Int(first) : try longNumber(Int(first & 127))
  }

  private mutating func longNumber(_ low: Int) throws(DecodeError) -> Int {
    let start = at - 1
    var result = low
    var shift = 7
    while true {
      let next = try byte()
      result |= Int(next & 127) << shift
      shift += 7
      if next < 128 {
        guard next != 0 else { throw fault(.notCanonical, at: start) }
        return result
      }
      guard shift < 56 else { throw fault(.badNumber, at: start) }
    }
  }

  mutating func signed() throws(DecodeError) -> Int {
    let zigzag = try number()
    return zigzag >> 1 ^ -(zigzag & 1)
  }

  mutating func word() throws(DecodeError) -> UInt64 {
    guard left >= 8 else { throw fault(.truncated) }
    var result: UInt64 = 0
    for place in at..<at + 8 { result = result << 8 | UInt64(bytes[place]) }
    at += 8
    return result
  }

  /// A length of at most `limit`, with its bytes behind it; they are passed.
  mutating func run(limit: Int) throws(DecodeError) -> Range<Int> {
    let start = at
    let length = try number()
    guard length <= limit else { throw fault(.tooLarge, at: start) }
    guard length <= left else { throw fault(.truncated, at: start) }
    defer { at += length }
    return at..<at + length
  }

  /// The number of things that follow, each of which takes so many bytes at least: bounds what is allocated for them.
  mutating func count(ofAtLeast size: Int) throws(DecodeError) -> Int {
    let start = at
    let count = try number()
    guard count <= left / size else { throw fault(.badLength, at: start) }
    return count
  }
}
