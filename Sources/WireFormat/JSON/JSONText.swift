/// JSON text as bytes: checking a payload, and writing and reading strings. The one place for it.
public enum JSONText {
  /// Checks that bytes can be a value's payload: one JSON text (RFC 8259) in UTF-8, at most 256 levels deep, without
  /// line breaks, and without space around it. Linear in the bytes; allocates nothing.
  public static func check(_ payload: [UInt8]) throws(DecodeError) {
    try JSONScanner.check(payload, in: 0..<payload.count)
  }

  /// A text as a JSON string, quotes included; what is beyond ASCII stays as it is.
  public static func quoted(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    append(text, to: &bytes)
    return bytes
  }

  /// The text that a JSON string stands for: nil if the bytes aren't one JSON string, or if it escapes half of a
  /// character (a lone surrogate).
  public static func unquoted(_ bytes: [UInt8]) -> String? {
    var scanner = JSONScanner(bytes, in: 0..<bytes.count)
    guard let range = try? scanner.skipString(), range.upperBound == bytes.count else { return nil }
    return unquoted(bytes, in: range)
  }

  /// The lower-case hexadecimal digits, by value.
  static let hexadecimalDigits = Array("0123456789abcdef".utf8)

  /// - Parameter asciiOnly: whether what is beyond printable ASCII is escaped, as Python's `json.dumps` does by default.
  static func append(_ text: String, to bytes: inout [UInt8], asciiOnly: Bool = false) {
    bytes.append(UInt8(ascii: "\""))
    if asciiOnly {
      for scalar in text.unicodeScalars {
        if (0x20...0x7E).contains(scalar.value) {
          appendASCII(UInt8(scalar.value), to: &bytes)
        } else if let control = UInt8(exactly: scalar.value), control < 0x20 {
          appendASCII(control, to: &bytes)
        } else {
          for unit in UTF16.encode(scalar)! { appendEscape(unit, to: &bytes) }
        }
      }
    } else {
      for byte in text.utf8 { appendASCII(byte, to: &bytes) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// One byte of a string's content; bytes of longer characters go through.
  private static func appendASCII(_ byte: UInt8, to bytes: inout [UInt8]) {
    let short: UInt8
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): short = byte
    case 0x08: short = UInt8(ascii: "b")
    case 0x09: short = UInt8(ascii: "t")
    case 0x0A: short = UInt8(ascii: "n")
    case 0x0C: short = UInt8(ascii: "f")
    case 0x0D: short = UInt8(ascii: "r")
    case 0..<0x20:
      appendEscape(UInt16(byte), to: &bytes)
      return
    case _:
      bytes.append(byte)
      return
    }
    bytes.append(UInt8(ascii: "\\"))
    bytes.append(short)
  }

  private static func appendEscape(_ unit: UInt16, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    bytes.append(UInt8(ascii: "u"))
    for shift in stride(from: 12, through: 0, by: -4) {
      bytes.append(hexadecimalDigits[Int(unit >> UInt16(shift)) & 15])
    }
  }

  /// The text of a string that a scanner passed over.
  static func unquoted(_ bytes: [UInt8], in range: Range<Int>) -> String? {
    let content = range.lowerBound + 1..<range.upperBound - 1
    guard bytes[content].contains(UInt8(ascii: "\\")) else { return bytes.text(in: content) }
    var result: [UInt16] = []
    var plain: [UInt8] = []
    var at = content.lowerBound
    func flush() { result.append(contentsOf: String(decoding: plain, as: UTF8.self).utf16) }
    while at < content.upperBound {
      guard bytes[at] == UInt8(ascii: "\\") else {
        plain.append(bytes[at])
        at += 1
        continue
      }
      flush()
      plain.removeAll(keepingCapacity: true)
      let escape = bytes[at + 1]
      at += 2
      switch escape {
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0C)
      case UInt8(ascii: "n"): result.append(0x0A)
      case UInt8(ascii: "r"): result.append(0x0D)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "u"):
        var unit: UInt32 = 0
        for digit in bytes[at..<at + 4] { unit = unit << 4 | (JSONScanner.hexadecimalValue(of: digit) ?? 0) }
        result.append(UInt16(unit))
        at += 4
      case _: result.append(UInt16(escape))
      }
    }
    flush()
    return String(validating: result, as: UTF16.self)
  }
}
