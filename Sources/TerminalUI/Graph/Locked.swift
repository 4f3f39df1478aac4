import Foundation

/// A value that one thread at a time may touch.
///
/// `NSLock` and not `Synchronization.Mutex`, for which ThreadSanitizer reports false races.
///
/// Unchecked, because the compiler doesn't see the lock: `value` is private and touched only between lock and unlock.
final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: sending Value) { self.value = value }

  func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
