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
  private(set) var isOpen = true
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

  /// Ends listening, and waits until libzmq's I/O thread has done so: until then a port is taken. Removes the socket's
  /// file, which 4.3.4 leaves; the lock is still held. The rest is closed when this object goes.
  func shut() {
    isOpen = false
    guard isBound else { return }
    isBound = false
    // What was sent last still leaves, if it can at once.
    if kind == .router { try? socket.set(ZMQ_LINGER, 200) }
    if zmq_unbind(socket.handle, endpoint.description) == 0 { awaitListenerClosed(milliseconds: 500) }
    if let path = endpoint.path { unlink(path) }
  }

  private func awaitListenerClosed(milliseconds: Int) {
    let end = Moment.now().monotonic + milliseconds
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
