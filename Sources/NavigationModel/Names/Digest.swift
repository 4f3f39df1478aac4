/// A 128-bit digest of a device's chain of events. The model compares digests and takes their computing as given.
public struct Digest: Hashable, Sendable, Comparable {
  /// The first eight bytes, big-endian.
  public let high: UInt64
  /// The last eight bytes, big-endian.
  public let low: UInt64

  /// The digest of an empty chain: what the first event of a device has as its previous.
  public static let empty = Digest(high: 0, low: 0)

  @inlinable
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The digest spelled by 32 lower-case hexadecimal digits, or nil for anything else.
  public init?(_ text: some StringProtocol) {
    guard let bits = DeviceID(text) else { return nil }
    self.init(high: bits.high, low: bits.low)
  }

  @inlinable
  public static func < (left: Digest, right: Digest) -> Bool {
    left.high != right.high ? left.high < right.high : left.low < right.low
  }
}

extension Digest: CustomStringConvertible {
  /// 32 lower-case hexadecimal digits.
  public var description: String { hexadecimal(high, low) }
}
