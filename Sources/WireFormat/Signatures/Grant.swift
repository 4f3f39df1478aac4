public import NavigationModel

/// What a space's owner signs for a device: that it may write there. A device carries it in its events, so every reader
/// of a history has what it takes to check it.
public struct Grant: Hashable, Sendable {
  public var space: Name
  /// Of the device.
  public var key: VerifyingKey
  /// What the owner calls the device.
  public var name: Name
  /// Events with a later timestamp are not covered; in milliseconds since 1970, nil: for ever. The timestamp is the
  /// device's own word: it can be set back, though not behind what the device says to have seen.
  public var expires: Int?
  /// Of the owner, 64 bytes.
  public var signature: [UInt8]

  /// The times that a grant may end at: 0 stands for none in its bytes.
  public static let endings = 1...Timestamp.maximumMagnitude

  /// Signs a grant. Its end must be one of ``endings``.
  public init(space: Name, key: VerifyingKey, name: Name, expires: Int?, by owner: SigningKey) {
    precondition(expires.map(Self.endings.contains) ?? true, "a grant can't end at \(expires ?? 0)")
    self.space = space
    self.key = key
    self.name = name
    self.expires = expires
    signature = []
    signature = owner.signature(of: message)
  }

  /// Whether the owner signed it.
  public func isSigned(by owner: VerifyingKey) -> Bool { owner.verifies(signature, of: message) }

  /// Whether it covers an event of that time.
  public func covers(_ timestamp: Timestamp) -> Bool { expires.map { timestamp.milliseconds <= $0 } ?? true }

  private var message: [UInt8] { Array("navsync grant 1\n".utf8) + body }

  private var body: [UInt8] {
    var bytes: [UInt8] = []
    for (place, name) in [space, name].enumerated() {
      if place == 1 { bytes.append(contentsOf: key.bytes) }
      bytes.append(number: name.description.utf8.count)
      bytes.append(contentsOf: name.description.utf8)
    }
    bytes.append(word: UInt64(expires ?? 0))
    return bytes
  }

  /// `proto/EVENT-FORMAT.md` has them.
  public var bytes: [UInt8] { body + signature }

  /// Nil for what isn't one. Whether it is signed is another matter.
  public init?(bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    var reader = EventByteReader(bytes, in: 0..<bytes.count)
    do {
      space = try Self.name(&reader)
      guard reader.left >= VerifyingKey.byteCount,
        let key = VerifyingKey(bytes: bytes[reader.at..<reader.at + VerifyingKey.byteCount])
      else { return nil }
      reader.at += VerifyingKey.byteCount
      self.key = key
      name = try Self.name(&reader)
      let time = try reader.word()
      guard time <= UInt64(Self.endings.upperBound), reader.left == SigningKey.signatureSize else { return nil }
      expires = time == 0 ? nil : Int(time)
      signature = Array(bytes[reader.at...])
    } catch { return nil }
  }

  private static func name(_ reader: inout EventByteReader) throws -> Name {
    let range = try reader.run(limit: Name.maximumLength)
    return try Name(String(decoding: reader.bytes[range], as: UTF8.self))
  }
}

// MARK: As a line

extension Grant: CustomStringConvertible {
  private static let start = "navsync-grant-1"

  /// One line of text, to be handed over: the space, the name, the device's key, until when, the signature.
  public var description: String {
    [Self.start, "\(space)", "\(name)", "\(key)", expires.map { "\($0)" } ?? "never", signature.hexadecimal]
      .joined(separator: " ")
  }

  /// Nil for what isn't such a line.
  public init?(_ line: some StringProtocol) {
    let words = line.split(separator: " ")
    guard words.count == 6, words[0] == Self.start, let space = try? Name(words[1]), let name = try? Name(words[2]),
      let key = VerifyingKey(words[3]), let signature = [UInt8](hexadecimal: words[5]),
      signature.count == SigningKey.signatureSize
    else { return nil }
    self.space = space
    self.name = name
    self.key = key
    self.signature = signature
    expires = nil
    guard words[4] != "never" else { return }
    guard let time = Int(words[4]), Self.endings.contains(time) else { return nil }
    expires = time
  }
}
