public import Access
import Glibc
public import ZeroMQ

/// A folder of keys: a user's, or a daemon's. 0700, and all that is in it belongs to who uses it.
///
/// | File | Is |
/// |---|---|
/// | `own.key`, `own.key_secret` | this side's keys, as certificates of ZeroMQ; the first may be handed out |
/// | `next.key`, `next.key_secret` | a daemon's: the keys that it changes to |
/// | `daemons/HOST_PORT.key` | the key of the daemon there |
/// | `daemons/HOST_PORT.next.key` | the one that it said it would change to |
/// | `daemon` | the endpoint of the daemon that this user was paired with |
/// | `access` | a daemon's: who may do what (``Access/AccessRules``) |
/// | `pairing` | a daemon's: the code that is open |
/// | `serving` | a daemon's: the process that serves with these keys |
/// | `owner/SPACE.secret` | the key that signs grants of a space that this user owns |
/// | `owner/SPACE.granted` | the grants that it signed |
/// | `trust` | whose grants count, and whether events must be signed (``WireFormat/SpaceTrust``) |
/// | `grants` | the grants of this user's devices |
public struct KeyFolder: Hashable, Sendable, CustomStringConvertible {
  public let path: String

  /// - Parameter path: need not be there.
  public init(_ path: String) { self.path = path }

  public var description: String { path }

  /// The user's: `NAVSYNC_KEYS`, or `$XDG_CONFIG_HOME/navsync/keys` (`~/.config` for want of the variable).
  public static var ofUser: KeyFolder {
    if let folder = IPCPath.environment("NAVSYNC_KEYS") { return KeyFolder(folder) }
    if let folder = IPCPath.environment("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
      return KeyFolder(folder + "/navsync/keys")
    }
    return KeyFolder((IPCPath.environment("HOME") ?? "/") + "/.config/navsync/keys")
  }

  func file(_ name: String) -> String { path + "/" + name }

  /// Makes the folder, 0700, and its parents.
  func make(_ folder: String? = nil) throws(KeyFileError) {
    let folder = folder ?? path
    // Root looks after a service's folder for whom it belongs to, who also owns what is made in it.
    let owner = SmallFile.owner(ofFolderOf: folder)
    do {
      try IPCPath.prepareFolder(of: folder + "/file", user: SmallFile.owner(ofFolderOf: folder + "/file"))
    } catch { throw KeyFileError(.ofSystem(error.number), error.about, error.detail) }
    if geteuid() == 0, owner != 0, SmallFile.owner(ofFolderOf: folder + "/file") == 0 {
      guard chown(folder, owner, gid_t.max) == 0 else { throw .system(folder, "given to its owner") }
    }
  }

  // MARK: Own keys

  public enum Own: String, Sendable {
    case own
    /// What a daemon changes to.
    case next
  }

  /// The file that may be handed out.
  public func publicPath(_ which: Own = .own) -> String { file("\(which.rawValue).key") }
  /// The file that nobody else may read.
  public func secretPath(_ which: Own = .own) -> String { file("\(which.rawValue).key_secret") }

  /// This side's certificate with both halves; nil if there is none.
  ///
  /// - Throws: ``KeyFileError``: `.exposed` if others can read it, `.damaged`.
  public func certificate(_ which: Own = .own) throws(KeyFileError) -> Certificate? {
    let path = secretPath(which)
    guard let certificate = try Self.certificate(at: path, isSecret: true) else { return nil }
    guard certificate.secretKey != nil else { throw KeyFileError(.damaged, path, "it has no secret-key") }
    return certificate
  }

  public func keys(_ which: Own = .own) throws(KeyFileError) -> KeyPair? { try certificate(which)?.pair }

  /// Makes new keys and keeps them.
  ///
  /// - Parameters:
  ///   - metadata: what is said about them in the files.
  ///   - replaces: whether keys that are there are lost; with the own ones also those that they were to change to, which
  ///     lay beside them.
  /// - Throws: ``KeyFileError``: `.exists`.
  @discardableResult
  public func makeKeys(
    _ which: Own = .own, metadata: [Certificate.Metadata] = [], replaces: Bool = false
  ) throws(KeyFileError) -> KeyPair {
    let pair: KeyPair
    do { pair = try .generate() } catch { throw KeyFileError(.failed, path, error.detail) }
    // First, so that no end in between leaves them to take the place of the new ones.
    if replaces, which == .own { removeNext() }
    try keep(Certificate(pair, metadata: metadata), as: which, replaces: replaces)
    return pair
  }

