package import NavigationModel
package import WireFormat

/// A device's half of the sync protocol, or an observer's: one client, one daemon.
///
/// Methods are named after what happened; each may add outputs, which the owner takes with ``drain()`` and carries out
/// in order. There is no clock, log or socket in here: `now` is a monotonic time in milliseconds, and what must be read
/// from the log is asked for (`readHeads`, `checkHeads`, `readEvents`) and answered before the next input.
///
/// The order of things is the protocol's: `Hello`, `Welcome`, `Follow` for each stack with all that our log holds,
/// `Following` with all that the daemon holds; then the two halves are independent, events in and appends out. Nothing
/// of a session survives it but what the log holds, so whatever is lost on the way is sent again.
package struct ClientCore: Hashable, Sendable {
  package struct Settings: Hashable, Sendable {
    /// Nil for an observer, which never appends.
    package var device: DeviceID?
    package var name = ""
    package var software = ""
    /// Where the jitter begins.
    package var seed: UInt64 = 0
    /// Bytes of events that may be on their way to us.
    package var credit = 1 << 20
    /// The longest wait between attempts to connect.
    package var reconnectCapMilliseconds = 30_000

    package init(device: DeviceID? = nil, name: String = "", software: String = "", seed: UInt64 = 0) {
      self.device = device
      self.name = name
      self.software = software
      self.seed = seed
    }
  }

  /// One at a time.
  enum Phase: Hashable, Sendable {
    /// Can become `connecting`.
    case stopped
    /// No socket until then. Can become `connecting`, `stopped`.
    case waiting(until: Int)
    /// Can become `greeting`, `waiting`, `stopped`.
    case connecting(until: Int)
    /// `Hello` is sent. Can become `open`, `greeting`, `waiting`, `stopped`.
    case greeting
    /// `Welcome` came. Can become `greeting`, `waiting`, `stopped`.
    case open
  }

  /// What belongs to one session and goes with it.
  struct Session: Hashable, Sendable {
    var epoch: UInt64 = 0
    var limits = Limits()
    var nextPing: Int
    var silentPings = 0
    /// Bytes that were taken in and not yet given back as credit.
    var consumed = 0
    var granted = 0
    /// Stacks whose `Follow` is not yet sent, and how many are sent and not answered.
    var toFollow: [StackName] = []
    var followsInFlight = 0
    /// The place in `names` where the next ping's heads begin.
    var rotation = 0
  }

  static let silenceMilliseconds = 1000
  /// Between pings that aren't answered: three of them and the silence before are three seconds.
  static let unansweredMilliseconds = 666
  static let silentPingsAllowed = 3
  static let connectMilliseconds = 5000
  /// At most so many `Follow`s wait for an answer: a daemon queues 64 replies.
  static let followWindow = 32
  static let headsAPing = 128

  /// How often an append had no answer in so long that it isn't waited for any more.
  package internal(set) var answersMissed = 0
  package internal(set) var settings: Settings
  package internal(set) var state = ConnectionState.stopped
  /// The daemon's id and limits in this session, nil without one.
  package internal(set) var welcome: Welcome?

  var phase = Phase.stopped
  var session = Session(nextPing: .max)
  /// The time of the newest message or timer.
  var clock = 0
  var attempt = 0
  var wasOpen = false
  var jitter: Jitter
  var stacks: [StackName: Followed] = [:]
  /// The stacks in ascending order.
  var names: [StackName] = []
  /// Those of `stacks` that have something to do at a time.
  var timed: Set<StackName> = []
  var peers: [StackName: [DeviceID: Peer]] = [:]
  var requests: [Message] = []
  private var outputs: [ClientOutput] = []

  package init(_ settings: Settings) {
    self.settings = settings
    jitter = Jitter(seed: settings.seed)
  }

  /// What is to be done, once.
  package mutating func drain() -> [ClientOutput] {
    defer { outputs = [] }
    return outputs
  }

  mutating func put(_ output: ClientOutput) { outputs.append(output) }

  mutating func enter(_ new: ConnectionState) {
    guard new != state else { return }
    state = new
    put(.state(new))
  }
}

