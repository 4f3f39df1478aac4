package import Access
import EventLog
import KeyFiles
package import NavigationModel
package import Replication
package import WireFormat
package import ZeroMQ

/// The daemon's logic on the loop's thread: hands frames and the log's answers to the ``ServerCore``, and once a turn
/// carries out what it wants.
package struct DaemonHandler: LoopHandler {
  /// From other threads.
  package enum Command: Sendable {
    /// With the size of the write-ahead log, if there is one.
    case appended(Int, firstOffsets: [Int], writeAheadBytes: Int?)
    case appendFailed(Int, ServerCore.StorageFailure)
    case loaded(StackLoader)
    case notLoaded(StackName, ServerCore.StorageFailure)
    case read(ServerCore.Read, after: Int, [ServerCore.ReadBatch])
    case readFailed(ServerCore.Read, ServerCore.StorageFailure)
    case recalled(ServerCore.Recall, ServerCore.Recalled)
    case recallFailed(ServerCore.Recall, ServerCore.StorageFailure)
    case listed([Listing.Stack], ServerCore.Peer)
    case listFailed(ServerCore.Peer, ServerCore.StorageFailure)
    /// Nil if it couldn't be read.
    case found(PeerLink.Wish, PeerLink.Found?)
    /// The folder of keys may have changed.
    case reloadAccess
    /// End when everything admitted is answered, or a second later.
    case stop
  }

  struct Feed {
    var socket: SocketID
    /// Over tcp a subscription can't be authorised, so only the head is told.
    var carriesEvents: Bool
    /// What is subscribed, as far as it can be the beginning of a topic: by how many.
    var topics: [[UInt8]: Int] = [:]
    /// What all subscriptions take in libzmq's memory, about.
    var weight = 0

    /// Over it the feed is closed and opened again: who wants little subscribes again.
    static let allowedWeight = 64 << 20

    /// About what libzmq keeps: a node for each byte of the topic, and who wants it.
    static func weight(of topic: [UInt8]) -> Int { topic.count * 24 + 64 }

    func wants(_ topic: [UInt8]) -> Bool {
      !topics.isEmpty && (0...topic.count).contains { topics[Array(topic.prefix($0))] != nil }
    }

    mutating func count(_ change: SubscriptionChange) {
      weight += Self.weight(of: change.topic) * (change.isSubscribed ? 1 : -1)
      guard change.topic.count <= FeedTopic.length else { return }
      let count = topics[change.topic, default: 0] + (change.isSubscribed ? 1 : -1)
      topics[change.topic] = count > 0 ? count : nil
    }
  }

  /// What is open when it begins.
  struct Sockets {
    var routers: [SocketID] = []
    var routerOptions = SocketOptions()
    var endpoints: [Endpoint] = []
    var feeds: [Feed] = []
    var feedEndpoints: [Endpoint] = []
    /// With keys only.
    var serving: Serving?
  }

  let loop: Loop
  let store: StoreThreads
  let log: DaemonLog
  private let ended: JobQueue<Bool>
  var core: ServerCore
  /// To other daemons.
  var links: [PeerLink]
  var reportAt = 0
  var reportsAreOld = true
  var routers: [SocketID]
  let routerOptions: SocketOptions
  var feeds: [Feed]
  /// Nil without keys.
  let access: AccessControl?
  let serving: Serving?
  /// Sockets that are closed and have to be bound again.
  var reopening: [Reopening] = []
  /// When that is tried next, in monotonic milliseconds.
  var reopenAt: Int?
  /// When a change of keys that is due, and of which nothing came, is tried next, in monotonic milliseconds.
  var changeAgainAt: Int?
  private var topics: [String: [UInt8]] = [:]
  private var stopAt: Int?
  /// Messages that the loop dropped, as far as it was told.
  private var dropped = 0
  /// Peers that were full in this list of actions.
  private var full: Set<ServerCore.Peer> = []

  static let stopMilliseconds = 1000

  /// - Parameter ended: told when the loop ends.
  init(
    _ loop: Loop, _ sockets: Sockets, _ core: ServerCore, links: [PeerLink], _ store: StoreThreads, _ log: DaemonLog,
    access: AccessControl?, ended: JobQueue<Bool>
  ) {
    self.loop = loop
    routers = sockets.routers
    routerOptions = sockets.routerOptions
    feeds = sockets.feeds
    serving = sockets.serving
    self.access = access
    self.core = core
    self.store = store
    self.log = log
    self.ended = ended
    self.links = links
    openLinks(at: ServerCore.Moment(Moment.now()))
  }

  package var deadline: Int? {
    [core.deadline, stopAt, linkDeadline, reopenAt, changeDeadline].compactMap(\.self).min()
  }

  // MARK: What happens

  package mutating func received(_ messages: [PeerMessage], on socket: SocketID, at now: Moment) {
    guard let router = routers.firstIndex(of: socket) else { return }
    let moment = ServerCore.Moment(now)
    for message in messages {
      core.received(
        message.body, from: ServerCore.Peer(message.peer, on: router), as: message.key.map(Principal.key) ?? .local,
        at: moment)
    }
  }

  package mutating func commands(_ commands: [Command], at now: Moment) {
    let moment = ServerCore.Moment(now)
    for command in commands {
      if case .stop = command, stopAt == nil { stopAt = now.monotonic + Self.stopMilliseconds }
      self.command(command, at: moment)
    }
  }

  private mutating func command(_ command: Command, at moment: ServerCore.Moment) {
    switch command {
    case .appended(let number, let offsets, let writeAhead):
      core.appendsDurable(number, firstOffsets: offsets, at: moment)
      if let writeAhead { core.report("write_ahead_bytes", writeAhead) }
    case .appendFailed(let number, let failure): core.appendsFailed(number, failure, at: moment)
    case .loaded(let loader): core.stackLoaded(loader, at: moment)
    case .notLoaded(let stack, let failure): core.stackNotLoaded(stack, failure, at: moment)
    case .read(let read, let start, let batches): core.batchesRead(read, after: start, batches, at: moment)
    case .readFailed(let read, let failure): core.readFailed(read, failure, at: moment)
    case .recalled(let recall, let recalled): core.recalled(recall, recalled, at: moment)
    case .recallFailed(let recall, let failure): core.recallFailed(recall, failure, at: moment)
    case .listed(let stacks, let peer): core.listed(stacks, for: peer, at: moment)
    case .listFailed(let peer, let failure): core.listFailed(for: peer, failure, at: moment)
    case .found(let wish, let found): self.found(found, for: wish, at: moment)
    case .reloadAccess: reloadAccess(at: moment)
    case .stop: core.stopping()
    }
  }

  package mutating func subscriptionsChanged(_ changes: [SubscriptionChange], on socket: SocketID, at now: Moment) {
    guard let place = feeds.firstIndex(where: { $0.socket == socket }) else { return }
    for change in changes { feeds[place].count(change) }
    guard feeds[place].weight > Feed.allowedWeight else { return }
    core.count("feeds_reopened")
    log.write(
      .warning, "a feed is closed and opened again: more is subscribed than is kept",
      [("endpoint", loop.endpoint(of: socket).map { "\($0)" } ?? "")])
    reopenFeed(place, at: ServerCore.Moment(now))
  }

  package mutating func muted(_ peer: Peer, key: PublicKey?, on socket: SocketID, at now: Moment) {
    guard let router = routers.firstIndex(of: socket) else { return }
    core.peerFlooded(
      ServerCore.Peer(peer, on: router), as: key.map(Principal.key) ?? .local, at: ServerCore.Moment(now))
  }

  package mutating func connectionsChanged(_ events: [ConnectionEvent], on socket: SocketID, at now: Moment) {
    for event in events {
      guard routers.contains(socket) || feeds.contains(where: { $0.socket == socket }) else {
        linkChanged(event.change, on: socket, at: ServerCore.Moment(now))
        continue
      }
      switch event.change {
      case .acceptFailed(let number):
        core.count("connections_not_accepted")
        log.write(
          .error, "a connection could not be accepted; the limit of open files may be too low",
          [("endpoint", event.address), ("error", "\(number)")])
      case .surplusEnded:
        core.count("connections_ended")
        log.write(
          .warning, "a connection was ended: there are more than this daemon takes", [("endpoint", event.address)])
      case .handshakeFailed(.notAuthorised): break  // The gate counts and says it.
      case .handshakeFailed:
        core.count("handshakes_failed")
        log.write(.info, "a peer does not speak as this daemon does", [("endpoint", event.address)])
      case .disconnected: if routers.contains(socket) { core.connectionLost(at: ServerCore.Moment(now)) }
      case .connected, .retrying: break
      }
    }
  }

  package mutating func turnEnded(at now: Moment) {
    let moment = ServerCore.Moment(now)
    if let deadline = core.deadline, deadline <= now.monotonic { core.timerFired(at: moment) }
    if let reopenAt, reopenAt <= now.monotonic { bindAgain(at: moment) }
    changeKeys(at: moment)
    if let access { core.report("handshakes_refused", access.refusedHandshakes) }
    tellOfDropped()
    linkTimers(at: moment)
    carryOut(at: moment)
    reportLinks(at: moment)
    guard let stopAt, core.isQuiet || now.monotonic >= stopAt else { return }
    if !core.isQuiet { log.write(.warning, "stopped with appends that were not answered") }
    loop.stop()
  }

  /// What the loop drops isn't told of one by one.
  private mutating func tellOfDropped() {
    guard loop.malformed + loop.mutedMessages > dropped else { return }
    if loop.malformed > 0 { core.report("messages_misframed", loop.malformed) }
    if loop.mutedMessages > 0 { core.report("messages_muted", loop.mutedMessages) }
    dropped = loop.malformed + loop.mutedMessages
    log.write(.info, "messages dropped: they aren't framed as ours, or of a peer that was cut off")
  }

  package mutating func stopping(at now: Moment) {
    carryOut(at: ServerCore.Moment(now))
    store.writes.post(.keep(key: FactKey.newestTime, value: Array("\(core.newestTime)".utf8)))
    ended.post(true)
  }

  // MARK: What is to be done

  mutating func carryOut(at moment: ServerCore.Moment) {
    while true {
      let didAnything = carryOutLinks(at: moment)
      redeem(at: moment)
      let actions = core.drain()
      keepAdoptedPolicies()
      keepClaims()
      guard !actions.isEmpty || didAnything else { return }
      full.removeAll(keepingCapacity: true)
      for action in actions {
        switch action {
        case .send(let peers, let bytes, let kind): send(bytes, to: peers, kind, at: moment)
        case .load(let stack): store.reads.post(.load(stack))
        case .commit(let commit):
          if let done = store.commitAtOnce(commit) {
            command(done, at: moment)
          } else {
            store.writes.post(.commit(commit))
          }
        case .read(let read): store.reads.post(.read(read))
        case .recall(let recall): store.reads.post(.recall(recall))
        case .list(let space, let peer): store.reads.post(.list(space, peer))
        case .keepName(let device, let name):
          store.writes.post(.keep(key: DeviceNameFact.key(of: device), value: Array(name.utf8)))
        case .publish(let message): publish(message)
        case .forget: break
        case .log(let record): log.write(record)
        }
      }
    }
  }

  private mutating func send(
    _ bytes: [UInt8], to peers: [ServerCore.Peer], _ kind: ServerCore.SendKind, at moment: ServerCore.Moment
  ) {
    // One copy of the bytes for all.
    var frame = Frame(bytes)
    for peer in peers {
      if let place = peer.link {
        links[place].inbox.append(bytes)
        continue
      }
      let (number, router) = peer.onRouter
      switch full.contains(peer) ? .full : loop.send(&frame, to: number, on: routers[router]) {
      case .sent: break
      case .full:
        full.insert(peer)
        core.socketFull(peer, for: bytes, kind, at: moment)
      case .gone: core.peerGone(peer, at: moment)
      case .tooLarge:
        core.count("messages_too_large")
        log.write(.error, "a message is too large to be sent", [("bytes", "\(bytes.count)")])
      }
    }
  }

  private mutating func publish(_ message: EventsMessage) {
    guard feeds.contains(where: { !$0.topics.isEmpty }), let topic = topic(of: message.stack) else { return }
    for feed in feeds where feed.wants(topic) {
      var frame = Frame(body(message, feed))
      core.count(loop.publish(&frame, topic: topic, on: feed.socket) == .sent ? "feed_published" : "feed_dropped")
    }
  }

  private mutating func body(_ message: EventsMessage, _ feed: Feed) -> [UInt8] {
    var message = message
    guard feed.carriesEvents else {
      message.batch = []
      message.authorStates = []
      return Message.events(message).encoded()
    }
    let bytes = Message.events(message).encoded()
    guard bytes.count > core.configuration.limits.message else { return bytes }
    core.count("feed_states_left_out")
    message.authorStates = []
    return Message.events(message).encoded()
  }

  private mutating func topic(of stack: String) -> [UInt8]? {
    if let known = topics[stack] { return known }
    guard let name = try? StackName(stack) else { return nil }
    if topics.count >= 4096 { topics = [:] }
    let topic = FeedTopic.topic(of: name)
    topics[stack] = topic
    return topic
  }
}

extension ServerCore.Moment {
  init(_ now: Moment) { self.init(milliseconds: now.monotonic, wall: now.wall) }
}

extension ServerCore.Peer {
  /// A connection to one of the daemon's sockets.
  init(_ peer: Peer, on router: Int) { self.init(UInt64(router) << 32 | UInt64(peer.number)) }

  var onRouter: (peer: Peer, router: Int) { (Peer(number: UInt32(truncatingIfNeeded: number)), Int(number >> 32)) }
}

extension DaemonLog {
  func write(_ record: ServerCore.LogRecord) {
    let level: Level =
      switch record.level {
      case .debug: .debug
      case .info: .info
      case .warning: .warning
      case .error: .error
      }
    let fields = record.fields.map { ($0.name, $0.value) }
    if record.isAudit { audit(level, record.text, fields) } else { write(level, record.text, fields) }
  }
}

/// The facts that a daemon keeps beside the events.
enum FactKey {
  static let daemon = "daemon"
  static let newestTime = "newest-time"
}
