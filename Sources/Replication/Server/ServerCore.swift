package import Access
package import NavigationModel
package import WireFormat

/// The daemon's half of the sync protocol: all sessions, and the stacks in use.
///
/// Pure: no clock, log, socket or randomness. Methods are named after what happened; the I/O side calls one, or many of
/// a turn, and then carries out what ``drain()`` gives, in order. Bytes come in and go out, because credit counts the
/// bytes of frames.
///
/// Durability order shows in the actions: events that were admitted go out in a `.commit`; `Accepted`, and the same
/// events for followers and the feed, come only after ``appendsDurable(_:firstOffsets:at:)`` for it. While one commit is
/// under way, what arrives forms the next (group commit). If a commit fails, everything admitted for its stacks is
/// rejected, and they are loaded from the log again.
///
/// A follower is a cursor into the log, and no queue: one that can't keep up costs a cursor, reads what it lacks from
/// the log when it can, and nobody waits for it.
package struct ServerCore: Sendable {
  package let configuration: Configuration
  package internal(set) var counters = Counters()

  /// Who may do what.
  package internal(set) var access: AccessRules
  /// The key that each device id belongs to, and how many belong to each.
  var owners: [DeviceID: PublicKey]
  var owned: [PublicKey: Int]
  var claims: [Claim] = []
  var redemptions: [Redemption] = []
  /// The key that the daemon changes to; who has one is told.
  package var nextKey: PublicKey?

  var sessions: [Peer: Session] = [:]
  /// Slots are used again; nil is a free one.
  var stacks: [Stack?] = []
  var slots: [String: Int] = [:]
  var freeSlots: [Int] = []
  /// Display names as they are kept beside the log.
  var names: [DeviceID: String]
  /// When a device was last heard, in milliseconds since 1970, for those heard since the start.
  var heard: [DeviceID: Int] = [:]
  /// The highest timestamp known to be in the log, or admitted for it, in milliseconds since 1970.
  package internal(set) var newestTime: Int

  /// The group that grows; those that wait for a commit; the one that is under way.
  var group = Group()
  var formed = FIFO<[Group.Part]>()
  var committing: (number: Int, parts: [Group.Part])?
  var lastCommit = 0
  /// Bytes of events that wait for a commit or for their stack.
  var backlog = 0
  /// Of these, each peer's, and how many of its requests wait for their stack.
  var held: [Peer: Int] = [:]
  var asked: [Peer: Int] = [:]
  /// What each may still ask for.
  var budgets: [Budget.Owner: Budget] = [:]
  /// The sessions of each key.
  var keySessions: [PublicKey: Int] = [:]

  var lastNumber = 0
  /// Whose recall it is.
  var recalls: [Int: (slot: Int, device: DeviceID)] = [:]
  /// What is read because of several histories under one id.
  var forkRecalls: [Int: ForkTask] = [:]
  var full: Set<Peer> = []
  var retryAt: Int?
  var sweepAt: Int?
  /// A connection was lost, and it is not known whose: all are probed then.
  var probeAt: Int?
  var lastProbe: Int?
  var isStopping = false
  var extraCounters: [String: Int] = [:]
  var adopted: [AdoptedPolicy] = []
  /// What the links to other daemons say of themselves, for the status report.
  package var linkReports: [StatusReport.Peer] = []
  private var actions: [Action] = []

  /// - Parameters:
  ///   - names: the devices' display names that the log keeps.
  ///   - access: who may do what; without it what is local, which may do everything.
  ///   - owners: whose device ids are, as the log keeps it.
  package init(
    _ configuration: Configuration, names: [DeviceID: String] = [:], access: AccessRules = AccessRules(),
    owners: [DeviceID: PublicKey] = [:]
  ) {
    self.configuration = configuration
    self.names = names
    self.access = access
    self.owners = owners
    owned = owners.values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    newestTime = configuration.newestTime
  }

  /// What is to be done, once, in order.
  package mutating func drain() -> [Action] {
    startCommit()
    defer { actions = [] }
    return actions
  }

  mutating func put(_ action: Action) { actions.append(action) }

  mutating func number() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// The daemon's time: the later of its wall clock and the highest timestamp in its log.
  func serverTime(_ moment: Moment) -> Int { max(moment.wall, newestTime) }
}

