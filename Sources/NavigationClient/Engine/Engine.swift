import EventLog
import Glibc
import KeyFiles
import Locking
import NavigationModel
import Replication
import WireFormat
import ZeroMQ

/// A device's thread, or an observer's: its socket, its session, its replica and log, and what is told to whom.
///
/// A turn takes in what arrived (acts and events), commits it together, tells the session what is on the disk, sends,
/// publishes the new states and only then answers who acted.
struct Engine: LoopHandler {
  struct OpenStack {
    var replica: StackReplica
    let hub: StackHub
    /// How often it is open.
    var users = 0
    var isLive = false
    /// It was live once, so what is received is news and not history.
    var wasLive = false
    /// Own events up to this one are at a daemon.
    var acknowledged = 0
    var savedAcknowledged = 0
    var problem: ClientError?
    /// Why the daemon doesn't take own events, as it is kept on the disk.
    var refusal: String?
    var presence: [DeviceID: DevicePresence] = [:]
    var seenConflicts: Set<Conflict> = []
    var conflicts: [Conflict] = []
    var conflictsMayDiffer = true
    /// How many events there were when the conflicts were looked for.
    var conflictsAt = 0
    var changeNumber = 0
    var lastChange: StackChange?
    /// The daemon's policy is to be taken over.
    var adopts = false
    /// What comes rests on what couldn't be stored or read: it is left out until the stack is followed anew.
    var leavesOut = false
    /// Batches that couldn't be taken in, in a row.
    var faults = 0
  }

  struct Waiter {
    enum Wish: Hashable {
      case accepted(Int)
      case live
    }

    var stack: StackName
    var wish: Wish
    var deadline: Int
    var reply: Reply<Void>
  }

  struct Configuration: Sendable {
    var name: String
    var software: String
    /// Nil: the ipc path at which a daemon is found, looked for at each attempt.
    var daemon: Endpoint?
    var announcesPresence: Bool
    /// The user's keys; nil: every connection is in plain text, and the daemon is the one named or on this machine.
    var keys: KeyFolder?
    /// Where the session's jitter begins; nil: anywhere.
    var seed: UInt64?
  }

  let configuration: Configuration
  let loop: any EngineLink
  /// Where the log lives; nil for an observer.
  let store: (any DeviceStore)?
  let mailbox: Locked<Mailbox<EngineCommand>?>
  /// The device's id, nil for an observer; others read it, too.
  let identity: Locked<DeviceID?>
  var replica: Replica
  /// Stacks of which the daemon has another history under the id named.
  var toHeal: [StackName: DeviceID] = [:]
  /// What is acted again when all of the stack is there.
  var redos: [StackName: Redo] = [:]
  var formerIDs: Set<DeviceID> = []
  var core: ClientCore
  var socket: SocketID?
  /// The keys of the connection, or of the attempt to make one.
  var trial: KeyTrial
  /// What the socket had no room for.
  var outbox: [[UInt8]] = []
  var stacks: [StackName: OpenStack] = [:]
  var dirty: Set<StackName> = []
  var connection = Connection.offline
  var names: [DeviceID: String] = [:]
  /// Whose names stand in the log.
  var keptNames: Set<DeviceID> = []
  var waiters: [Waiter] = []
  /// What waiters are told when the new state is published.
  var answers: [(reply: Reply<Void>, result: Result<Void, ClientError>)] = []
  var lists: [Request<Listing>] = []
  var reports: [Request<StatusReport>] = []
  /// Acts whose events are taken in but not committed.
  var uncommitted: [(stack: StackName, outcome: Outcome, reply: Reply<Outcome>)] = []
  /// Acts whose events are on the disk; answered when the new state is published.
  var committed: [(stack: StackName, outcome: Outcome, reply: Reply<Outcome>)] = []
  /// Bytes of deliveries that are taken in but not committed.
  var undelivered = 0
  /// When stacks whose events couldn't be stored are followed again, in monotonic milliseconds.
  var refollowAt: Int?
  var toRefollow: Set<StackName> = []
  /// Which stacks have something that waits couldn't be read.
  var isWaitingUnknown = false
  var storageProblem: ClientError?
  /// The daemon's time less ours, in milliseconds, when the last session began; nil before the first.
  var clockOffset: Int?
  var asksNamesAt = 0

