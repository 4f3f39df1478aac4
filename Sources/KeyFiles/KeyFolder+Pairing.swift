public import Access
import CSodium
import Glibc
public import NavigationModel

/// A code that can be redeemed, as a daemon's folder keeps it: not the secret, but its digest.
public struct PairingOffer: Hashable, Sendable {
  /// BLAKE2b of the secret, 32 bytes.
  var digest: [UInt8]
  /// Until when it is open, in milliseconds since 1970.
  public var until: Int
  /// How many wrong secrets close it.
  public var tries: Int
  /// Nil: as whoever redeems it likes to be called.
  public var name: Name?
  public var scope: Scope
  public var verbs: Verbs

  public static let allTries = 5

  public init(secret: [UInt8], until: Int, name: Name?, scope: Scope, verbs: Verbs) {
    digest = Self.digest(of: secret)
    self.until = until
    tries = Self.allTries
    self.name = name
    self.scope = scope
    self.verbs = verbs
  }

  static func digest(of secret: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    let code = crypto_generichash(&digest, digest.count, secret, UInt64(secret.count), nil, 0)
    precondition(code == 0, "libsodium refuses a BLAKE2b of 32 bytes")
    return digest
  }

  /// In time that doesn't tell where they differ.
  func isOpened(by secret: [UInt8]) -> Bool { sodium_memcmp(digest, Self.digest(of: secret), digest.count) == 0 }

  var text: String {
    "# The code that 'navsyncd pair' printed last; gone when it was used.\n"
      + "\(Z85.encode(digest)) \(until) \(tries) \(name?.description ?? "-") \(scope) \(verbs)\n"
  }

  init(text: [UInt8]) throws(TextError) {
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
    let words = lines.count == 2 ? lines[1].split(separator: " ") : []
    guard words.count == 6, let digest = Z85.decode(words[0].utf8), digest.count == 32, let until = Int(words[1]),
      let tries = Int(words[2]), let scope = try? Scope(words[4]), let verbs = Verbs(words[5])
    else { throw TextError(2, "this is no offer to pair; 'navsyncd pair' makes another") }
    let name = words[3] == "-" ? nil : try? Name(words[3])
    self.digest = digest
    self.until = until
    self.tries = tries
    self.name = name
    self.scope = scope
    self.verbs = verbs
  }
}

extension KeyFolder {
  private var offerPath: String { file("pairing") }

  /// The code that is open; nil if there is none.
  public func offer() throws(KeyFileError) -> PairingOffer? {
    guard let text = try SmallFile.read(offerPath, limit: 4096, isSecret: true) else { return nil }
    do throws(TextError) { return try PairingOffer(text: text) } catch { throw KeyFileError(error, in: offerPath) }
  }

  /// Opens a code, in the place of the one before.
  public func keep(_ offer: PairingOffer) throws(KeyFileError) {
    try make()
    try withFileLock(file("access.lock")) { () throws(KeyFileError) in
      try SmallFile.write(offerPath, offer.text)
    }
  }

  /// What came of a secret.
  public enum Redeemed: Hashable, Sendable {
    case granted(AccessRule)
    /// With the reason.
    case refused(String)
  }

  /// Redeems a secret: the key has a rule from then on, and the code is gone. Wrong secrets are counted, and close it.
  ///
  /// - Parameters:
  ///   - name: what the other side would like to be called; it is, unless the offer says otherwise, or another is.
  ///   - wall: now, in milliseconds since 1970.
  public func redeem(
    _ secret: [UInt8], for key: PublicKey, name wish: String, at wall: Int
  ) throws(KeyFileError) -> Redeemed {
    try make()
    var result = Redeemed.refused("no code is open at this daemon; 'navsyncd pair' makes one")
    try withFileLock(file("access.lock")) { () throws(KeyFileError) in
      guard var offer = try offer() else { return }
      guard wall < offer.until else {
        SmallFile.remove(offerPath)
        result = .refused("the code is too old; 'navsyncd pair' makes another")
        return
      }
      guard offer.isOpened(by: secret) else {
        offer.tries -= 1
        if offer.tries > 0 { try SmallFile.write(offerPath, offer.text) } else { SmallFile.remove(offerPath) }
        result = .refused(
          offer.tries > 0
            ? "this isn't the code that is open at this daemon"
            : "the code was tried too often; 'navsyncd pair' makes another")
        return
      }
      // First it is gone, and then it is used: whatever happens between, it isn't used twice.
      SmallFile.remove(offerPath)
      var rules = try rules()
      guard rules.rules.count < AccessRules.mostRules else {
        result = .refused("this daemon has \(rules.rules.count) rules, which is the most that there can be")
        return
      }
      let rule = AccessRule(
        key: key, name: rules.name(of: key) ?? free(offer.name ?? (try? Name(wish)), in: rules), scope: offer.scope,
        verbs: offer.verbs)
      rules.allow(rule)
      try SmallFile.write(rulesPath, rules.text)
      result = .granted(rule)
    }
    return result
  }

  /// A name that no other key has.
  private func free(_ wish: Name?, in rules: AccessRules) -> Name {
    let stem = wish?.description ?? "device"
    var number = 1
    while true {
      let text = number == 1 ? stem : "\(stem.prefix(Name.maximumLength - 6))-\(number)"
      if rules.keys(named: text).isEmpty, let name = try? Name(text) { return name }
      number += 1
    }
  }
}
