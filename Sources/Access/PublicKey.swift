/// A CURVE public key, which stands for whoever holds its secret half. 32 bytes; written as 40 characters of Z85.
public struct PublicKey: Hashable, Sendable, CustomStringConvertible {
  // Four words and no array: one is compared for every message.
  private let words: (UInt64, UInt64, UInt64, UInt64)

  public static let byteCount = 32
  public static let textLength = 40

  /// Nil unless there are 32 bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    var words: [UInt64] = [0, 0, 0, 0]
    for (place, byte) in bytes.enumerated() { words[place / 8] = words[place / 8] << 8 | UInt64(byte) }
    self.words = (words[0], words[1], words[2], words[3])
  }

  /// Nil unless it is 40 characters of Z85.
  public init?(_ text: String) {
    guard text.utf8.count == Self.textLength, let bytes = Z85.decode(text.utf8) else { return nil }
    self.init(bytes: bytes)
  }

  /// The same of bytes, without allocating: one comes with every message.
  public init?(z85 text: Span<UInt8>) {
    guard text.count == Self.textLength else { return nil }
    func word(_ place: Int) -> UInt64? {
      guard let high = Z85.group(text, at: 10 * place), let low = Z85.group(text, at: 10 * place + 5) else {
        return nil
      }
      return UInt64(high) << 32 | UInt64(low)
    }
    guard let first = word(0), let second = word(1), let third = word(2), let fourth = word(3) else { return nil }
    words = (first, second, third, fourth)
  }

  /// The 32 bytes, in order.
  public var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      (0..<8).reversed().map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
    }
  }

  /// As Z85.
  public var description: String { Z85.encode(bytes) }

  public static func == (left: PublicKey, right: PublicKey) -> Bool { left.words == right.words }

  public func hash(into hasher: inout Hasher) {
    // A key is as good as random.
    hasher.combine(words.0)
  }
}

/// A CURVE secret key. Never described, so that no message or log line shows it by accident.
public struct SecretKey: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// The 32 bytes.
  public let bytes: [UInt8]

  /// Nil unless there are 32 bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == PublicKey.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Nil unless it is 40 characters of Z85.
  public init?(_ text: String) {
    guard text.utf8.count == PublicKey.textLength, let bytes = Z85.decode(text.utf8) else { return nil }
    self.init(bytes: bytes)
  }

  /// As Z85, for a file that its owner alone may read.
  public var text: String { Z85.encode(bytes) }

  public var description: String { "(secret)" }
  public var debugDescription: String { description }
}

/// Both halves of a key.
public struct KeyPair: Hashable, Sendable {
  public var publicKey: PublicKey
  public var secretKey: SecretKey

  public init(publicKey: PublicKey, secretKey: SecretKey) {
    self.publicKey = publicKey
    self.secretKey = secretKey
  }
}