// MARK: The connection

extension ClientCore {
  /// The owner wants a connection.
  package mutating func start(now: Int) {
    guard phase == .stopped else { return }
    connect(now: now)
  }

  /// The owner wants no connection any more.
  package mutating func stop() {
    forgetSession()
    if phase != .stopped { put(.disconnect) }
    phase = .stopped
    wasOpen = false
    attempt = 0
    enter(.stopped)
  }

  /// The owner has reason to think that a daemon is there: no more waiting.
  package mutating func hurry(now: Int) {
    guard case .waiting = phase else { return }
    connect(now: now)
  }

  /// The socket's connection stands. Also after a connection that libzmq made again by itself.
  package mutating func connected(now: Int) {
    switch phase {
    case .stopped, .waiting: return
    case .connecting, .greeting, .open: break
    }
    forgetSession()
    greet(now: now)
  }

  /// The socket's connection ended.
  package mutating func disconnected(now: Int) {
    switch phase {
    case .stopped, .waiting, .connecting: return
    case .greeting, .open: fail(now: now)
    }
  }

  /// The daemon refused the handshake: our key isn't allowed. libzmq doesn't try again by itself.
  package mutating func handshakeRefused(reason: String, now: Int) {
    switch phase {
    case .stopped, .waiting: return
    case .connecting, .greeting, .open:
      refuse(.notAuthorised, reason: reason, now: now)
    }
  }

  private mutating func connect(now: Int) {
    phase = .connecting(until: now + Self.connectMilliseconds)
    put(.connect)
    if case .refused = state { return }
    enter(wasOpen ? .reconnecting : .connecting)
  }

  private mutating func greet(now: Int) {
    phase = .greeting
    session = Session(nextPing: now + Self.silenceMilliseconds)
    put(.send(.hello(Hello(device: settings.device, name: settings.name, software: settings.software))))
  }

  func isOpen() -> Bool { phase == .open }

  /// The connection is of no use: another one, later.
  mutating func fail(now: Int) {
    forgetSession()
    put(.disconnect)
    phase = .waiting(
      until: now + jitter.wait(attempt: attempt, base: 200, cap: settings.reconnectCapMilliseconds))
    attempt += 1
    if case .refused = state { return }
    enter(wasOpen ? .reconnecting : .connecting)
  }

  /// A daemon won't have us: seldom is often enough.
  mutating func refuse(_ code: RefusalCode, reason: String, now: Int) {
    attempt = max(attempt, 5)
    enter(.refused(code, reason: reason))
    fail(now: now)
  }

  private mutating func forgetSession() {
    welcome = nil
    session = Session(nextPing: .max)
    for name in names {
      stacks[name]?.sessionEnded()
      forgetPeers(of: name)
    }
    timed = []
  }

  mutating func welcomeReceived(_ message: Welcome, now: Int) {
    guard phase == .greeting else { return }
    phase = .open
    attempt = 0
    wasOpen = true
    welcome = message
    session.epoch = message.epoch
    session.limits = message.limits
    session.granted = max(1, min(message.limits.credit, settings.credit))
    session.toFollow = names.reversed()
    put(.opened(serverTime: message.serverTime, message))
    enter(.connected)
    put(.send(.credit(Credit(bytes: session.granted))))
    for request in requests { put(.send(request)) }
    requests = []
    followNext()
    for name in names { sendPresence(of: name, now: now) }
  }

  /// Asks the daemon something that is no part of following: `list`, `statusRequest`. The answer comes as `.answer`; a
  /// request whose session ends before it is lost.
  package mutating func request(_ message: Message) {
    if isOpen() { put(.send(message)) } else { requests.append(message) }
  }
}

// MARK: Messages and time

