public import Access

/// A daemon's change of keys. The new ones are made, and told to clients over sessions that the old ones protect; when
/// their time has come they take the place of the old ones. Who hasn't connected meanwhile has to be paired again.
public struct KeyChange: Hashable, Sendable {
  public var key: PublicKey
  /// When they take the place of the old ones, in milliseconds since 1970.
  public var at: Int
}

extension KeyFolder {
  /// What is said in a certificate of when it comes into use.
  private static let changesAt = "changes-at"

  /// The change that is under way; nil without one.
  public func change() throws(KeyFileError) -> KeyChange? {
    guard let next = try certificate(.next), let at = next[Self.changesAt].flatMap({ Int($0) }),
      next.publicKey != (try keys())?.publicKey
    else { return nil }
    return KeyChange(key: next.publicKey, at: at)
  }

  /// Begins a change.
  ///
  /// - Throws: ``KeyFileError``: `.exists` if one is under way; `.notFound` without keys.
  public func beginChange(at wall: Int) throws(KeyFileError) -> KeyChange {
    guard let own = try certificate() else {
      throw KeyFileError(.notFound, secretPath(), "there are no keys to change; 'navsync keys new' makes some")
    }
    guard try change() == nil else { throw KeyFileError(.exists, secretPath(.next), "a change of keys is under way") }
    let pair = try makeKeys(
      .next, metadata: own.metadata.filter { $0.name != Self.changesAt } + [.init(Self.changesAt, "\(wall)")],
      replaces: true)
    return KeyChange(key: pair.publicKey, at: wall)
  }

  /// The new keys take the place of the old ones, which are lost.
  ///
  /// - Returns: false if no change is under way.
  @discardableResult
  public func finishChange() throws(KeyFileError) -> Bool {
    guard var next = try certificate(.next) else { return false }
    next.metadata.removeAll { $0.name == Self.changesAt }
    try keep(next, as: .own, replaces: true)
    // If it ends here, what is next is what is, which counts as no change.
    removeNext()
    return true
  }

  func removeNext() {
    SmallFile.remove(secretPath(.next))
    SmallFile.remove(publicPath(.next))
  }
}