  /// A question to the daemon.
  struct Request<Answer: Sendable> {
    let message: Message
    /// Nil: the engine's own, for the devices' names; or nobody waits any more.
    var reply: Reply<Answer>?
    let deadline: Int
    /// In this session.
    var isSent = false
    var isGivenUp = false
    /// What came of a listing.
    var parts: [Listing] = []

    init(_ message: Message, _ reply: Reply<Answer>?, deadline: Int) {
      self.message = message
      self.reply = reply
      self.deadline = deadline
    }
  }

  init(
    _ configuration: Configuration, identity: Locked<DeviceID?>, log: (any EventLog)?, store: (any DeviceStore)?,
    loop: any EngineLink, mailbox: Locked<Mailbox<EngineCommand>?>
  ) throws(LogError) {
    self.identity = identity
    self.configuration = configuration
    self.store = store
    self.loop = loop
    self.mailbox = mailbox
    let device = identity.withLock { $0 }
    replica = Replica(
      device: device, log: log, authority: try Self.authority(configuration, device: device, store: store))
    core = ClientCore(Self.settings(configuration, device: device))
    trial = KeyTrial(nil, Self.nowhere)
    if let device { names[device] = configuration.name }
    if let log {
      try takeUp(log)
      let kept = DeviceNameFact.names(in: try log.facts(prefixed: DeviceNameFact.prefix))
      names.merge(kept) { own, _ in own }
      keptNames = Set(kept.keys)
      clockOffset = try log.fact("clockOffset").flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }
  }

  static func authority(
    _ configuration: Configuration, device: DeviceID?, store: (any DeviceStore)?
  ) throws(LogError) -> Authority {
    Authority(
      keys: configuration.keys,
      signer: try device.flatMap { (id) throws(LogError) in try store?.signingKey(of: id) })
  }

  /// The time to stamp events with, in milliseconds since 1970. A clock that is known to be ahead of the daemon's is
  /// set back by as much, for the daemon refuses what is too far ahead; one that is behind is no matter, since a stamp
  /// is never behind what the replica saw.
  func stampTime(at now: Moment) -> Int {
    guard let clockOffset, clockOffset < -1000 else { return now.wall }
    return now.wall + clockOffset
  }

  /// The daemon said its time. Kept, so that what is done before the next session is stamped right, too.
  mutating func learnClock(_ offset: Int) {
    let (old, new) = (min(clockOffset ?? 0, -1000), min(offset, -1000))
    clockOffset = offset
    if abs(new - old) > 1000 { try? replica.log?.setFact("clockOffset", Array(String(offset).utf8)) }
  }

  // MARK: The loop

  var deadline: Int? {
    var soonest = core.deadline
    func consider(_ time: Int?) { if let time { soonest = min(soonest ?? time, time) } }
    for waiter in waiters { consider(waiter.deadline) }
    if let due = lists.dueNext() { consider(due) }
    if let due = reports.dueNext() { consider(due) }
    consider(refollowAt)
    return soonest
  }

  mutating func received(_ messages: [[UInt8]], on socket: SocketID, at now: Moment) {
    guard socket == self.socket else { return }
    for bytes in messages {
      do throws(DecodeError) {
        core.received(try Message(decoding: bytes), bytes: bytes.count, now: now.monotonic)
      } catch { core.unreadableReceived(error, now: now.monotonic) }
      carryOut(at: now)
      if self.socket != socket { return }
    }
  }

  mutating func connectionsChanged(_ events: [ConnectionEvent], on socket: SocketID, at now: Moment) {
    guard socket == self.socket else { return }
    for event in events {
      switch event.change {
      case .connected:
        trial.connected()
        core.connected(now: now.monotonic)
      case .disconnected: core.disconnected(now: now.monotonic)
      case .handshakeFailed(let failure):
        switch trial.failed(failure) {
        case .wait: break
        case .reconnect:
          disconnect()
          connect(at: now)
        case .refused(let reason): core.handshakeRefused(reason: reason, now: now.monotonic)
        }
      case .retrying, .acceptFailed, .surplusEnded: break
      }
      carryOut(at: now)
      if self.socket != socket { return }
    }
  }