// MARK: Messages

extension ServerCore {
  /// A frame came.
  ///
  /// - Parameter principal: whose the connection is. It is asked of the rules for every message.
  package mutating func received(
    _ bytes: [UInt8], from peer: Peer, as principal: Principal = .local, at moment: Moment
  ) {
    counters.add(to: .messagesReceived)
    counters.add(bytes.count, to: .bytesReceived)
    guard bytes.count <= Message.maximumSize else {
      refuse(
        .message, .tooLarge,
        "a message of \(bytes.count) bytes; at most \(configuration.limits.message) are allowed", to: peer, at: moment)
      return
    }
    do {
      received(try Message(decoding: bytes), bytes: bytes.count, from: peer, as: principal, at: moment)
    } catch {
      counters.add(to: .messagesMalformed)
      let code: RefusalCode = error.code == .unsupported ? .unsupported : .malformed
      refuse(.message, code, "a message that can't be read: \(error)", to: peer, at: moment)
    }
  }

  mutating func received(
    _ message: Message, bytes: Int, from peer: Peer, as principal: Principal, at moment: Moment
  ) {
    if case .pair(let pair) = message { return pairReceived(pair, from: peer, as: principal, at: moment) }
    guard access.knows(principal) else {
      return refuseStranger(principal, request(message)?.about ?? .hello, to: peer, at: moment)
    }
    if case .hello(let hello) = message {
      helloReceived(hello, from: peer, as: principal, at: moment)
      return
    }
    if let session = sessions[peer], session.principal != principal { endSession(of: peer, at: moment) }
    guard heard(from: peer, at: moment) else {
      counters.add(to: .messagesWithoutSession)
      refuse(.message, .helloNeeded, "no session: say Hello first", to: peer, at: moment)
      return
    }
    if let (about, stack) = request(message), !sessions[peer]!.isLink, !mayRequest(message, peer, at: moment) {
      let reason = "more than \(configuration.requestsASecond) requests a second; ask less often"
      refuse(about, stack: stack, .tooMany, reason, to: peer, at: moment)
      return
    }
    guard mayHave(message, carriedOutFor: peer, at: moment) else { return }
    switch message {
    case .hello, .pair: break
    case .follow(let follow): onStack(follow.stack, .follow, message, bytes, from: peer, at: moment)
    case .append(let append): onStack(append.stack, .append, message, bytes, from: peer, at: moment)
    case .range(let range): onStack(range.stack, .range, message, bytes, from: peer, at: moment)
    case .presence(let presence): presenceReceived(presence, from: peer, at: moment)
    case .unfollow(let unfollow): unfollowReceived(unfollow, from: peer, at: moment)
    case .credit(let credit): creditReceived(credit, from: peer, at: moment)
    case .ping(let ping): pingReceived(ping, from: peer, at: moment)
    case .list(let list): listReceived(list, from: peer, at: moment)
    case .statusRequest: statusReceived(from: peer, at: moment)
    case .welcome, .refused, .following, .events, .live, .accepted, .rejected, .pong, .listing, .statusReport, .paired:
      refuse(.message, .malformed, "a message that only a daemon sends", to: peer, at: moment)
    }
  }

  /// What a message is about, if it counts as a request.
  func request(_ message: Message) -> (about: Subject, stack: String)? {
    switch message {
    case .follow(let follow): (.follow, follow.stack)
    case .range(let range): (.range, range.stack)
    case .presence(let presence): (.presence, presence.stack)
    case .list: (.list, "")
    case .statusRequest: (.status, "")
    case .hello, .welcome, .refused, .following, .events, .live, .unfollow, .append, .accepted, .rejected, .credit,
      .ping, .pong, .listing, .statusReport, .pair, .paired:
      nil
    }
  }

