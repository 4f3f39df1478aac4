import CZeroMQ
import Glibc

/// The owner of one libzmq socket. Only the thread that opened it may use or close it; that is checked.
package struct Socket: ~Copyable {
  package enum Kind: Hashable, Sendable {
    case router, dealer, xpub, sub, pair, rep

    var number: Int32 {
      switch self {
      case .router: ZMQ_ROUTER
      case .dealer: ZMQ_DEALER
      case .xpub: ZMQ_XPUB
      case .sub: ZMQ_SUB
      case .pair: ZMQ_PAIR
      case .rep: ZMQ_REP
      }
    }
  }

  package let kind: Kind
  /// Nil once it is closed. libzmq's calls take that as an error.
  private(set) var handle: UnsafeMutableRawPointer?
  private let thread = pthread_self()

  package init(_ kind: Kind) throws(ZeroMQError) {
    guard let handle = zmq_socket(Context.handle.pointer, kind.number) else {
      throw .last(
        "socket", about: "\(kind) socket",
        detail: zmq_errno() == EMFILE
          ? "no more sockets or file descriptors; close some connections or raise the limit of open files" : nil)
    }
    self.kind = kind
    self.handle = handle
  }

  deinit {
    guard let handle else { return }
    precondition(pthread_equal(thread, pthread_self()) != 0, "a socket is closed on the thread that opened it")
    zmq_close(handle)
  }

  /// Closes before the owner goes.
  mutating func close() {
    checkThread()
    zmq_close(handle)
    handle = nil
  }

  package borrowing func bind(_ endpoint: Endpoint) throws(ZeroMQError) {
    checkThread()
    guard zmq_bind(handle, endpoint.description) == 0 else {
      let number = zmq_errno()
      let detail =
        switch number {
        case EADDRINUSE: "the address is in use; stop the program that listens there or choose another"
        case EACCES: "this user may not listen there"
        case EADDRNOTAVAIL, ENODEV: "this machine has no such address"
        default: String(cString: zmq_strerror(number))
        }
      throw ZeroMQError(number, call: "bind", about: endpoint.description, detail: detail)
    }
  }

  package borrowing func connect(_ endpoint: Endpoint) throws(ZeroMQError) {
    checkThread()
    guard zmq_connect(handle, endpoint.description) == 0 else {
      throw .last("connect", about: endpoint.description)
    }
  }

  /// Where the last bind or connect went, with the port that was chosen.
  package borrowing func lastEndpoint() throws(ZeroMQError) -> Endpoint {
    checkThread()
    var text = [CChar](repeating: 0, count: 512)
    var size = text.count
    guard zmq_getsockopt(handle, ZMQ_LAST_ENDPOINT, &text, &size) == 0 else {
      throw .last("getsockopt", about: "last endpoint")
    }
    return try Endpoint(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }

  /// Lets libzmq handle what its I/O thread reported, at once. Sending and receiving do so only about every
  /// millisecond, so a connection that the monitor has announced may not be usable without it.
  borrowing func processReports() {
    checkThread()
    var events: Int32 = 0
    var size = MemoryLayout<Int32>.size
    zmq_getsockopt(handle, ZMQ_EVENTS, &events, &size)
  }

  /// Receives one frame.
  /// - Returns: false if there is none and `waiting` is false.
  package borrowing func receive(into frame: inout Frame, waiting: Bool = false) -> Bool {
    checkThread()
    while zmq_msg_recv(&frame.raw, handle, waiting ? 0 : ZMQ_DONTWAIT) < 0 {
      if zmq_errno() == EINTR { continue }
      return false
    }
    return true
  }

  /// Sends one frame and empties it if it was sent.
  /// - Returns: 0, or the number of the error.
  package borrowing func send(_ frame: inout Frame, more: Bool = false, waiting: Bool = false) -> Int32 {
    checkThread()
    let flags = (more ? ZMQ_SNDMORE : 0) | (waiting ? 0 : ZMQ_DONTWAIT)
    while zmq_msg_send(&frame.raw, handle, flags) < 0 {
      let number = zmq_errno()
      if number != EINTR { return number }
    }
    return 0
  }

  /// Sends bytes, which are copied.
  /// - Returns: 0, or the number of the error.
  borrowing func send(_ bytes: UnsafeRawBufferPointer, more: Bool = false) -> Int32 {
    checkThread()
    while zmq_send(handle, bytes.baseAddress, bytes.count, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) < 0 {
      let number = zmq_errno()
      if number != EINTR { return number }
    }
    return 0
  }

  borrowing func checkThread() {
    assert(pthread_equal(thread, pthread_self()) != 0, "a socket is used on the thread that opened it")
  }
}
