import Locking

/// Whether the views have to be evaluated again. May be set from any thread; many settings are one evaluation.
final class Invalidation: Sendable {
  private struct State {
    var isSet = true
    var wake: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  /// Called, on the thread that sets it, when it was not set before.
  func onSet(_ wake: (@Sendable () -> Void)?) { state.withLock { $0.wake = wake } }

  func set() {
    let wake: (@Sendable () -> Void)? = state.withLock { state in
      if state.isSet { return nil }
      state.isSet = true
      return state.wake
    }
    wake?()
  }

  var isSet: Bool { state.withLock { $0.isSet } }

  /// Takes the setting away, and says whether there was one.
  func take() -> Bool {
    state.withLock { state in
      defer { state.isSet = false }
      return state.isSet
    }
  }
}
