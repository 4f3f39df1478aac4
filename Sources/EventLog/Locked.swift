import Glibc

/// A value that one thread at a time may touch.
///
/// A pthread mutex and not `Synchronization.Mutex`, for which ThreadSanitizer reports false races.
///
/// Unchecked, because the compiler doesn't see the mutex: `value` is private, handed in by `sending`, and touched only
/// between lock and unlock; what comes out of `withLock` is `Sendable`.
final class Locked<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    let result = pthread_mutex_init(mutex, nil)
    precondition(result == 0, "pthread_mutex_init: \(result)")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withLock<Result: Sendable, E: Error>(_ body: (inout Value) throws(E) -> Result) throws(E) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
