import CZeroMQ
import Glibc
import Synchronization

/// The sockets of one thread. A handler gets it when it is created, keeps it, and uses it on that thread only.
public final class Loop {
  /// The most messages that one call brings from one socket, so that none starves the others.
  public static let batchLimit = 64
  /// The most that are read of one socket in a turn.
  static let readLimit = 2048

  /// Messages dropped because they weren't framed as ours are: more frames, or a routing id that the peer chose.
  public internal(set) var malformed = 0
  /// Messages dropped because their peers were muted.
  public internal(set) var mutedMessages = 0

  /// The most connections that bound sockets have, of all together; more are ended as they come. Nil for no limit. A path
  /// in the file system has ``connectionsSpared`` more, so that a look at a crowded daemon is possible.
  public var connectionLimit: Int?
  public static let connectionsSpared = 32

  var open: [OpenSocket] = []
  var places: [SocketID: OpenSocket] = [:]
  /// Whether a socket was opened or closed, or is waited for in another way, since the list for polling was made.
  var hasChanged = true
  private(set) var isStopping = false
  private var items: [zmq_pollitem_t] = []
  private let thread = pthread_self()

  init() {}

  /// Ends the loop after this turn, from inside.
  public func stop() { isStopping = true }

  /// Opens a ROUTER: what must not be lost, from and to every peer. Monitored always.
  ///
  /// An ipc path is guarded by a lock beside it, its folder is made (0700) and checked.
  /// - Throws: `EADDRINUSE` if another socket or process is there, saying which if it is known.
  public func router(bind endpoint: Endpoint, _ options: SocketOptions = SocketOptions()) throws(ZeroMQError)
    -> SocketID
  { try opened(.router, bind: endpoint, options) }

  /// Opens a DEALER and begins to connect. Nothing can be sent before ``ConnectionEvent/Change/connected``.
  ///
  /// When a connection ends, libzmq drops what it queued to send, so that a new session begins with what it says first,
  /// but also what came last and wasn't read yet (`ZMQ_IMMEDIATE`, `socket_base_t::hiccuped` in 4.3.4).
  public func dealer(connect endpoint: Endpoint, _ options: SocketOptions = SocketOptions()) throws(ZeroMQError)
    -> SocketID
  { try opened(.dealer, connect: endpoint, options) }

  /// Opens an XPUB: to whoever subscribes, lossy for those who don't keep up. Otherwise as a ROUTER.
  public func xpub(bind endpoint: Endpoint, _ options: SocketOptions = SocketOptions()) throws(ZeroMQError)
    -> SocketID
  { try opened(.xpub, bind: endpoint, options) }

  /// Opens a SUB and begins to connect. Subscriptions are kept across connections.
  public func sub(connect endpoint: Endpoint, _ options: SocketOptions = SocketOptions()) throws(ZeroMQError)
    -> SocketID
  { try opened(.sub, connect: endpoint, options) }

  /// Closes a socket; nothing if it is closed. What is queued is lost. A bound socket's address is free when this
  /// returns, usually within a millisecond.
  public func close(_ socket: SocketID) { close(socket, lingerMilliseconds: 0) }

  private func close(_ socket: SocketID, lingerMilliseconds: Int) {
    checkThread()
    guard let place = places.removeValue(forKey: socket) else { return }
    open.removeAll { $0 === place }
    hasChanged = true
    place.close(lingerMilliseconds: lingerMilliseconds)
  }

  /// Where a socket is bound or connected to, with the port that was chosen; nil if it is closed.
  public func endpoint(of socket: SocketID) -> Endpoint? { places[socket]?.endpoint }

  /// Has ``LoopHandler/writable(_:at:)`` called once when a DEALER has room again. Not for a ROUTER, which can't tell of
  /// which peer: try again after a while.
  public func notifyWhenWritable(_ socket: SocketID) {
    guard let place = places[socket] else { return }
    precondition(place.kind == .dealer, "only a DEALER tells when it has room")
    place.awaitsRoom = true
    hasChanged = true
  }

  // MARK: - Turning

