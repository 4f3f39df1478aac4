/// What a person carries from a daemon to another machine: where the daemon is, its public key, and a secret that can be
/// redeemed once. The key authenticates the daemon to the machine, the secret the machine to the daemon.
public struct PairingCode: Hashable, Sendable {
  /// As it is typed after `--daemon`.
  public var endpoint: String
  public var key: PublicKey
  public var secret: [UInt8]

  /// Bytes of the secret.
  public static let secretCount = 16
  public static let longestEndpoint = 300
  private static let prefix = "navsync1:"

  /// - Parameter secret: ``secretCount`` bytes that nobody can guess.
  public init(endpoint: String, key: PublicKey, secret: [UInt8]) {
    precondition(secret.count == Self.secretCount && endpoint.utf8.count <= Self.longestEndpoint, "a code of that form")
    self.endpoint = endpoint
    self.key = key
    self.secret = secret
  }

  /// A word without blanks or quotes: `navsync1:` and base64url of key, secret, endpoint and a checksum.
  public var text: String {
    let content = key.bytes + secret + Array(endpoint.utf8)
    let sum = Self.checksum(content)
    let all = content + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> UInt32($0)) }
    return Self.prefix + Self.encode(all)
  }

  /// Reads a code, as it may come from a mail or a terminal: blanks and line breaks don't count.
  ///
  /// - Throws: ``TextError``.
  public init(_ text: String) throws(TextError) {
    let word = text.filter { !$0.isWhitespace }
    guard word.utf8.count <= 1000, word.hasPrefix(Self.prefix) else {
      throw TextError(0, "this is no code of 'navsyncd pair', which begins with \(Self.prefix)")
    }
    let cut = TextError(0, "the code is damaged; copy all of it, or make another")
    guard let all = Self.decode(word.utf8.dropFirst(Self.prefix.utf8.count)),
      all.count > PublicKey.byteCount + Self.secretCount + 4
    else { throw cut }
    let content = Array(all.dropLast(4))
    let sum = all.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let start = PublicKey.byteCount + Self.secretCount
    guard sum == Self.checksum(content), content.count - start <= Self.longestEndpoint,
      let key = PublicKey(bytes: content[..<PublicKey.byteCount]),
      let endpoint = String(validating: content[start...], as: UTF8.self)
    else { throw cut }
    self.init(endpoint: endpoint, key: key, secret: Array(content[PublicKey.byteCount..<start]))
  }

  /// CRC-32 (ISO 3309), against slips of who copies.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var sum = UInt32.max
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }
    return ~sum
  }

  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Base64url without padding (RFC 4648, 5).
  private static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    var (buffer, bits) = (UInt32(0), 0)
    for byte in bytes {
      buffer = buffer << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(digits[Int(buffer >> UInt32(bits) & 63)])
      }
    }
    if bits > 0 { text.append(digits[Int(buffer << UInt32(6 - bits) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }

  private static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (buffer, bits) = (UInt32(0), 0)
    for character in text {
      guard let digit = digits.firstIndex(of: character) else { return nil }
      buffer = buffer << 6 | UInt32(digit)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
      }
    }
    return bits < 6 && buffer & (1 << UInt32(bits) - 1) == 0 ? bytes : nil
  }
}
