import Locking
import Observation

/// Watches the `@Observable` objects that one evaluation read, until the next one.
///
/// A tracking of `Observation` ends only when something that it watches changes. So each watches a mark of its own
/// too, and is ended by changing that: otherwise evaluations that nothing observed had caused would pile up.
final class PassTracking: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let isOver = Locked(false)
  private let invalidation: Invalidation

  private var mark: Int { 0 }

  init(_ invalidation: Invalidation) { self.invalidation = invalidation }

  func track<Result>(_ body: () -> Result) -> Result {
    withObservationTracking {
      registrar.access(self, keyPath: \.mark)
      return body()
    } onChange: { [isOver, invalidation] in
      if !isOver.withLock({ $0 }) { invalidation.set() }
    }
  }

  func end() {
    isOver.withLock { $0 = true }
    registrar.withMutation(of: self, keyPath: \.mark) {}
  }
}
