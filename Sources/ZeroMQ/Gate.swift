public import Access
import CZeroMQ
import Glibc
import Locking
import Synchronization

/// Who may connect to sockets that are bound: asked by libzmq for each handshake (ZAP, ZeroMQ RFC 27), before anything of
/// the peer's is read.
///
/// libzmq has one place a process to ask, and so there is one thread for all gates. It starts with the first of them, and
/// never ends; should it, nobody is let in any more.
public final class Gate: Hashable, Sendable {
  /// What libzmq asks for this gate by.
  let domain: String
  fileprivate let admits: @Sendable (PublicKey) -> Bool
  private let refused: @Sendable (PublicKey, _ address: String) -> Void
  /// The key that ``prove(serverKeys:)`` tries.
  private let stranger = Locked<PublicKey?>(nil)

  /// - Parameters:
  ///   - admits: whether the holder of a key may connect. Called on the gates' thread, which all handshakes wait for.
  ///   - refused: told who wasn't let in, on the same thread.
  /// - Throws: ``ZeroMQError`` if something else in this process answers for libzmq's access control.
  public init(
    admits: @escaping @Sendable (PublicKey) -> Bool,
    refused: @escaping @Sendable (PublicKey, _ address: String) -> Void
  ) throws(ZeroMQError) {
    _ = try Authenticator.started.get()
    domain = "navsync.\(Authenticator.numbers.add(1, ordering: .relaxed).newValue)"
    self.admits = admits
    self.refused = refused
    Authenticator.add(self)
  }

  deinit { Authenticator.remove(domain) }

  public static func == (left: Gate, right: Gate) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(domain) }

  fileprivate func decide(_ key: PublicKey, from address: String) -> Bool {
    if admits(key) { return true }
    if stranger.withLock({ $0 }) != key { refused(key, address) }
    return false
  }

  /// Proves that a key that nobody knows is refused: binds a socket on loopback as the daemon's are, and connects to it
  /// with new keys. Takes a few milliseconds; blocks.
  ///
  /// - Throws: ``ZeroMQError`` with `EACCES` if the stranger is let in, or isn't answered within five seconds.
  public func prove(serverKeys: KeyPair) throws(ZeroMQError) {
    let keys = try KeyPair.generate()
    stranger.withLock { $0 = keys.publicKey }
    var options = SocketOptions()
    options.curve = .server(serverKeys, self)
    let server = try OpenSocket(
      .router, try Endpoint("tcp://127.0.0.1:0"), options, number: Loop.nextNumber(), lock: nil)
    try server.bind()
    defer { server.close(lingerMilliseconds: 0) }
    options.curve = .client(keys, server: serverKeys.publicKey)
    let client = try OpenSocket(.dealer, server.endpoint, options, number: Loop.nextNumber(), lock: nil)
    try client.socket.connect(client.endpoint)
    defer { client.close(lingerMilliseconds: 0) }
    let end = Moment.now().monotonic + 5000
    func failed(_ detail: String) -> ZeroMQError {
      ZeroMQError(EACCES, call: "handshake", about: "access control", detail: detail)
    }
    while true {
      for event in client.drainMonitor() {
        switch event.change {
        case .handshakeFailed(.notAuthorised(status: Authenticator.refusal)): return
        case .connected: throw failed("a key that nobody knows was let in; this libzmq can't be trusted with a network")
        case .handshakeFailed, .disconnected, .retrying, .acceptFailed, .surplusEnded: break
        }
      }
      // The server's reports have to be read, or libzmq waits.
      _ = server.drainMonitor()
      var item = zmq_pollitem_t(socket: client.monitor.socket.handle, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0)
      let left = end - Moment.now().monotonic
      guard left > 0 else { throw failed("the refusal of an unknown key didn't come; is the machine overloaded?") }
      zmq_poll(&item, 1, left)
    }
  }
}

/// The process's side of ZAP: a thread that answers libzmq's I/O threads.
private enum Authenticator {
  static let numbers = Atomic<Int>(0)
  /// 400 and not 300: libzmq takes 300 for a passing fault and tries again at once.
  static let refusal = 400
  private static let gates = Locked([String: Weak]())

  private struct Weak: Sendable {
    weak let gate: Gate?
  }

  static func add(_ gate: Gate) {
    let weak = Weak(gate: gate)
    gates.withLock { $0[gate.domain] = weak }
  }

  static func remove(_ domain: String) { gates.withLock { $0[domain] = nil } }

  /// Made once; whoever asks first waits until it answers.
  static let started: Result<Void, ZeroMQError> = {
    let phase = Locked<Result<Void, ZeroMQError>?>(nil)
    do throws(ZeroMQError) {
      let thread = try startThread(name: "zap") {
        do throws(ZeroMQError) {
          let socket = try Socket(.rep)
          try socket.set(ZMQ_LINGER, 0)
          // The place that RFC 27 fixes.
          try socket.bind(try Endpoint("inproc://zeromq.zap.01"))
          phase.change { $0 = .success(()) }
          answer(socket)
        } catch { phase.change { $0 = .failure(error) } }
      }
      pthread_detach(thread)
    } catch { return .failure(error) }
    return phase.wait { $0 }
  }()

  /// Answers each request; ends only if the socket fails.
  private static func answer(_ socket: borrowing Socket) {
    while let request = receive(socket) {
      let (status, user) = decide(request)
      let reply = [
        Array("1.0".utf8), request.count > 1 ? request[1] : [], Array("\(status)".utf8),
        Array((status == 200 ? "OK" : "not authorised").utf8), Array(user.utf8), [],
      ]
      for (place, part) in reply.enumerated() {
        var frame = Frame(part)
        guard socket.send(&frame, more: place + 1 < reply.count, waiting: true) == 0 else { return }
      }
    }
  }

  /// The frames of RFC 27: version, request, domain, address, routing id, mechanism, credentials.
  private static func receive(_ socket: borrowing Socket) -> [[UInt8]]? {
    var parts: [[UInt8]] = []
    var frame = Frame()
    repeat {
      guard socket.receive(into: &frame, waiting: true) else { return nil }
      if parts.count < 16 { parts.append(frame.bytes()) }
    } while frame.hasMore
    return parts
  }

  private static func decide(_ request: [[UInt8]]) -> (status: Int, user: String) {
    guard request.count >= 6, request[0] == Array("1.0".utf8) else { return (refusal, "") }
    let domain = String(decoding: request[2], as: UTF8.self)
    // Sockets without keys have a domain only so that libzmq refuses old peers; see `SocketOptions`.
    if domain == SocketOptions.openDomain { return (200, "") }
    guard request[5] == Array("CURVE".utf8), request.count == 7, let key = PublicKey(bytes: request[6]),
      let gate = gates.withLock({ $0[domain]?.gate }),
      gate.decide(key, from: String(decoding: request[3], as: UTF8.self))
    else { return (refusal, "") }
    return (200, key.description)
  }
}
