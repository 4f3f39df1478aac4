import CZeroMQ
import Glibc

/// A socket that a loop has open, with what belongs to it.
final class OpenSocket {
  let id: SocketID
  private(set) var monitor: Monitor
  let socket: Socket
  private let lock: IPCLock?
  private(set) var endpoint: Endpoint
  private var isBound = false
  var awaitsRoom = false

  var kind: Socket.Kind { socket.kind }

  init(
    _ kind: Socket.Kind, _ endpoint: Endpoint, _ options: SocketOptions, number: Int, lock: consuming IPCLock?
  ) throws(ZeroMQError) {
    let socket = try Socket(kind)
    try socket.set(options, for: endpoint)
    var monitor = try Monitor(number: number)
    try monitor.watch(socket)
    self.monitor = monitor
    self.socket = socket
    self.lock = lock
    self.endpoint = endpoint
    id = SocketID(number: number)
  }

  deinit { monitor.stop() }

  func bind() throws(ZeroMQError) {
    try socket.bind(endpoint)
    endpoint = try socket.lastEndpoint()
    isBound = true
  }

  /// Reads the monitor.
  func drainMonitor() -> [ConnectionEvent] {
    var events: [ConnectionEvent] = []
    var closed = false
    monitor.drain(into: &events, listenerClosed: &closed)
    // A connection is reported by another thread than ours; with this the socket knows of it, too.
    if !events.isEmpty { socket.processReports() }
    return events
  }

  /// Ends listening and waits until libzmq's I/O thread has closed the listener: it removes an ipc path late, and would
  /// remove that of who binds next. The rest is closed when this object goes.
  func shut() {
    guard isBound else { return }
    isBound = false
    // What was sent last still leaves, if it can at once.
    if kind == .router { try? socket.set(ZMQ_LINGER, 200) }
    guard zmq_unbind(socket.handle, endpoint.description) == 0 else { return }
    let end = Moment.now().monotonic + 500
    var events: [ConnectionEvent] = []
    var closed = false
    while !closed {
      var item = zmq_pollitem_t(socket: monitor.socket.handle, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0)
      let left = end - Moment.now().monotonic
      if left <= 0 { return }
      zmq_poll(&item, 1, left)
      monitor.drain(into: &events, listenerClosed: &closed)
    }
  }
}
