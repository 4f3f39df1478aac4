import CZeroMQ
import Glibc

/// What a call on a socket, or on the files around it, failed with.
public struct ZeroMQError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The number of the operating system or of libzmq (`EADDRINUSE`, `ETERM`).
  public var number: Int32
  /// The call that failed: `bind`, `connect`, `flock`.
  public var call: String
  /// The endpoint, path or option that it was about.
  public var about: String
  /// What happened and what to do, for a person.
  public var detail: String

  public init(_ number: Int32, call: String, about: String, detail: String? = nil) {
    self.number = number
    self.call = call
    self.about = about
    self.detail = detail ?? String(cString: zmq_strerror(number))
  }

  public var description: String { "\(about): \(detail)" }

  /// Whether the same call may work later without anything being repaired here: an address in use, a peer that is
  /// gone, no descriptors left.
  public var isRetriable: Bool {
    [EADDRINUSE, EAGAIN, EHOSTUNREACH, EMFILE, ENFILE, ECONNREFUSED, ENETDOWN, ENOBUFS].contains(number)
  }

  /// Whether somebody else holds the address or the path.
  public var isInUse: Bool { number == EADDRINUSE }

  /// Whether the system doesn't let this user do it.
  public var isForbidden: Bool { [EACCES, EPERM, EROFS].contains(number) }

  /// The error of the libzmq call that failed last on this thread.
  static func last(_ call: String, about: String, detail: String? = nil) -> ZeroMQError {
    ZeroMQError(zmq_errno(), call: call, about: about, detail: detail)
  }

  /// The error of the system call that failed last on this thread.
  static func system(_ call: String, about: String, detail: String? = nil) -> ZeroMQError {
    ZeroMQError(errno, call: call, about: about, detail: detail)
  }
}