  /// Does what a message asks of a stack, when the stack is loaded.
  private mutating func onStack(
    _ text: String, _ about: Subject, _ message: Message, _ bytes: Int, from peer: Peer, at moment: Moment
  ) {
    guard let slot = slot(of: text, at: moment) else {
      refuse(about, stack: text, .badName, badName(text), to: peer, at: moment)
      return
    }
    guard !stacks[slot]!.isLoaded else {
      stacks[slot]!.lastUsed = moment.milliseconds
      carryOut(message, bytes, slot, from: peer, at: moment)
      return
    }
    guard hasRoom(for: bytes, of: peer), asked[peer, default: 0] < Self.maximumAsked else {
      refuse(about, stack: text, .busy, "too much waits for the log; try again", to: peer, at: moment)
      return
    }
    startWaiting(Stack.Waiting(peer: peer, message: message, bytes: bytes), slot)
  }

  mutating func carryOut(_ message: Message, _ bytes: Int, _ slot: Int, from peer: Peer, at moment: Moment) {
    switch message {
    case .follow(let follow): followReceived(follow, slot, from: peer, at: moment)
    case .append(let append): appendReceived(append, bytes, slot, from: peer, at: moment)
    case .range(let range): rangeReceived(range, slot, from: peer, at: moment)
    case .hello, .welcome, .refused, .following, .events, .live, .unfollow, .accepted, .rejected, .credit, .ping,
      .pong, .presence, .list, .listing, .statusRequest, .statusReport, .pair, .paired:
      preconditionFailure("a message that is of no stack")
    }
  }

  private mutating func helloReceived(
    _ hello: Hello, from peer: Peer, as principal: Principal, at moment: Moment
  ) {
    if sessions[peer] != nil { endSession(of: peer, goesOn: true, at: moment) }
    guard mayRequest(.hello(hello), peer, as: principal, at: moment) else {
      let reason = "more than \(configuration.requestsASecond) requests a second; begin sessions less often"
      return refuse(.hello, .tooMany, reason, to: peer, at: moment)
    }
    guard hello.protocolVersion == Hello.version else {
      let reason =
        "protocol version \(hello.protocolVersion); this daemon speaks version \(Hello.version): use a matching version"
      return refuse(.hello, .unsupported, reason, to: peer, at: moment)
    }
    guard !isStopping else {
      return refuse(.hello, .busy, "the daemon is stopping; try again", to: peer, at: moment)
    }
    guard sessions.count < configuration.maximumSessions else {
      let reason = "\(sessions.count) sessions are open, which is the most that this daemon takes; try again later"
      return refuse(.hello, .tooMany, reason, to: peer, at: moment)
    }
    if case .key(let key) = principal, keySessions[key, default: 0] >= max(configuration.maximumSessions / 4, 1) {
      let reason = "\(keySessions[key, default: 0]) sessions of this key are open, which is the most that one can have"
      return refuse(.hello, .tooMany, reason, to: peer, at: moment)
    }
    if hello.device != nil || !hello.name.isEmpty {
      do {
        _ = try Name(hello.name)
      } catch {
        return refuse(.hello, .badName, "the device's name: \(error)", to: peer, at: moment)
      }
    }
    if let device = hello.device, let problem = claim(device, for: principal) {
      if problem.code == .notAuthorised {
        counters.add(to: .requestsNotAuthorised)
        put(audit("session refused: the device is another key's", principal, [.init("device", device)], peer))
      }
      return refuse(.hello, problem.code, problem.reason, to: peer, at: moment)
    }
    sessions[peer] = Session(
      principal: principal, device: hello.device, name: hello.name, software: hello.software, now: moment.milliseconds)
    if case .key(let key) = principal { keySessions[key, default: 0] += 1 }
    counters.add(to: .sessionsOpened)
    if sweepAt == nil { sweepAt = moment.milliseconds + Self.sweepMilliseconds }
    if let device = hello.device {
      if names[device] != hello.name, names[device] != nil || names.count < Self.maximumNames {
        names[device] = hello.name
        put(.keepName(device, hello.name))
      }
      if names[device] != nil { heard[device] = moment.wall }
    }
    put(
      .log(
        LogRecord(
          .debug, "session opened",
          [
            .init("peer", peer.number), .init("who", access.label(principal)),
            .init("device", hello.device?.description ?? "none"), .init("name", hello.name),
            .init("software", hello.software),
          ])))
    var welcome = Welcome(
      daemon: configuration.daemon, epoch: configuration.epoch, serverTime: serverTime(moment),
      limits: configuration.limits, feedEndpoint: configuration.feedEndpoint, software: configuration.software)
    if principal != .local { welcome.nextKey = nextKey?.bytes ?? [] }
    reply(.welcome(welcome), to: peer, at: moment)
  }

