import CSodium

/// The compact form of an export: the same header, events and trailer as the JSON lines, in blocks.
///
/// The bytes: ``magic``, then blocks. A block is its kind (one byte), the length of its content (four bytes,
/// little-endian), the content, and eight bytes of SipHash-2-4 of kind and content, keyed by the block's number from 0
/// on: a block that was changed, cut or moved shows. The first block is the header's line, the last the trailer's, those
/// between are batches of events (``EventBatch``) in log order.
package enum BinaryExport {
  package enum Kind: UInt8 {
    case header = 1
    case events = 2
    case trailer = 3
  }

  /// A first byte that no text begins with, a name, a line break of each kind to show a transfer as text, and the
  /// format's version.
  package static let magic: [UInt8] = [0x8E] + Array("navsync".utf8) + [13, 10, 10, 1]
  /// What a newer version changes.
  package static let versionPlace = magic.count - 1
  /// Of a block's kind and length.
  package static let prefixSize = 5
  package static let checksumSize = 8
  /// The largest content of a block.
  package static let maximumContent = 16 << 20

  /// A block with what stands around it.
  package static func block(_ kind: Kind, _ content: [UInt8], number: Int) -> [UInt8] {
    precondition(content.count <= maximumContent, "a block of \(content.count) bytes")
    var bytes: [UInt8] = [kind.rawValue]
    for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: content.count >> shift)) }
    return bytes + content + checksum([kind.rawValue] + content, number: number)
  }

  /// The kind and the content's length, nil for what no block begins with.
  package static func prefix(_ bytes: [UInt8]) -> (kind: Kind, length: Int)? {
    guard bytes.count == prefixSize, let kind = Kind(rawValue: bytes[0]) else { return nil }
    let length = bytes[1...].reversed().reduce(0) { $0 << 8 | Int($1) }
    return length <= maximumContent ? (kind, length) : nil
  }

  /// Whether a block's content is what was written.
  package static func isWhole(_ kind: Kind, _ content: [UInt8], checksum: [UInt8], number: Int) -> Bool {
    self.checksum([kind.rawValue] + content, number: number) == checksum
  }

  private static func checksum(_ bytes: [UInt8], number: Int) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: Int(crypto_shorthash_siphash24_KEYBYTES))
    for place in 0..<8 { key[place] = UInt8(truncatingIfNeeded: number >> (8 * place)) }
    var result = [UInt8](repeating: 0, count: checksumSize)
    // It can't fail: it returns 0 always.
    _ = crypto_shorthash_siphash24(&result, bytes, UInt64(bytes.count), key)
    return result
  }
}