extension ClientCore {
  /// A message came; `bytes` is the length of its frame.
  package mutating func received(_ message: Message, bytes: Int, now: Int) {
    clock = now
    switch phase {
    case .stopped, .waiting, .connecting: return
    case .greeting, .open: break
    }
    session.nextPing = now + Self.silenceMilliseconds
    session.silentPings = 0
    switch message {
    case .welcome(let message): welcomeReceived(message, now: now)
    case .refused(let message): refusedReceived(message, now: now)
    case .following(let message): followingReceived(message, now: now)
    case .events(let message): eventsReceived(message, bytes: bytes, now: now)
    case .live(let message): liveReceived(message, now: now)
    case .accepted(let message): acceptedReceived(message, now: now)
    case .rejected(let message): rejectedReceived(message, now: now)
    case .pong(let message): pongReceived(message, now: now)
    case .presence(let message): presenceReceived(message, now: now)
    case .listing, .statusReport: put(.answer(message))
    // A client's own: a daemon that sends them is not worth an answer.
    case .hello, .follow, .unfollow, .append, .credit, .ping, .list, .statusRequest, .range, .pair, .paired: break
    }
  }

  /// A frame came that couldn't be read. A message of a kind that only a newer version knows is passed over, as a field
  /// of one is; after anything else another connection may do better.
  package mutating func unreadableReceived(_ error: DecodeError, now: Int) {
    guard error.code == .unsupported else { return malformedReceived(now: now) }
    session.nextPing = now + Self.silenceMilliseconds
    session.silentPings = 0
  }

  /// What came makes no sense: another connection may do better.
  package mutating func malformedReceived(now: Int) {
    switch phase {
    case .stopped, .waiting, .connecting: return
    case .greeting, .open: fail(now: now)
    }
  }

  private mutating func refusedReceived(_ message: Refused, now: Int) {
    if message.code == .helloNeeded {
      if phase == .open {
        forgetSession()
        greet(now: now)
      }
      return
    }
    switch message.about {
    case .hello: refuse(message.code, reason: message.reason, now: now)
    case .follow: followRefused(message, now: now)
    case .append: appendRefused(message, now: now)
    case .range: rangeRefused(message, now: now)
    case .list, .status: put(.answer(.refused(message)))
    case _: break
    }
  }

  /// When ``timerFired(now:)`` is wanted next, nil for never.
  package var deadline: Int? {
    var soonest: Int? =
      switch phase {
      case .stopped: nil
      case .waiting(let until), .connecting(let until): until
      case .greeting, .open: session.nextPing
      }
    for name in timed {
      if let due = stacks[name]?.due { soonest = min(soonest ?? due, due) }
    }
    return soonest
  }

  /// It is so late. Too early a call does nothing.
  package mutating func timerFired(now: Int) {
    clock = now
    switch phase {
    case .stopped: return
    case .waiting(let until):
      if now >= until { connect(now: now) }
    case .connecting(let until):
      if now >= until { fail(now: now) }
    case .greeting, .open:
      if now >= session.nextPing { silence(now: now) }
    }
    guard phase == .open else { return }
    for name in timed.sorted() {
      guard let due = stacks[name]?.due, now >= due else { continue }
      stackTimerFired(name, now: now)
    }
  }

  private mutating func silence(now: Int) {
    guard session.silentPings < Self.silentPingsAllowed else { return fail(now: now) }
    session.silentPings += 1
    session.nextPing = now + Self.unansweredMilliseconds
    // Before the welcome the daemon would answer a ping with `helloNeeded`; the silence counts all the same.
    if phase == .open { put(.send(.ping(Ping(heads: nextHeads())))) }
  }

  private mutating func nextHeads() -> [StackHead] {
    var heads: [StackHead] = []
    let count = min(Self.headsAPing, names.count)
    for step in 0..<count {
      let name = names[(session.rotation + step) % names.count]
      if let followed = stacks[name], followed.stage == .following {
        heads.append(StackHead(stack: name.description, offset: followed.offset ?? 0))
      }
    }
    if !names.isEmpty { session.rotation = (session.rotation + count) % names.count }
    return heads
  }
}