  /// The connection is gone, or the socket doesn't know the peer.
  package mutating func peerGone(_ peer: Peer, at moment: Moment) {
    guard sessions[peer] != nil else { return }
    counters.add(to: .sessionsLost)
    endSession(of: peer, at: moment)
  }

  /// A peer sends far more than it is served; nothing of it is heard any more, and its connection is ended.
  package mutating func peerFlooded(_ peer: Peer, as principal: Principal, at moment: Moment) {
    counters.add(to: .peersMuted)
    put(
      .log(
        LogRecord(
          .warning, "a peer is cut off: it sends far more than is served",
          [.init("who", access.label(principal)), .init("peer", peer.number)])))
    endSession(of: peer, at: moment)
  }

  /// A connection to one of the sockets ended, and the socket doesn't say whose. Who was it shows when it is sent to.
  package mutating func connectionLost(at moment: Moment) {
    guard probeAt == nil, !sessions.isEmpty else { return }
    // Many that go at once are looked for once.
    let soonest = moment.milliseconds + Self.probeMilliseconds
    probeAt = max(soonest, lastProbe.map { $0 + Self.sweepMilliseconds } ?? soonest)
  }

  /// No appends from now on, and no new sessions; what is under way ends as ever.
  package mutating func stopping() { isStopping = true }

  /// Whether everything admitted is answered.
  package var isQuiet: Bool { committing == nil && formed.isEmpty && group.bytes == 0 && recalls.isEmpty }

  /// - Parameter goesOn: the connection begins another session, and what it used up stays so.
  mutating func endSession(of peer: Peer, goesOn: Bool = false, at moment: Moment) {
    if !goesOn { budgets[.peer(peer)] = nil }
    guard let session = sessions[peer] else { return }
    if case .key(let key) = session.principal {
      keySessions[key]! -= 1
      if keySessions[key] == 0 { keySessions[key] = nil }
    }
    for slot in session.shown.keys.sorted() { relay(.gone, from: peer, slot, at: moment) }
    for slot in session.follows.keys { stacks[slot]?.followers.removeAll { $0 == peer } }
    for slot in session.ranges.keys { stacks[slot]?.ranges -= 1 }
    for slot in session.comparing.keys { stacks[slot]?.comparisons -= 1 }
    if let device = session.device, names[device] != nil { heard[device] = moment.wall }
    sessions[peer] = nil
    full.remove(peer)
  }
}

// MARK: Answers