  /// Turns until a stop is asked for.
  func run<Handler: LoopHandler>(_ handler: inout Handler, _ mailbox: Mailbox<Handler.Command>) {
    var batch = ReceivedBatch()
    while !isStopping {
      poll(until: handler.deadline, waking: mailbox.descriptor)
      let now = Moment.now()
      let polled = open
      if items[0].revents != 0 {
        let (commands, isStopping) = mailbox.take()
        if !commands.isEmpty { handler.commands(commands, at: now) }
        if isStopping { stop() }
      }
      // `polled` is in the order of `items`; what a handler opens or closes meanwhile changes `open` only.
      for (index, place) in polled.enumerated() where place.isOpen {
        let events = Int32(items[1 + 2 * index].revents)
        if events & ZMQ_POLLIN != 0 || !place.inbox.isEmpty { batch.read(place, self, &handler, now) }
        if events & ZMQ_POLLOUT != 0, place.isOpen, place.awaitsRoom {
          place.awaitsRoom = false
          hasChanged = true
          handler.writable(place.id, at: now)
        }
      }
      for (index, place) in polled.enumerated() where place.isOpen && items[2 + 2 * index].revents != 0 {
        let events = place.drainMonitor()
        if !events.isEmpty { handler.connectionsChanged(events, on: place.id, at: now) }
        endSurplus(&handler, now)
      }
      handler.turnEnded(at: now)
    }
    let last = mailbox.shut()
    let now = Moment.now()
    if !last.isEmpty { handler.commands(last, at: now) }
    handler.stopping(at: now)
    closeAll(lingerMilliseconds: 200)
  }

  /// Closes everything. The sockets a ROUTER serves see its last messages, if they take them within the time.
  func closeAll(lingerMilliseconds: Int = 0) {
    while let place = open.last { close(place.id, lingerMilliseconds: lingerMilliseconds) }
  }

  private func poll(until deadline: Int?, waking descriptor: Int32) {
    if hasChanged {
      items = [zmq_pollitem_t(socket: nil, fd: descriptor, events: Int16(ZMQ_POLLIN), revents: 0)]
      for place in open {
        let events = ZMQ_POLLIN | (place.awaitsRoom ? ZMQ_POLLOUT : 0)
        items.append(zmq_pollitem_t(socket: place.socket.handle, fd: 0, events: Int16(events), revents: 0))
        items.append(
          zmq_pollitem_t(socket: place.monitor.socket.handle, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0))
      }
      hasChanged = false
    }
    while true {
      var timeout = -1
      if let deadline { timeout = min(max(deadline - Moment.now().monotonic, 0), 60_000) }
      if open.contains(where: { !$0.inbox.isEmpty }) { timeout = 0 }
      if zmq_poll(&items, Int32(items.count), timeout) >= 0 { return }
      precondition(zmq_errno() == EINTR, "polling failed: \(String(cString: zmq_strerror(zmq_errno())))")
    }
  }

  /// Ends connections over the limit: those that never said anything first.
  private func endSurplus<Handler: LoopHandler>(_ handler: inout Handler, _ now: Moment) {
    guard let connectionLimit else { return }
    for (isPath, limit) in [(false, connectionLimit), (true, connectionLimit + Self.connectionsSpared)] {
      while open.reduce(0, { $0 + $1.connections }) > limit {
        let candidates = open.compactMap { place in
          (place.endpoint.path != nil) == isPath ? place.firstToEnd.map { (place, $0) } : nil
        }
        let silent = candidates.filter(\.1.isSilent).min { $0.1.number < $1.1.number }
        guard let (place, first) = silent ?? candidates.max(by: { $0.1.number < $1.1.number }) else { break }
        place.end(first.descriptor)
        let event = ConnectionEvent(change: .surplusEnded, address: place.endpoint.description)
        handler.connectionsChanged([event], on: place.id, at: now)
      }
    }
  }

  // MARK: - Opening

  private static let numbers = Atomic<Int>(0)

  private func opened(_ kind: Socket.Kind, bind endpoint: Endpoint, _ options: SocketOptions) throws(ZeroMQError)
    -> SocketID
  {
    if let path = endpoint.path { try IPCPath.prepareFolder(of: path) }
    let lock: IPCLock? = if let path = endpoint.path { try IPCLock(path: path) } else { nil }
    let place = try OpenSocket(kind, endpoint, options, number: Self.nextNumber(), lock: lock)
    try place.bind()
    return keep(place)
  }

  private func opened(_ kind: Socket.Kind, connect endpoint: Endpoint, _ options: SocketOptions) throws(ZeroMQError)
    -> SocketID
  {
    let place = try OpenSocket(kind, endpoint, options, number: Self.nextNumber(), lock: nil)
    try place.socket.connect(endpoint)
    return keep(place)
  }

  private func keep(_ place: OpenSocket) -> SocketID {
    checkThread()
    open.append(place)
    places[place.id] = place
    hasChanged = true
    return place.id
  }

  static func nextNumber() -> Int { numbers.add(1, ordering: .relaxed).newValue }

  func checkThread() {
    precondition(pthread_equal(thread, pthread_self()) != 0, "a loop is used on its own thread only")
  }
}
