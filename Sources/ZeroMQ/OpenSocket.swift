import CZeroMQ
import Glibc

/// A socket that a loop has open, with what belongs to it.
final class OpenSocket {
  let id: SocketID
  private(set) var monitor: Monitor
  private(set) var socket: Socket
  private let lock: IPCLock?
  /// Kept for as long as libzmq may ask for it.
  private let gate: Gate?
  private(set) var endpoint: Endpoint
  private var isBound = false
  private(set) var isOpen = true
  var awaitsRoom = false
  /// Of a ROUTER.
  var inbox = Inbox()

  var kind: Socket.Kind { socket.kind }
  /// Whether each connection is some key's.
  var isGated: Bool { gate != nil }

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
    gate = if case .server(_, let gate) = options.curve { gate } else { nil }
    self.endpoint = endpoint
    id = SocketID(number: number)
  }

  deinit { if socket.handle != nil { monitor.stop() } }

  func bind() throws(ZeroMQError) {
    try socket.bind(endpoint)
    endpoint = try socket.lastEndpoint()
    isBound = true
  }

  /// Connections that were accepted and are open.
  var connections: Int { monitor.accepted.count }

  /// Something came, in this frame.
  func heard(_ frame: borrowing Frame) { monitor.heard(frame) }

  /// The connection that is ended first when there are too many: the oldest that never said anything, or the newest.
  var firstToEnd: (descriptor: Int32, isSilent: Bool, number: Int)? {
    if let (descriptor, number) = monitor.silent.min(by: { $0.value < $1.value }) { return (descriptor, true, number) }
    return monitor.accepted.max { $0.value < $1.value }.map { ($0.key, false, $0.value) }
  }

  func end(_ descriptor: Int32) { monitor.end(descriptor) }

  /// Reads the monitor.
  func drainMonitor() -> [ConnectionEvent] {
    var events: [ConnectionEvent] = []
    monitor.drain(into: &events)
    // A connection is reported by another thread than ours; with this the socket knows of it, too.
    if !events.isEmpty { socket.processReports() }
    return events
  }

  /// Closes the socket.
  ///
  /// One that is bound is waited for: until libzmq's threads have closed it, its port is taken. Its file is removed,
  /// which 4.3.4 leaves; the lock is still held then.
  /// - Parameter lingerMilliseconds: how long a ROUTER's last messages may take to leave.
  func close(lingerMilliseconds: Int) {
    isOpen = false
    guard isBound else {
      monitor.stop()
      socket.close()
      return
    }
    isBound = false
    let linger = kind == .router ? lingerMilliseconds : 0
    try? socket.set(ZMQ_LINGER, linger)
    socket.close()
    // Not `zmq_unbind` before it: that throws away what was sent last. The margin is for a machine that is overloaded; if
    // even that passes, the reader stays behind for good, since the I/O thread would wait for one that is gone.
    if !monitor.awaitEnd(milliseconds: linger + 1000) { _ = Unmanaged.passRetained(self) }
    if let path = endpoint.path { unlink(path) }
  }
}
