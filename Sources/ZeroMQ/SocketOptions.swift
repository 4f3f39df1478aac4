import CZeroMQ
import Glibc

/// The options of a socket, set before it binds or connects. The initial values are the protocol's.
public struct SocketOptions: Hashable, Sendable {
  /// The largest message of the protocol, in bytes; senders check it, since a receiver drops the connection.
  public static let largestMessage = 256 << 10
  /// Bytes of the largest frame at an XPUB. libzmq keeps a node for each byte of a topic; the frames of CURVE's handshake
  /// are the largest that have to come through.
  static let largestSubscription = 512
  /// What CURVE adds to a frame, with room to spare, in bytes.
  static let framing = 512

  /// Bytes of the largest frame that is received; more drops the connection of who sent it.
  public var largestFrame = SocketOptions.largestMessage + SocketOptions.framing
  /// Milliseconds before the first attempt to connect again; doubles up to ``longestReconnectMilliseconds``. Random,
  /// so that clients of a daemon that restarted don't come all at once.
  public var reconnectMilliseconds: Int
  public var longestReconnectMilliseconds = 30_000
  public var connectTimeoutMilliseconds = 5000
  public var handshakeMilliseconds = 5000
  public var heartbeatMilliseconds = 5000
  public var heartbeatTimeoutMilliseconds = 15_000
  /// Messages that wait to be sent for each peer; nil is the protocol's: 256 for ROUTER, no limit for SUB (whose
  /// subscriptions beyond a limit would vanish), libzmq's 1,000 else.
  public var sendLimit: Int?
  /// Nil: in plain text, from and to anybody who can reach the endpoint.
  public var curve: Curve?

  /// What access control is asked by for sockets without keys.
  static let openDomain = "navsync"

  public init() { reconnectMilliseconds = 200 + Int.random(in: 0...300) }
}

extension Socket {
  /// Sets the options. The calls can only fail for values out of range, which is a fault of the caller's.
  borrowing func set(_ options: SocketOptions, for endpoint: Endpoint) throws(ZeroMQError) {
    try set(ZMQ_LINGER, 0)
    // No limit, and only that is safe. With one a peer can end this process: when its queue is full, libzmq 4.3.4 stops to
    // read the connection; if that is then reset, the engine waits for the queue to be read, and a heartbeat's timer or a
    // PING among what it read before makes it write, which it asserts not to (`stream_engine_base.cpp`, `out_event`).
    // `Inbox` bounds what waits instead.
    try set(ZMQ_RCVHWM, 0)
    try set(ZMQ_MAXMSGSIZE, large: Int64(kind == .xpub ? SocketOptions.largestSubscription : options.largestFrame))
    try set(ZMQ_HANDSHAKE_IVL, options.handshakeMilliseconds)
    try set(ZMQ_HEARTBEAT_IVL, options.heartbeatMilliseconds)
    try set(ZMQ_HEARTBEAT_TIMEOUT, options.heartbeatTimeoutMilliseconds)
    try set(ZMQ_HEARTBEAT_TTL, options.heartbeatTimeoutMilliseconds + options.heartbeatMilliseconds)
    try set(ZMQ_TCP_KEEPALIVE, 1)
    try set(ZMQ_TCP_KEEPALIVE_IDLE, 60)
    try set(ZMQ_TCP_KEEPALIVE_INTVL, 10)
    try set(ZMQ_TCP_KEEPALIVE_CNT, 3)
    try set(ZMQ_CONNECT_TIMEOUT, options.connectTimeoutMilliseconds)
    try set(ZMQ_RECONNECT_IVL, options.reconnectMilliseconds)
    try set(ZMQ_RECONNECT_IVL_MAX, options.longestReconnectMilliseconds)
    if endpoint.isIPv6 { try set(ZMQ_IPV6, 1) }
    if kind == .router || kind == .xpub {
      // With a domain libzmq refuses peers of ZMTP before 3.0. Its engine for those aborts the process when such a peer
      // goes at the wrong moment (4.3.4, `zmtp_engine.cpp`, pushing the routing id). Everybody else is let in: by whoever
      // answers, or for want of an answer, since it isn't enforced.
      try set(ZMQ_ZAP_DOMAIN, bytes: Array(SocketOptions.openDomain.utf8))
    }
    if let curve = options.curve { try set(curve) }
    switch kind {
    case .router:
      try set(ZMQ_ROUTER_MANDATORY, 1)
      try set(ZMQ_ROUTER_HANDOVER, 0)
      try set(ZMQ_SNDHWM, options.sendLimit ?? 256)
    case .dealer:
      // Nothing is queued for a connection that isn't there: what a new session says comes first.
      try set(ZMQ_IMMEDIATE, 1)
      try set(ZMQ_SNDHWM, options.sendLimit ?? 1000)
    case .xpub:
      // All that is subscribed is told, also what is subscribed already: it is to be counted.
      try set(ZMQ_XPUB_VERBOSER, 1)
      try set(ZMQ_SNDHWM, options.sendLimit ?? 1000)
    case .pair, .rep:
      try set(ZMQ_SNDHWM, options.sendLimit ?? 1000)
    case .sub:
      try set(ZMQ_SNDHWM, options.sendLimit ?? 0)
    }
  }

  /// Has calls that wait give up after a while.
  package borrowing func limitWaits(milliseconds: Int) throws(ZeroMQError) {
    try set(ZMQ_RCVTIMEO, milliseconds)
    try set(ZMQ_SNDTIMEO, milliseconds)
  }

  /// Sets an option that is a 32-bit number.
  package borrowing func set(_ option: Int32, _ value: Int) throws(ZeroMQError) {
    var number = Int32(clamping: value)
    guard zmq_setsockopt(handle, option, &number, MemoryLayout<Int32>.size) == 0 else {
      throw .last("setsockopt", about: "option \(option) = \(value)")
    }
  }

  /// Sets an option that is a 64-bit number.
  borrowing func set(_ option: Int32, large value: Int64) throws(ZeroMQError) {
    var number = value
    guard zmq_setsockopt(handle, option, &number, MemoryLayout<Int64>.size) == 0 else {
      throw .last("setsockopt", about: "option \(option) = \(value)")
    }
  }

  /// Sets an option that is bytes.
  borrowing func set(_ option: Int32, bytes: [UInt8]) throws(ZeroMQError) {
    guard zmq_setsockopt(handle, option, bytes, bytes.count) == 0 else {
      throw .last("setsockopt", about: "option \(option)")
    }
  }
}
