import Glibc

/// A value that one thread at a time may touch. Any thread; blocks only as long as another has it.
///
/// A `pthread_mutex_t` and not `Synchronization.Mutex`, for which ThreadSanitizer reports false races. The value has a
/// size: ThreadSanitizer takes an access to a value of none for one to what stands behind it.
///
/// Unchecked, because the compiler doesn't see the mutex: `value` is private, handed in by `sending`, and touched only
/// between lock and unlock; what comes out is `Sendable`.
package final class Locked<Value>: @unchecked Sendable {
  private var value: Value
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>

  package init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    changed = .allocate(capacity: 1)
    precondition(pthread_mutex_init(mutex, nil) == 0 && pthread_cond_init(changed, nil) == 0, "no lock to be had")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(changed)
    mutex.deallocate()
    changed.deallocate()
  }

  /// Runs the body with the value. Short and without calls to the outside: others wait meanwhile.
  package func withLock<Result: Sendable, E: Error>(
    _ body: (inout Value) throws(E) -> Result
  ) throws(E) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }

  /// Changes the value and wakes who waits for a condition.
  package func change(_ body: (inout Value) -> Void) {
    pthread_mutex_lock(mutex)
    body(&value)
    pthread_mutex_unlock(mutex)
    // Only now, so that who wakes finds the lock free.
    pthread_cond_broadcast(changed)
  }

  /// Blocks the thread until the body returns something. Only for what ends soon.
  package func wait<Result: Sendable>(until body: (inout Value) -> Result?) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      pthread_cond_wait(changed, mutex)
    }
  }
}
