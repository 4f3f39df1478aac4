import Glibc
public import NavigationModel
public import WireFormat

/// Who may write in spaces: the owner's side, and that of who reads and writes there.
extension KeyFolder {
  private static let longestText = 1 << 20

  // MARK: The owner's

  private func ownerPath(_ space: Name, _ ending: String) -> String { file("owner/\(space).\(ending)") }

  /// The key that signs grants of a space; nil if this user doesn't own it.
  ///
  /// - Throws: ``KeyFileError``: `.exposed` if others can read it, `.damaged`.
  public func owner(of space: Name) throws(KeyFileError) -> SigningKey? {
    try Self.signingKey(at: ownerPath(space, "secret"))
  }

  /// Makes a space's key.
  ///
  /// - Throws: ``KeyFileError``: `.exists`.
  public func makeOwner(of space: Name, replaces: Bool = false) throws(KeyFileError) -> SigningKey {
    try make(file("owner"))
    let key = SigningKey.random()
    try Self.keep(key, at: ownerPath(space, "secret"), replaces: replaces)
    return key
  }

  /// The grants of a space that were signed here, in their order.
  public func granted(in space: Name) throws(KeyFileError) -> [Grant] {
    try readGrants(ownerPath(space, "granted"))
  }

  /// Notes a grant that was signed here, in the place of an earlier one of that key.
  public func note(granted grant: Grant) throws(KeyFileError) {
    try make(file("owner"))
    try change(ownerPath(grant.space, "granted"), grant)
  }

  /// The spaces that this user owns, by name.
  public func ownedSpaces() -> [Name] {
    var names: [Name] = []
    guard let folder = opendir(file("owner")) else { return [] }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard name.hasSuffix(".secret"), let space = try? Name(name.dropLast(7)) else { continue }
      names.append(space)
    }
    return names.sorted()
  }

  // MARK: The device's

  /// The grants of this user's devices.
  public func grants() throws(KeyFileError) -> [Grant] { try readGrants(file("grants")) }

  /// A device's grant for a space: the last one that was kept.
  public func grant(in space: Name, for key: VerifyingKey) throws(KeyFileError) -> Grant? {
    try grants().last { $0.space == space && $0.key == key }
  }

  /// Keeps a grant, in the place of an earlier one of that device and space.
  public func keep(_ grant: Grant) throws(KeyFileError) {
    try make()
    try change(file("grants"), grant)
  }

  private func readGrants(_ path: String) throws(KeyFileError) -> [Grant] {
    guard let text = try SmallFile.read(path, limit: Self.longestText) else { return [] }
    var grants: [Grant] = []
    for (number, line) in Self.lines(of: text) {
      guard let grant = Grant(line) else { throw KeyFileError(.damaged, path, "line \(number) is no grant") }
      grants.append(grant)
    }
    return grants
  }

  private func change(_ path: String, _ grant: Grant) throws(KeyFileError) {
    try withFileLock(path + ".lock") { () throws(KeyFileError) in
      var grants = try readGrants(path)
      grants.removeAll { $0.space == grant.space && $0.key == grant.key }
      grants.append(grant)
      try SmallFile.write(path, grants.map { "\($0)\n" }.joined())
    }
  }

  // MARK: Trust

  public var trustPath: String { file("trust") }

  /// Whose grants count in which spaces, by space.
  public func trusts() throws(KeyFileError) -> [SpaceTrust] {
    guard let text = try SmallFile.read(trustPath, limit: Self.longestText) else { return [] }
    var trusts: [SpaceTrust] = []
    for (number, line) in Self.lines(of: text) {
      let words = line.split(separator: " ")
      guard words.count == 3, let space = try? Name(words[0]), let mode = SpaceTrust.Mode(rawValue: String(words[1])),
        let owner = VerifyingKey(words[2]), !trusts.contains(where: { $0.space == space })
      else {
        // What is passed over here would be let through.
        throw KeyFileError(
          .damaged, trustPath, "line \(number) should be a space, off, optional or required, and a key; once a space")
      }
      trusts.append(SpaceTrust(space: space, mode: mode, owner: owner))
    }
    return trusts.sorted { $0.space < $1.space }
  }

  public func trust(in space: Name) throws(KeyFileError) -> SpaceTrust? { try trusts().first { $0.space == space } }

  /// Whose grants count in a space from now on, in the place of what was said before.
  public func keep(_ trust: SpaceTrust) throws(KeyFileError) {
    try make()
    try withFileLock(file("trust.lock")) { () throws(KeyFileError) in
      var trusts = try trusts()
      trusts.removeAll { $0.space == trust.space }
      trusts.append(trust)
      try SmallFile.write(
        trustPath,
        trusts.sorted { $0.space < $1.space }.map { "\($0.space) \($0.mode.rawValue) \($0.owner)\n" }.joined())
    }
  }

  // MARK: Files

  /// A signing key in a file of its own; nil if there is none.
  ///
  /// - Throws: ``KeyFileError``: `.exposed` if others can read it, `.damaged`.
  public static func signingKey(at path: String) throws(KeyFileError) -> SigningKey? {
    guard let text = try SmallFile.read(path, limit: 4096, isSecret: true) else { return nil }
    guard let (_, line) = lines(of: text).first, let key = SigningKey(secretText: line) else {
      throw KeyFileError(.damaged, path, "it is no signing key")
    }
    return key
  }

  /// Keeps a signing key in a file that its owner alone may read.
  ///
  /// - Throws: ``KeyFileError``: `.exists`.
  public static func keep(_ key: SigningKey, at path: String, replaces: Bool = false) throws(KeyFileError) {
    try SmallFile.write(
      path,
      "# A secret signing key of navsync. Give this file to nobody, and leave its mode at 0600.\n\(key.secretText)\n",
      replaces: replaces)
  }

  /// What isn't empty and no comment, with its number.
  private static func lines(of text: [UInt8]) -> [(Int, Substring)] {
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    return lines.enumerated().map { ($0.offset + 1, $0.element) }.filter { !$0.1.isEmpty && !$0.1.hasPrefix("#") }
  }
}

extension SigningKey {
  /// A new one, from the system's randomness.
  public static func random() -> SigningKey {
    var random = SystemRandomNumberGenerator()
    while true {
      let seed = (0..<4).flatMap { _ in
        let word = random.next()
        return (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
      }
      if let key = SigningKey(seed: seed), key.isFitForDevice { return key }
    }
  }
}
