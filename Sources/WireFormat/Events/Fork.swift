import CSodium
public import NavigationModel

/// One of two or more histories under one device id, as a cloned device or a restored backup makes them: the history
/// that has the event of this digest at this sequence.
///
/// Both are stored. As a number alone doesn't name an event any more then, each history is kept and sent once more, whole
/// and under an id of its own: a *copy*. The first entry of its chain is the fork's ``bytes``, the next ones are the
/// device's events from its first on, byte by byte. So a copy is a chain like any other, in logs, batches and vectors,
/// and needs nothing but itself to be read. The id is a hash of the first entry: whoever keeps the same history makes the
/// same copy, and what a chain is a copy of shows by itself.
///
/// A chain that has a copy is *retired*: nothing is added to it any more, and vectors leave it out (see
/// ``StackChains/retired``).
///
/// `proto/EVENT-FORMAT.md` has the bytes.
public struct Fork: Hashable, Sendable {
  public var device: DeviceID
  /// A place at which the history differs from another: not always the first.
  public var sequence: Int
  /// Of the device's chain after the event at `sequence`.
  public var digest: Digest

  public init(device: DeviceID, sequence: Int, digest: Digest) {
    self.device = device
    self.sequence = sequence
    self.digest = digest
  }

  /// No canonical event begins so: readers of before take it for an event of a newer format.
  private static let start: [UInt8] = [0x87, 1]
  /// The first half of a copy's id, "fork" in ASCII: that a chain may be a copy shows before its first entry is read.
  private static let mark: UInt64 = 0x666f_726b

  /// The first entry of the copy's chain.
  public var bytes: [UInt8] {
    var bytes = Self.start
    for word in [device.high, device.low, digest.high, digest.low] { bytes.append(word: word) }
    bytes.append(number: sequence)
    return bytes
  }

  /// The id of the copy.
  public var id: DeviceID { Self.id(of: bytes) }

  /// What a chain is a copy of, from its first entry; nil if it is a device's own chain.
  public init?(_ entry: [UInt8], under id: DeviceID) { self.init(entry, in: 0..<entry.count, under: id) }

  init?(_ bytes: [UInt8], in range: Range<Int>, under id: DeviceID) {
    guard Self.mayBeCopy(id), range.count > 34, bytes[range.lowerBound] == Self.start[0],
      bytes[range.lowerBound + 1] == Self.start[1]
    else { return nil }
    var reader = EventByteReader(bytes, in: range.lowerBound + 2..<range.upperBound)
    do throws(DecodeError) {
      device = DeviceID(high: try reader.word(), low: try reader.word())
      digest = Digest(high: try reader.word(), low: try reader.word())
      sequence = try reader.number()
    } catch { return nil }
    guard reader.left == 0, (1..<Dot.maximumSequence).contains(sequence), Self.id(of: Array(bytes[range])) == id else {
      return nil
    }
  }

  /// Whether a chain of that id may be a copy: all copies' ids begin so, and of others one in four thousand million.
  public static func mayBeCopy(_ id: DeviceID) -> Bool { id.high >> 32 == mark }

  private static func id(of bytes: [UInt8]) -> DeviceID {
    var hash = [UInt8](repeating: 0, count: 16)
    let code = crypto_generichash(&hash, hash.count, bytes, UInt64(bytes.count), nil, 0)
    precondition(code == 0, "libsodium can't hash")
    var reader = EventByteReader(hash, in: 0..<16)
    let words = [0, 0].map { _ in (try? reader.word()) ?? 0 }
    return DeviceID(high: mark << 32 | words[0] & 0xFFFF_FFFF, low: words[1])
  }
}

extension Fork: CustomStringConvertible {
  public var description: String { "\(device) with \(digest) at \(sequence)" }
}