  mutating func writable(_ socket: SocketID, at now: Moment) {
    guard socket == self.socket else { return }
    let waiting = outbox
    outbox = []
    for bytes in waiting { send(bytes) }
  }

  mutating func turnEnded(at now: Moment) {
    if let deadline = core.deadline, now.monotonic >= deadline { core.timerFired(now: now.monotonic) }
    if let refollowAt, now.monotonic >= refollowAt {
      self.refollowAt = nil
      for name in toRefollow.sorted() where stacks[name] != nil {
        stacks[name]?.leavesOut = false
        core.follow(name, policy: stacks[name]?.replica.policy, now: now.monotonic)
      }
      toRefollow = []
      if isWaitingUnknown { followWaiting(at: now) }
      proveStorage(at: now)
    }
    carryOut(at: now)
    showReceived()
    commit(at: now)
    carryOut(at: now)
    if !toHeal.isEmpty { heal(at: now) }
    expire(at: now)
    // First shows, then answers, `expire`'s too: who was waiting finds the state that it waited for.
    publish(at: now)
  }

  mutating func stopping(at now: Moment) {
    commit(at: now)
    for name in stacks.keys.sorted() {
      if configuration.announcesPresence { core.hides(name) }
    }
    carryOut(at: now)
    let closed = ClientError.closed(configuration.name)
    failWaiters(closed) { _ in true }
    publish(at: now)
    for request in lists { request.reply?.fail(closed) }
    for request in reports { request.reply?.fail(closed) }
    for name in stacks.keys.sorted() {
      saveAcknowledged(name)
      stacks[name]?.hub.end()
    }
    try? replica.log?.close()
  }

  // MARK: The socket

  mutating func connect(at now: Moment) {
    let daemon = whereTheDaemonIs()
    if trial.endpoint != daemon { trial = KeyTrial(configuration.keys, daemon) }
    if case .tcp(let host, _) = daemon.transport, !Self.isNumeric(host) {
      // Looking a name up may take seconds; the answer comes as a command.
      let mailbox = mailbox.withLock { $0 }
      let thread = try? startThread(name: "resolve") {
        _ = mailbox?.post(.resolved(try? daemon.resolved()))
      }
      if let thread { pthread_detach(thread) }
      return
    }
    open(daemon, at: now)
  }

  /// The daemon that was named; or the one of this machine, if there is any; or the one that this user was paired with.
  private func whereTheDaemonIs() -> Endpoint {
    if let named = configuration.daemon { return named }
    let own = try? IPCPath.forClient()
    if let path = own?.path, !IPCPath.isListening(path), let paired = configuration.keys?.pairedDaemon { return paired }
    return own ?? Self.nowhere
  }

  /// What stands for an endpoint where there is none.
  private static let nowhere: Endpoint = {
    guard let endpoint = try? Endpoint("ipc:///dev/null/navsync") else { preconditionFailure("a path is an endpoint") }
    return endpoint
  }()

  private static func isNumeric(_ host: String) -> Bool {
    host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
  }

  /// What can't be opened is tried again by the session when its time to connect is over.
  mutating func open(_ endpoint: Endpoint?, at now: Moment) {
    guard let endpoint, socket == nil else { return }
    var options = SocketOptions()
    do { options.curve = try trial.curve() } catch {
      return core.handshakeRefused(reason: "not authorised: \(error)", now: now.monotonic)
    }
    if endpoint.path != nil { options.longestReconnectMilliseconds = 1000 }
    socket = try? loop.dealer(connect: endpoint, options)
  }

  mutating func disconnect() {
    if let socket { loop.close(socket) }
    socket = nil
    outbox = []
  }

  mutating func send(_ bytes: [UInt8]) {
    guard let socket else { return }
    guard outbox.isEmpty else { return outbox.append(bytes) }
    switch loop.send(bytes, on: socket) {
    case .sent, .gone: break
    case .full:
      outbox.append(bytes)
      loop.notifyWhenWritable(socket)
    case .tooLarge:
      // Only a `Follow` of a stack with more devices than the protocol allows: the daemon would end the connection.
      break
    }
  }
}

extension ClientError {
  static func closed(_ name: String) -> ClientError {
    ClientError(.closed, about: name, "it was closed; open it again")
  }
}
