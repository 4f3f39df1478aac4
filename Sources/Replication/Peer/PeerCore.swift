package import NavigationModel
package import WireFormat

/// A daemon's link to another daemon: a client of both. Towards the other it is a ``ClientCore`` that follows every
/// stack of either; towards its own daemon it is a session of the ``ServerCore``. What comes from there is appended here
/// as by any client, so admission, group commit, followers and feed are those of every append; what is stored here goes
/// there as a device's events go.
///
/// Pure, as both are. An event crosses a link once in a direction and keeps its dot, so loops are harmless; what is not
/// taken in is dropped and counted, and comes again, because a stack is always resumed by vector.
///
/// Numbers alone don't show that two chains are the same, and events carry no digests. So the link knows for each device
/// up to where both chains were compared (`agreed`): by equal head digests, by what the other accepted of ours (an
/// append carries the digest before it), and by what was compared here byte by byte. An event that would go on from a
/// place that wasn't compared waits until our event of that place was appended there once more.
package struct PeerCore: Hashable, Sendable {
  package typealias Moment = ServerCore.Moment

  package struct Settings: Hashable, Sendable {
    /// This daemon.
    package var daemon: DeviceID
    /// The life of this daemon's log.
    package var epoch: UInt64
    /// Where the other one is, for the log and the report.
    package var endpoint: String
    /// How this daemon is called there.
    package var name: String
    package var software = ""
    /// Where the jitter begins.
    package var seed: UInt64 = 0
    /// The longest wait between attempts to connect.
    package var reconnectCapMilliseconds = 30_000
    /// The most events that the own daemon takes in one append.
    package var eventsAnAppend = Limits().eventsAnAppend

    package init(daemon: DeviceID, epoch: UInt64, endpoint: String, name: String) {
      self.daemon = daemon
      self.epoch = epoch
      self.endpoint = endpoint
      self.name = name
    }
  }

  package let settings: Settings
  var client: ClientCore
  var jitter: Jitter
  var stacks: [StackName: Linked] = [:]
  /// Those of `stacks` that have something to do at a time.
  var timed: Set<StackName> = []
  /// Counts the sessions with the other daemon.
  var session = 0
  var lastNumber = 0
  /// The own daemon's stacks are known; before that the other one isn't asked.
  var knowsOwn = false
  var listAt: Int?
  var ownListAt: Int?
  var isConnected = false
  var since: Int
  var daemon: DeviceID?
  var problem = ""
  /// The key that the other daemon says it changes to; empty without one.
  package internal(set) var nextKey: [UInt8] = []
  /// Said once in the log.
  var told: Set<String> = []
  /// Events that were not taken in and will come again.
  package internal(set) var heldBack = 0
  private var outputs: [PeerOutput] = []
  private var isChanged = true

  package init(_ settings: Settings, at moment: Moment) {
    self.settings = settings
    var own = ClientCore.Settings(
      device: settings.daemon, name: settings.name, software: settings.software, seed: settings.seed)
    own.reconnectCapMilliseconds = settings.reconnectCapMilliseconds
    client = ClientCore(own)
    jitter = Jitter(seed: ~settings.seed)
    since = moment.wall
  }

  /// What is to be done, once, in order.
  package mutating func drain() -> [PeerOutput] {
    defer { outputs = [] }
    return outputs
  }

  mutating func put(_ output: PeerOutput) { outputs.append(output) }

  mutating func number() -> Int {
    lastNumber += 1
    return lastNumber
  }

  mutating func log(_ level: ServerCore.LogRecord.Level, _ text: String, _ fields: [ServerCore.LogRecord.Field] = []) {
    put(.log(ServerCore.LogRecord(level, text, [.init("peer", settings.endpoint)] + fields)))
  }

  // MARK: The connection

  /// The link's session with its own daemon is open: from now on it works.
  package mutating func start(at moment: Moment) {
    put(.submit(.list(List(follows: true))))
  }

  package mutating func connected(at moment: Moment) {
    client.connected(now: moment.milliseconds)
    settle(at: moment)
  }

  package mutating func disconnected(at moment: Moment) {
    client.disconnected(now: moment.milliseconds)
    settle(at: moment)
  }

  package mutating func handshakeRefused(reason: String, at moment: Moment) {
    client.handshakeRefused(reason: reason, now: moment.milliseconds)
    settle(at: moment)
  }

  // MARK: The other daemon

  /// A frame came from the other daemon.
  package mutating func received(_ bytes: [UInt8], at moment: Moment) {
    do throws(DecodeError) {
      let message = try Message(decoding: bytes)
      var answered: StackName?
      switch message {
      case .accepted(let accepted): answered = compared(accepted)
      case .rejected(let rejected): answered = appendRejected(rejected, at: moment)
      case .refused(let refused) where refused.about == .append: probeRefused(refused, at: moment)
      case _: break
      }
      client.received(message, bytes: bytes.count, now: moment.milliseconds)
      settle(at: moment)
      if case .following(let following) = message { comparePolicy(following, at: moment) }
      if let answered { takeNext(of: answered, at: moment) }
    } catch {
      client.unreadableReceived(error, now: moment.milliseconds)
    }
    settle(at: moment)
  }

  // MARK: Time

  /// When ``timerFired(at:)`` is wanted next, in milliseconds of the clock that never goes back; nil for never.
  package var deadline: Int? {
    var soonest = [client.deadline, listAt, ownListAt].compactMap(\.self).min()
    for name in timed {
      if let due = stacks[name]?.due { soonest = min(soonest ?? due, due) }
    }
    return soonest
  }

  /// It is so late. Too early a call does nothing.
  package mutating func timerFired(at moment: Moment) {
    let now = moment.milliseconds
    if let due = client.deadline, now >= due { client.timerFired(now: now) }
    if let due = ownListAt, now >= due {
      ownListAt = nil
      put(.submit(.list(List(follows: true))))
    }
    if let due = listAt, now >= due {
      listAt = now + Self.listMilliseconds
      client.request(.list(List(follows: true)))
    }
    for name in timed.sorted() {
      guard let due = stacks[name]?.due, now >= due else { continue }
      stackTimerFired(name, at: moment)
    }
    settle(at: moment)
  }

  /// Does what the session with the other daemon wants until it wants nothing more.
  mutating func settle(at moment: Moment) {
    isChanged = true
    while true {
      let wanted = client.drain()
      if wanted.isEmpty { return }
      for output in wanted { carryOut(output, at: moment) }
    }
  }

  private mutating func carryOut(_ output: ClientOutput, at moment: Moment) {
    switch output {
    case .connect: put(.connect)
    case .disconnect: put(.disconnect)
    case .send(.follow(let follow)): put(.send(.follow(withPolicy(follow))))
    case .send(let message): put(.send(message))
    case .readHeads(let name): put(.readHeads(name))
    case .checkHeads(let name, let heads): checkHeads(name, heads, at: moment)
    case .readEvents(let order): readEvents(order)
    case .deliver(let name, let batch, _, let bytes): deliver(batch, of: name, bytes: bytes, at: moment)
    case .rejected(let name, let dot, let code, let detail, let isWaiting):
      refused(name, code, "\(dot): \(detail)", isWaiting: isWaiting, at: moment)
    case .refused(let name, let code, let reason, let isWaiting):
      refused(name, code, reason, isWaiting: isWaiting, at: moment)
    case .forked: break
    case .answer(let message): answered(message, at: moment)
    case .state(let state): stateChanged(state, at: moment)
    case .opened(_, let welcome): opened(welcome, at: moment)
    case .policy, .acknowledged, .live, .presence, .time: break
    }
  }

  private mutating func opened(_ welcome: Welcome, at moment: Moment) {
    session += 1
    nextKey = welcome.nextKey
    daemon = welcome.daemon
    guard welcome.daemon != settings.daemon else {
      problem = "it is this daemon itself; name another one"
      log(.error, "a daemon can't follow itself: take this endpoint out of its peers")
      return client.stop()
    }
    problem = ""
    isConnected = true
    since = moment.wall
    log(.info, "peer connected", [.init("daemon", welcome.daemon), .init("software", welcome.software)])
    for name in stacks.keys.sorted() { sessionBegan(of: name, now: moment.milliseconds) }
    listAt = moment.milliseconds + Self.listMilliseconds
    client.request(.list(List(follows: true)))
  }

  private mutating func stateChanged(_ state: ConnectionState, at moment: Moment) {
    if case .refused(let code, let reason) = state {
      problem = reason.isEmpty ? "refused (\(code.rawValue))" : reason
      log(.warning, "the peer refuses this daemon", [.init("reason", problem)])
    }
    guard state != .connected, isConnected else { return }
    isConnected = false
    since = moment.wall
    listAt = nil
    log(.warning, "peer disconnected", daemon.map { [.init("daemon", $0)] } ?? [])
  }

  // MARK: The report

  /// Whether anything happened since it was asked last.
  package mutating func takeChanged() -> Bool {
    defer { isChanged = false }
    return isChanged
  }

  /// How the link stands. O(devices of all stacks).
  package var report: StatusReport.Peer {
    var report = StatusReport.Peer(
      endpoint: settings.endpoint, daemon: daemon, connected: isConnected, since: since)
    report.stacks = stacks.count
    report.heldBack = heldBack
    report.problem = problem
    for name in stacks.keys.sorted() {
      guard let stack = stacks[name] else { continue }
      if stack.isForked { report.forked += 1 }
      if report.problem.isEmpty, !stack.problem.isEmpty { report.problem = "\(name): \(stack.problem)" }
      stack.local.forEachPair(with: stack.remote) { chain, local, remote in
        if stack.retired.contains(chain) { return }
        report.behind += max(0, remote - local)
        report.ahead += max(0, local - remote)
      }
    }
    return report
  }

  /// The other daemon tells of new stacks by itself; a list now and then makes up for one that doesn't.
  static let listMilliseconds = 30_000
}
