extension InputDecoder {
  /// Pasted text, which the terminal puts between two sequences ("bracketed paste").
  struct Paste: Hashable, Sendable {
    enum Result {
      case more
      case part(String)
      case end(String?)
    }

    private static let end = Array("\u{1b}[201~".utf8)

    private var bytes: [UInt8] = []
    private var isAfterReturn = false

    mutating func receive(_ byte: UInt8) -> Result {
      defer { isAfterReturn = byte == 0x0D }
      // Terminals send a carriage return for a line break; whatever it was in the text, one line break comes out.
      if byte == 0x0A, isAfterReturn { return .more }
      bytes.append(byte == 0x0D ? 0x0A : byte)
      if byte == Self.end.last, bytes.suffix(Self.end.count) == Self.end[...] {
        bytes.removeLast(Self.end.count)
        return .end(finish())
      }
      guard bytes.count >= InputDecoder.pastePart else { return .more }
      return .part(takePart())
    }

    /// What is left; nil for nothing.
    mutating func finish() -> String? {
      defer { bytes = [] }
      return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// All but what may be the beginning of the end or of a scalar.
    private mutating func takePart() -> String {
      var cut = bytes.count
      if let escape = bytes.suffix(Self.end.count).lastIndex(of: 0x1B) { cut = escape }
      for back in 1...4 where cut > back && bytes[cut - back] >= 0xC0 {
        cut -= back
        break
      }
      let part = String(decoding: bytes[..<cut], as: UTF8.self)
      bytes.removeFirst(cut)
      return part
    }
  }
}
