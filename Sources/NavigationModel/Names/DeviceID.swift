/// Which replica acted: 128 random bits, one incarnation of one device.
///
/// A device takes a new id at install, at a restore from a backup, and whenever a peer holds another history under its
/// id. The display name that groups incarnations is kept elsewhere and is no part of an event.
///
/// Ordered by its bytes, most significant first, which is the order of its text.
public struct DeviceID: Hashable, Sendable, Comparable {
  /// The first eight bytes, big-endian.
  public let high: UInt64
  /// The last eight bytes, big-endian.
  public let low: UInt64

  @inlinable
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The id spelled by 32 lower-case hexadecimal digits, or nil for anything else.
  public init?(_ text: some StringProtocol) {
    let digits = text.utf8
    guard digits.count == 32 else { return nil }
    var halves: (UInt64, UInt64) = (0, 0)
    for (place, digit) in digits.enumerated() {
      guard let nibble = hexadecimalValue(of: digit) else { return nil }
      if place < 16 { halves.0 = halves.0 << 4 | nibble } else { halves.1 = halves.1 << 4 | nibble }
    }
    self.init(high: halves.0, low: halves.1)
  }

  @inlinable
  public static func < (left: DeviceID, right: DeviceID) -> Bool {
    left.high != right.high ? left.high < right.high : left.low < right.low
  }
}

extension DeviceID: CustomStringConvertible {
  /// 32 lower-case hexadecimal digits.
  public var description: String { hexadecimal(high) + hexadecimal(low) }
}

/// The 16 lower-case hexadecimal digits of a number.
func hexadecimal(_ number: UInt64) -> String {
  let digits = String(number, radix: 16)
  return String(repeating: "0", count: 16 - digits.utf8.count) + digits
}

/// The value of a lower-case hexadecimal digit, or nil.
func hexadecimalValue(of digit: UInt8) -> UInt64? {
  switch digit {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
  case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a") + 10)
  case _: nil
  }
}
