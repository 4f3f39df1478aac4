import CSodium
public import NavigationModel

/// An Ed25519 public key (RFC 8032): what signatures are checked with. 32 bytes; written as 64 hexadecimal digits, so
/// that nobody takes it for a key of a connection (``Access/PublicKey``), which has 40 characters.
public struct VerifyingKey: Hashable, Sendable, CustomStringConvertible {
  public static let byteCount = 32
  public let bytes: [UInt8]

  /// Nil unless there are 32 bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  /// Nil unless it is 64 lower-case hexadecimal digits.
  public init?(_ text: some StringProtocol) {
    guard let bytes = [UInt8](hexadecimal: text) else { return nil }
    self.init(bytes: bytes)
  }

  public var description: String { bytes.hexadecimal }

  /// The id of the device that signs with the key: BLAKE2b-128 of `navsync device 1` and the key. So an id names one key,
  /// and nobody has to be asked which.
  public var device: DeviceID {
    var hash = [UInt8](repeating: 0, count: 16)
    let input = Array("navsync device 1".utf8) + bytes
    let code = crypto_generichash(&hash, hash.count, input, UInt64(input.count), nil, 0)
    precondition(code == 0, "libsodium can't hash")
    func word(_ range: Range<Int>) -> UInt64 { hash[range].reduce(0) { $0 << 8 | UInt64($1) } }
    return DeviceID(high: word(0..<8), low: word(8..<16))
  }

  /// Whether the key's holder signed exactly this message. About 60 µs. Signatures that another could have derived from
  /// a valid one are refused.
  public func verifies(_ signature: some Collection<UInt8>, of message: [UInt8]) -> Bool {
    guard signature.count == SigningKey.signatureSize else { return false }
    return crypto_sign_verify_detached(Array(signature), message, UInt64(message.count), bytes) == 0
  }
}

/// An Ed25519 secret key, made from 32 secret bytes. Never described, so that no message shows it by accident.
public struct SigningKey: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  public static let signatureSize = 64

  /// The secret: 32 bytes.
  public let seed: [UInt8]
  /// Its public half.
  public let verifyingKey: VerifyingKey
  private let secret: [UInt8]

  /// Nil unless there are 32 bytes.
  public init?(seed: [UInt8]) {
    guard seed.count == 32 else { return nil }
    var open = [UInt8](repeating: 0, count: 32)
    var secret = [UInt8](repeating: 0, count: 64)
    guard crypto_sign_seed_keypair(&open, &secret, seed) == 0, let key = VerifyingKey(bytes: open) else { return nil }
    self.seed = seed
    self.secret = secret
    verifyingKey = key
  }

  /// The same of the secret's 64 hexadecimal digits.
  public init?(secretText: some StringProtocol) {
    guard let seed = [UInt8](hexadecimal: secretText) else { return nil }
    self.init(seed: seed)
  }

  /// For a file that its owner alone may read.
  public var secretText: String { seed.hexadecimal }

  /// Whether a device may have the key: not one in four thousand million whose id looks like that of a copied history.
  public var isFitForDevice: Bool { !Fork.mayBeCopy(verifyingKey.device) }

  /// The signature, 64 bytes; always the same of a message. About 25 µs.
  public func signature(of message: [UInt8]) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: Self.signatureSize)
    let code = crypto_sign_detached(&result, nil, message, UInt64(message.count), secret)
    precondition(code == 0, "libsodium can't sign")
    return result
  }

  public var description: String { "(secret)" }
  public var debugDescription: String { description }
}

extension [UInt8] {
  /// Lower-case hexadecimal digits, two a byte.
  var hexadecimal: String {
    let digits = JSONText.hexadecimalDigits
    return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// What lower-case hexadecimal digits spell; nil for anything else.
  init?(hexadecimal text: some StringProtocol) {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    self = []
    reserveCapacity(digits.count / 2)
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let high = Self.value(digits[place]), let low = Self.value(digits[place + 1]) else { return nil }
      append(high << 4 | low)
    }
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case _: nil
    }
  }
}
