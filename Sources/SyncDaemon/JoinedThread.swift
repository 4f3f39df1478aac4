import Glibc
import ZeroMQ

/// A thread of its own, for calls that block; joined once.
struct JoinedThread: Sendable {
  private let thread: pthread_t

  init(name: String, _ body: @escaping @Sendable () -> Void) throws(ZeroMQError) {
    thread = try startThread(name: name, body)
  }

  /// Waits until the body has ended. Called once.
  func join() { pthread_join(thread, nil) }
}
