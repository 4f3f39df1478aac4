public import Access
public import ZeroMQ

/// One connecting socket's dealings with keys: which of those that its daemon may have is tried, and what is to be made of
/// a handshake that fails. libzmq says little of why, and doesn't try again after all failures.
public struct KeyTrial: Sendable {
  /// Nil: there are no keys, and every connection is in plain text.
  public let folder: KeyFolder?
  /// As the person names it, before a host was looked up: keys are kept by it.
  public let endpoint: Endpoint
  private var servers: [PublicKey] = []
  /// Which of them is tried.
  private var place = 0
  /// Handshakes that were cut since the last that wasn't.
  private var cuts = 0

  public init(_ folder: KeyFolder?, _ endpoint: Endpoint) {
    self.folder = folder
    self.endpoint = endpoint
  }

  /// What the socket that connects now is to use; nil is plain text. Reads the folder, so that keys that are exchanged
  /// meanwhile count.
  ///
  /// - Throws: ``KeyFileError`` with what a person has to do first.
  public mutating func curve() throws(KeyFileError) -> Curve? {
    guard case .tcp = endpoint.transport else { return nil }
    servers = try folder?.daemonKeys(at: endpoint) ?? []
    guard !servers.isEmpty else {
      if endpoint.isLoopback { return nil }
      throw KeyFileError(
        .notFound, "\(endpoint)",
        "the key of the daemon there isn't known; run 'navsyncd pair' there, and here 'navsync pair' with the code that it "
          + "prints")
    }
    guard let folder, let own = try folder.keys() else {
      throw KeyFileError(.notFound, folder?.secretPath() ?? "keys", "there are no keys; 'navsync keys new' makes some")
    }
    if place >= servers.count { place = 0 }
    return .client(own, server: servers[place])
  }

  /// What to do about a handshake that failed.
  public enum Verdict: Hashable, Sendable {
    /// Nothing: libzmq connects again by itself.
    case wait
    /// Connect anew at once, with what ``KeyTrial/curve()`` gives then.
    case reconnect
    /// Tell the person, and connect anew after a long while.
    case refused(String)
  }

  public mutating func failed(_ failure: HandshakeFailure) -> Verdict {
    switch failure {
    case .notAuthorised:
      return .refused(
        "not authorised: the daemon at \(endpoint) doesn't know this machine's key; have it allowed there, by 'navsyncd "
          + "pair' or 'navsync keys allow'")
    case .notUnderstood:
      if servers.isEmpty {
        return .refused(
          "not authorised: the daemon at \(endpoint) wants keys; run 'navsyncd pair' there, and here 'navsync pair' with "
            + "the code that it prints")
      }
      return .refused(
        "not authorised: what answers at \(endpoint) has no keys, and isn't the daemon that this machine was paired with"
      )
    case .cut:
      guard !servers.isEmpty else { return .wait }
      cuts += 1
      if place + 1 < servers.count {
        place += 1
        return .reconnect
      }
      place = 0
      // Once may be a daemon that ends.
      guard cuts >= 2 else { return .wait }
      cuts = 0
      return .refused(
        "not authorised: what answers at \(endpoint) hasn't the key that this machine knows (\(servers[0])); if its keys "
          + "were replaced, pair again, and if not, somebody else answers there")
    }
  }

  /// The connection stands. If it was by the key that the daemon had said it would change to, that is its key now.
  public mutating func connected() {
    cuts = 0
    guard place > 0, place < servers.count else { return }
    // What can't be kept now is found out again at the next connection.
    try? folder?.keep(servers[place], ofDaemonAt: endpoint)
    place = 0
  }

  /// The daemon says which key it changes to.
  public mutating func heard(next key: PublicKey) {
    guard !servers.isEmpty, !servers.contains(key) else { return }
    servers.append(key)
    try? folder?.keep(next: key, ofDaemonAt: endpoint)
  }
}
