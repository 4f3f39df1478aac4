import CZeroMQ
import Glibc

/// What became of a connection of a socket.
public struct ConnectionEvent: Hashable, Sendable {
  public enum Change: Hashable, Sendable {
    /// The handshake is done; messages can be sent. On a connecting socket a new session begins here.
    case connected
    /// The connection is gone. A connecting socket tries again by itself.
    case disconnected
    /// Nobody could be reached; another attempt follows in so many milliseconds.
    case retrying(milliseconds: Int)
    case handshakeFailed(HandshakeFailure)
    /// A connection couldn't be accepted, by the error's number; `EMFILE` means too few file descriptors.
    case acceptFailed(Int32)
    /// A connection was ended because there were more than ``Loop/connectionLimit``.
    case surplusEnded
  }

  public var change: Change
  /// The socket's endpoint as libzmq tells it, which is not always the one that was given.
  public var address: String

  package init(change: Change, address: String) {
    self.change = change
    self.address = address
  }
}

/// Why a peer was connected and yet refused, or refused us.
public enum HandshakeFailure: Hashable, Sendable {
  /// The server's access control answered with this status: 400 is *not authorised*. libzmq doesn't try again after it.
  case notAuthorised(status: Int)
  /// The other side doesn't speak as we do: another mechanism, another protocol, a wrong server key. libzmq's number.
  case notUnderstood(code: Int32)
  /// The connection ended during the handshake, with the error's number: a timeout, or a server whose key is another.
  case cut(Int32)
}

/// The owner of a socket's monitor: a second socket inside the process, on which libzmq's I/O thread reports.
///
/// It has to be read often, for the I/O thread waits when its queue is full; and it must not close before libzmq has
/// stopped to report, for then the I/O thread waits forever. Measured with 4.3.4; zmq_socket_monitor(3) has the frames.
struct Monitor: ~Copyable {
  let socket: Socket
  private let address: Endpoint
  private var watched: UnsafeMutableRawPointer?
  private var isReporting = false
  /// Connections that were accepted and are open: the descriptor, and which of all it was.
  private(set) var accepted: [Int32: Int] = [:]
  /// Of these, those that nothing came from.
  private(set) var silent: [Int32: Int] = [:]

  /// - Parameter number: one of its own for each monitor of the process.
  init(number: Int) throws(ZeroMQError) {
    let address = try Endpoint("inproc://navsync.monitor.\(number)")
    let socket = try Socket(.pair)
    try socket.set(ZMQ_LINGER, 0)
    try socket.set(ZMQ_RCVHWM, 0)
    // libzmq lets a socket connect inside the process before the other side is there.
    try socket.connect(address)
    self.socket = socket
    self.address = address
  }

  deinit { precondition(!isReporting, "libzmq reports to a monitor that goes") }

  /// Begins to watch a socket, which has to live longer than the monitor.
  mutating func watch(_ socket: borrowing Socket) throws(ZeroMQError) {
    let events =
      ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_ACCEPT_FAILED
      | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
      | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_MONITOR_STOPPED
    guard zmq_socket_monitor(socket.handle, address.description, events) == 0 else {
      throw .last("monitor", about: address.description)
    }
    watched = socket.handle
    isReporting = true
  }

  /// Stops the reports.
  mutating func stop() {
    if let watched, isReporting { zmq_socket_monitor(watched, nil, 0) }
    isReporting = false
  }

  /// After the socket was closed: waits until libzmq has undone everything of it.
  /// - Returns: false if that took too long, and then the monitor must be kept.
  mutating func awaitEnd(milliseconds: Int) -> Bool {
    let end = Moment.now().monotonic + milliseconds
    var events: [ConnectionEvent] = []
    while isReporting {
      var item = zmq_pollitem_t(socket: socket.handle, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0)
      let left = end - Moment.now().monotonic
      if left <= 0 { return false }
      zmq_poll(&item, 1, left)
      drain(into: &events)
    }
    return true
  }

  /// Ends a connection that was accepted.
  ///
  /// The descriptor is libzmq's. If it closed it a moment ago, and something else has the number, then that is no socket,
  /// and nothing happens, or it is a connection as well, which is made again and loses nothing.
  mutating func end(_ descriptor: Int32) {
    guard accepted[descriptor] != nil else { return }
    forget(descriptor)
    shutdown(descriptor, Int32(SHUT_RDWR))
  }

  private mutating func forget(_ descriptor: Int32) {
    accepted[descriptor] = nil
    silent[descriptor] = nil
  }

  /// Something came over a connection.
  mutating func heard(_ frame: borrowing Frame) {
    guard !silent.isEmpty, let descriptor = frame.descriptor else { return }
    silent[descriptor] = nil
  }

  /// Reads what libzmq reported. Never waits.
  mutating func drain(into events: inout [ConnectionEvent]) {
    var head = Frame()
    var address = Frame()
    while socket.receive(into: &head) {
      guard head.hasMore, socket.receive(into: &address) else { return }
      let (event, value) = head.withBytes { bytes -> (Int32, Int32) in
        guard bytes.count >= 6 else { return (0, 0) }
        return (
          Int32(bytes.loadUnaligned(as: UInt16.self)), bytes.loadUnaligned(fromByteOffset: 2, as: Int32.self)
        )
      }
      switch event {
      case ZMQ_EVENT_MONITOR_STOPPED: isReporting = false
      case ZMQ_EVENT_ACCEPTED:
        accepted[value] = Loop.nextNumber()
        silent[value] = accepted[value]
      // libzmq tells of it before it closes the descriptor.
      case ZMQ_EVENT_DISCONNECTED: forget(value)
      case _: break
      }
      guard let change = Self.change(event, value) else { continue }
      events.append(ConnectionEvent(change: change, address: String(decoding: address.bytes(), as: UTF8.self)))
    }
  }

  private static func change(_ event: Int32, _ value: Int32) -> ConnectionEvent.Change? {
    switch event {
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: return .connected
    case ZMQ_EVENT_DISCONNECTED: return .disconnected
    case ZMQ_EVENT_CONNECT_RETRIED: return .retrying(milliseconds: Int(value))
    case ZMQ_EVENT_ACCEPT_FAILED: return .acceptFailed(value)
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: return .handshakeFailed(.notAuthorised(status: Int(value)))
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL: return .handshakeFailed(.notUnderstood(code: value))
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: return .handshakeFailed(.cut(value))
    default: return nil
    }
  }
}
