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
  @inlinable
  public init?(_ text: some StringProtocol) {
    let digits = text.utf8
    guard digits.count == 32 else { return nil }
    var high: UInt64 = 0
    var low: UInt64 = 0
    for digit in digits {
      guard let nibble = hexadecimalValue(of: digit) else { return nil }
      high = high << 4 | low >> 60
      low = low << 4 | nibble
    }
    self.init(high: high, low: low)
  }

  @inlinable
  public static func < (left: DeviceID, right: DeviceID) -> Bool {
    left.high != right.high ? left.high < right.high : left.low < right.low
  }
}

extension DeviceID: CustomStringConvertible {
  /// 32 lower-case hexadecimal digits.
  public var description: String { hexadecimal(high, low) }
}

/// The 32 lower-case hexadecimal digits of two numbers.
func hexadecimal(_ high: UInt64, _ low: UInt64) -> String {
  var digits: [UInt8] = []
  digits.reserveCapacity(32)
  for number in [high, low] {
    for shift in stride(from: 60, through: 0, by: -4) {
      let nibble = UInt8(number >> UInt64(shift) & 15)
      digits.append(nibble + (nibble < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
    }
  }
  return String(decoding: digits, as: UTF8.self)
}

/// The value of a lower-case hexadecimal digit, or nil.
@inlinable
func hexadecimalValue(of digit: UInt8) -> UInt64? {
  switch digit {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
  case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a") + 10)
  case _: nil
  }
}