extension ServerCore {
  /// Sends what must arrive: it waits here while the socket is full.
  mutating func reply(_ message: Message, to peer: Peer, at moment: Moment) {
    let bytes = message.encoded()
    guard sessions[peer] != nil else {
      put(.send(to: [peer], bytes: bytes, kind: .reply))
      return
    }
    if sessions[peer]!.isFull {
      queue(bytes, for: peer, at: moment)
    } else {
      sessions[peer]!.lastSent = moment.milliseconds
      put(.send(to: [peer], bytes: bytes, kind: .reply))
    }
  }

  mutating func refuse(
    _ about: Subject, stack: String = "", _ code: RefusalCode, _ reason: String, to peer: Peer, at moment: Moment
  ) {
    counters.add(to: .requestsRefused)
    put(
      .log(
        LogRecord(
          .info, "request refused",
          [
            .init("peer", peer.number), .init("code", code.rawValue), .init("stack", stack.prefix(200)),
            .init("reason", reason),
          ])))
    reply(
      .refused(Refused(about: about, stack: String(stack.prefix(200)), code: code, reason: reason)), to: peer,
      at: moment)
  }

  func badName(_ text: String) -> String {
    do {
      _ = try StackName(text)
      return ""
    } catch {
      return error.description
    }
  }

  private mutating func queue(_ bytes: [UInt8], for peer: Peer, at moment: Moment) {
    sessions[peer]!.replies.append(bytes)
    counters.add(to: .repliesQueued)
    guard sessions[peer]!.replies.count > Self.maximumReplies else { return }
    counters.add(to: .sessionsCut)
    put(
      .log(
        LogRecord(
          .warning, "session cut: the peer takes no answers",
          [.init("peer", peer.number), .init("name", sessions[peer]!.name)])))
    endSession(of: peer, at: moment)
    put(.forget(peer))
  }

  /// The socket had no room for a frame; it was not sent.
  package mutating func socketFull(_ peer: Peer, for bytes: [UInt8], _ kind: SendKind, at moment: Moment) {
    counters.add(to: .socketFull)
    guard sessions[peer] != nil else { return }
    sessions[peer]!.isFull = true
    full.insert(peer)
    let wait = min(max(sessions[peer]!.retryWait, Self.retryMilliseconds), Self.longestRetryMilliseconds)
    sessions[peer]!.retryWait = wait
    sessions[peer]!.retryAt = moment.milliseconds + wait
    retryAt = min(retryAt ?? .max, moment.milliseconds + wait)
    switch kind {
    case .reply: queue(bytes, for: peer, at: moment)
    case .presence: counters.add(to: .presenceDropped)
    case .probe: break
    case .live(let stack, let seen, let number):
      guard let slot = slots[stack.description], var cursor = sessions[peer]!.follows[slot], cursor.number <= number
      else { return }
      cursor.isAnnounced = false
      // The peer was not told that what it held already was passed over.
      cursor.seen = min(cursor.seen, seen)
      sessions[peer]!.follows[slot] = cursor
      wantRead(Errand(slot: slot), for: peer, at: moment)
    case .events(let stack, let after, let seen, let isRange, let number):
      guard let slot = slots[stack.description] else { return }
      counters.add(to: .fellBehind)
      sessions[peer]!.credit += bytes.count
      sessions[peer]!.wentOut -= 1
      let errand = Errand(slot: slot, isRange: isRange)
      guard var cursor = sessions[peer]![errand], cursor.number <= number, after < cursor.position else { return }
      cursor.position = after
      cursor.seen = min(cursor.seen, seen)
      sessions[peer]![errand] = cursor
      wantRead(errand, for: peer, at: moment)
    }
  }

  static let maximumReplies = 64
  static let retryMilliseconds = 20
  static let longestRetryMilliseconds = 640
  /// Devices whose names are kept. Whoever invents devices can't fill the memory with them.
  static let maximumNames = 65_536
  static let sweepMilliseconds = 1000
  static let probeMilliseconds = 100
  static let silenceMilliseconds = 30_000
  /// After so long without a word in either direction the peer isn't there: it would have pinged.
  static let lostMilliseconds = 60_000
}
