/// Carries a value from the thread that made it to the one that uses it, once.
///
/// Unchecked: the value is handed in by `sending`, so that nobody else has it; the box then goes to the other thread by
/// what orders their memory, such as a lock or the start of the thread; and it is taken out once, by one.
package final class InTransit<Value>: @unchecked Sendable {
  private var value: Value?

  package init(_ value: sending Value) { self.value = value }

  package func take() -> Value {
    guard let value else { preconditionFailure("what was in transit is taken already") }
    self.value = nil
    return value
  }
}
