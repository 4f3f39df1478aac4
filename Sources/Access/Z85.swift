/// Z85 (ZeroMQ RFC 32): five printable characters for four bytes, as keys are written.
public enum Z85 {
  private static let characters = Array(
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#".utf8)

  /// The place of each character, 255 for what is none.
  private static let places: [UInt8] = {
    var places = [UInt8](repeating: 255, count: 256)
    for (place, character) in characters.enumerated() { places[Int(character)] = UInt8(place) }
    return places
  }()

  /// - Parameter bytes: a multiple of four.
  public static func encode(_ bytes: [UInt8]) -> String {
    precondition(bytes.count % 4 == 0, "Z85 is of four bytes each")
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count / 4 * 5)
    for start in stride(from: 0, to: bytes.count, by: 4) {
      var number = bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      var group: [UInt8] = [0, 0, 0, 0, 0]
      for place in (0..<5).reversed() {
        group[place] = characters[Int(number % 85)]
        number /= 85
      }
      text += group
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The four bytes of five characters, from a place on; nil if they aren't Z85.
  static func group(_ text: Span<UInt8>, at start: Int) -> UInt32? {
    var number: UInt64 = 0
    for place in start..<start + 5 {
      let digit = places[Int(text[place])]
      guard digit < 85 else { return nil }
      number = number * 85 + UInt64(digit)
    }
    return UInt32(exactly: number)
  }

  /// Nil for what isn't Z85: another length or character, or a group over 2³²-1.
  public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    guard text.count % 5 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 5 * 4)
    var number: UInt64 = 0
    var count = 0
    for character in text {
      let place = places[Int(character)]
      guard place < 85 else { return nil }
      number = number * 85 + UInt64(place)
      count += 1
      guard count == 5 else { continue }
      guard let group = UInt32(exactly: number) else { return nil }
      for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(shift))) }
      (number, count) = (0, 0)
    }
    return bytes
  }
}
