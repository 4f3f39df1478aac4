import Access
import KeyFiles
import Locking
import ZeroMQ

/// A daemon's keys and rules: read from its folder, and asked by the gates at each handshake.
final class AccessControl: Sendable {
  let folder: KeyFolder
  private let state: Locked<State>
  private let gates: Locked<Gates?>
  private let log: DaemonLog

  private struct State: Sendable {
    var keys: KeyPair
    var rules: AccessRules
    /// Until when whoever has a code may be a stranger, in monotonic milliseconds.
    var strangersUntil = 0
    var refused = 0
    var change: KeyChange?
  }

  private struct Gates: Sendable {
    var sync: Gate
    var feed: Gate
  }

  /// Nil if there are no keys in the folder: nothing is encrypted then, and nothing listens beyond this machine.
  static func open(_ folder: KeyFolder, _ log: DaemonLog) throws(KeyFileError) -> AccessControl? {
    guard let keys = try folder.keys() else { return nil }
    return AccessControl(folder, keys, try folder.rules(), log)
  }

  private init(_ folder: KeyFolder, _ keys: KeyPair, _ rules: AccessRules, _ log: DaemonLog) {
    self.folder = folder
    self.log = log
    state = Locked(State(keys: keys, rules: rules))
    gates = Locked(nil)
  }

  var rules: AccessRules { state.withLock { $0.rules } }
  var keys: KeyPair { state.withLock { $0.keys } }
  /// The change of the daemon's keys that is under way.
  var change: KeyChange? { state.withLock { $0.change } }
  /// Whether strangers get in to redeem a code.
  var hasOpenCode: Bool {
    let now = Moment.now().monotonic
    return state.withLock { now < $0.strangersUntil }
  }
  /// Handshakes that were refused since the start.
  var refusedHandshakes: Int { state.withLock { $0.refused } }

  /// What the sync sockets, or those of the feed, are bound with. The first call proves that a stranger is refused.
  ///
  /// - Throws: ``ZeroMQError`` if they aren't, and then nothing may be bound.
  func curve(forFeed: Bool) throws(ZeroMQError) -> Curve {
    let known = gates.withLock { $0 }
    let gates: Gates
    if let known {
      gates = known
    } else {
      gates = try makeGates()
      try gates.sync.prove(serverKeys: keys)
      self.gates.withLock { $0 = gates }
    }
    return .server(keys, forFeed ? gates.feed : gates.sync)
  }

  private func makeGates() throws(ZeroMQError) -> Gates {
    // The gates hold what they ask, and not this object, which holds them.
    let (state, log) = (state, log)
    func gate(admitsStrangers: Bool) throws(ZeroMQError) -> Gate {
      try Gate(
        admits: { key in
          state.withLock { state in
            state.rules.knows(key) || admitsStrangers && Moment.now().monotonic < state.strangersUntil
          }
        },
        refused: { key, address in
          state.withLock { $0.refused += 1 }
          log.audit(.warning, "connection refused: no rule knows the key", [("key", "\(key)"), ("address", address)])
        })
    }
    return Gates(sync: try gate(admitsStrangers: true), feed: try gate(admitsStrangers: false))
  }

  /// Reads the folder again. What can't be read leaves everything as it was.
  ///
  /// - Returns: whether connections have to be cut: a key lost all that it was allowed, the daemon's keys are others, or
  ///   everybody has to hear that they will be.
  func reload() throws(KeyFileError) -> Bool {
    let rules = try folder.rules()
    guard let keys = try folder.keys() else {
      throw KeyFileError(.notFound, folder.secretPath(), "the daemon's keys are gone; those it had stay in use")
    }
    let change = try folder.change()
    let now = Moment.now()
    // Whoever waits for a code that can't be read is refused; everything else goes on.
    let open = (try? folder.offer()).map { max(0, $0.until - now.wall) } ?? 0
    return state.withLock { state in
      let cuts = !state.rules.keys.isSubset(of: rules.keys) || keys != state.keys || change != state.change
      state.rules = rules
      state.keys = keys
      state.change = change
      state.strangersUntil = now.monotonic + open
      return cuts
    }
  }

  /// Redeems a code's secret.
  func redeem(_ secret: [UInt8], for key: PublicKey, name: String) -> KeyFolder.Redeemed {
    // Before any file is read, lest somebody keeps the daemon busy with guesses.
    guard hasOpenCode else { return .refused("no code is open at this daemon; 'navsyncd pair' makes one") }
    do throws(KeyFileError) { return try folder.redeem(secret, for: key, name: name, at: Moment.now().wall) } catch {
      log.audit(.error, "a code can't be redeemed", [("problem", "\(error)")])
      return .refused("the daemon can't write its rules; its log says why")
    }
  }
}
