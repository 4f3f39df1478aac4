import CSodium
import NavigationModel

/// The checksum of a stored batch or snapshot: SipHash-2-4 of its bytes, keyed by the place and time that it was stored
/// with, so that one that turns up at another place is found out too.
///
/// It guards against a disk's mistakes, not against people (the devices' digests do that). libsodium has it, it needs
/// no tables, and costs about a nanosecond a byte.
func checksum(of bytes: [UInt8], at place: Place, storedAt: Int) -> Int {
  var key: [UInt8] = []
  key.reserveCapacity(Int(crypto_shorthash_siphash24_KEYBYTES))
  withUnsafeBytes(of: (Int64(place.rawValue).littleEndian, Int64(storedAt).littleEndian)) { key.append(contentsOf: $0) }
  var result: UInt64 = 0
  withUnsafeMutableBytes(of: &result) { result in
    // It can't fail: it returns 0 always.
    _ = crypto_shorthash_siphash24(
      result.baseAddress!.assumingMemoryBound(to: UInt8.self), bytes, UInt64(bytes.count), key)
  }
  return Int(bitPattern: UInt(result.littleEndian))
}

/// The checksum of a row that has a text and bytes.
func checksum(of text: String, _ bytes: [UInt8] = []) -> Int {
  checksum(of: Array(text.utf8) + [0] + bytes, at: Place(rawValue: 0), storedAt: 0)
}

/// Where a batch stands in a store: the number of its stack and the offset of its first event, in one number that
/// orders batches by stack and offset.
struct Place: RawRepresentable, Hashable {
  let rawValue: Int

  static let maximumOffset = 1 << 40 - 1
  /// The numbers that stacks may have.
  static let stacks = 0...(1 << 23 - 1)

  init(rawValue: Int) { self.rawValue = rawValue }

  init(stack: Int, offset: Int) {
    precondition(Place.stacks.contains(stack), "no stack has the number \(stack)")
    rawValue = stack << 40 | min(max(offset, 0), Place.maximumOffset)
  }

  var offset: Int { rawValue & Place.maximumOffset }
}

/// 128 bits as 16 bytes, big-endian, so that bytes sort as ids do.
func bytes(_ high: UInt64, _ low: UInt64) -> [UInt8] {
  withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
}

/// The two words of 16 bytes, nil for another length.
func words(_ bytes: [UInt8]) -> (high: UInt64, low: UInt64)? {
  guard bytes.count == 16 else { return nil }
  let high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
  return (high, bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
}