  func keep(_ certificate: Certificate, as which: Own, replaces: Bool) throws(KeyFileError) {
    try make()
    // The secret half first, for it is what counts; the other can be made from it.
    try SmallFile.write(
      secretPath(which),
      certificate.text([
        "ZeroMQ CURVE Secret Certificate, made by navsync", "Give this file to nobody, and leave its mode at 0600.",
      ]), replaces: replaces)
    try SmallFile.write(
      publicPath(which),
      Certificate(certificate.publicKey, metadata: certificate.metadata).text([
        "ZeroMQ CURVE Public Certificate, made by navsync", "Others need this file to know you by; it is no secret.",
      ]), mode: 0o644)
  }

  /// A certificate in any file; nil if there is none.
  ///
  /// - Parameter isSecret: whether it is an error if others can read it. If not, only if a secret key is in it.
  public static func certificate(at path: String, isSecret: Bool = false) throws(KeyFileError) -> Certificate? {
    guard let text = try SmallFile.read(path, limit: Certificate.longestText, isSecret: isSecret) else { return nil }
    let certificate: Certificate
    do throws(TextError) { certificate = try Certificate(text: text) } catch { throw KeyFileError(error, in: path) }
    if certificate.secretKey != nil, !isSecret {
      _ = try SmallFile.read(path, limit: Certificate.longestText, isSecret: true)
    }
    return certificate
  }

  // MARK: Others' keys

  private func daemonPath(_ endpoint: Endpoint, _ ending: String) -> String? {
    guard case .tcp(let host, let port) = endpoint.transport else { return nil }
    // A host has no slash (`Endpoint`), so the name stays in its folder.
    return file("daemons/\(host)_\(port)\(ending)")
  }

  /// The keys by which the daemon at an endpoint may be known: its own, and what it said it would change to. Empty if
  /// there is none, as always over ipc.
  public func daemonKeys(at endpoint: Endpoint) throws(KeyFileError) -> [PublicKey] {
    var keys: [PublicKey] = []
    for ending in [".key", ".next.key"] {
      guard let path = daemonPath(endpoint, ending), let certificate = try Self.certificate(at: path) else { continue }
      keys.append(certificate.publicKey)
    }
    return keys
  }

  /// Keeps the key of the daemon at an endpoint; what was known of it before is lost.
  public func keep(_ key: PublicKey, ofDaemonAt endpoint: Endpoint) throws(KeyFileError) {
    try keep(key, endpoint, ".key")
    if let next = daemonPath(endpoint, ".next.key") { SmallFile.remove(next) }
  }

  /// Keeps the key that the daemon at an endpoint says it changes to. Nothing if it is kept already.
  public func keep(next key: PublicKey, ofDaemonAt endpoint: Endpoint) throws(KeyFileError) {
    guard try !daemonKeys(at: endpoint).contains(key) else { return }
    try keep(key, endpoint, ".next.key")
  }

  private func keep(_ key: PublicKey, _ endpoint: Endpoint, _ ending: String) throws(KeyFileError) {
    guard let path = daemonPath(endpoint, ending) else {
      throw KeyFileError(.refused, "\(endpoint)", "only a tcp endpoint has keys")
    }
    try make(file("daemons"))
    let text = Certificate(key, metadata: [.init("endpoint", "\(endpoint)")]).text([
      "ZeroMQ CURVE Public Certificate of a daemon"
    ])
    // All of the user's devices hear of a daemon's next key at the same time.
    try withFileLock(file("daemons.lock")) { () throws(KeyFileError) in
      try SmallFile.write(path, text, mode: 0o644)
    }
  }

  /// The daemon that this user was paired with last; nil if there is none, or the file makes no sense.
  public var pairedDaemon: Endpoint? {
    guard let text = try? SmallFile.read(file("daemon"), limit: 1024) else { return nil }
    let line = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline).first ?? ""
    return try? Endpoint(String(line))
  }

  public func keep(pairedDaemon endpoint: Endpoint) throws(KeyFileError) {
    try make()
    try SmallFile.write(file("daemon"), "\(endpoint)\n", mode: 0o644)
  }

  // MARK: Rules

  public var rulesPath: String { file("access") }

  /// Who may do what; nobody if there is no such file.
  public func rules() throws(KeyFileError) -> AccessRules {
    guard let text = try SmallFile.read(rulesPath, limit: AccessRules.longestText) else { return AccessRules() }
    do throws(TextError) { return try AccessRules(text: text) } catch { throw KeyFileError(error, in: rulesPath) }
  }

  /// Changes the rules, while nobody else does.
  public func changeRules(_ change: (inout AccessRules) throws(KeyFileError) -> Void) throws(KeyFileError) {
    try make()
    try withFileLock(file("access.lock")) { () throws(KeyFileError) in
      var rules = try rules()
      let before = rules
      try change(&rules)
      if rules != before { try SmallFile.write(rulesPath, rules.text) }
    }
  }
}
