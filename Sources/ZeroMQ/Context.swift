import CZeroMQ
import Glibc

/// libzmq's context: its I/O thread and its table of sockets. One for the life of the process.
///
/// It is never terminated: terminating blocks until the last socket of every library in the process is closed. Loops
/// close their own sockets, and the process may end at any time.
package enum Context {
  /// Sockets that can be open at once in this process, monitors included.
  package static let maxSockets: Int32 = 4096

  /// Created at the first use, by whichever thread comes first; contexts are thread safe (zmq_ctx_new(3)).
  static let handle: Handle = {
    guard let pointer = zmq_ctx_new() else { preconditionFailure("libzmq has no memory for its context") }
    zmq_ctx_set(pointer, ZMQ_MAX_SOCKETS, maxSockets)
    return Handle(pointer: pointer)
  }()

  /// The pointer of the context. Sendable, since libzmq lets every thread use a context (zmq_ctx_new(3)).
  struct Handle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer
  }
}
