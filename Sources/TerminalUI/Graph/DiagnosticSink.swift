import Locking

/// Where mistakes are told that are found in what a program does rather than in its views: each once, on any thread.
///
/// A path, for one, is a plain value, and knows of no graph. Whoever tells takes `current`: that of the views that are at
/// work, in their tasks too, else the process's.
package final class DiagnosticSink: Sendable {
  /// Of what isn't done for a graph that has its own.
  static let ofProcess = DiagnosticSink()

  @TaskLocal package static var current = ofProcess

  private struct State {
    var told: Set<String> = []
    var waiting: [Diagnostic] = []
    var wake: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  init() {}

  /// Tells of a mistake, if it wasn't told before.
  package func tell(_ diagnostic: Diagnostic) {
    let wake: (@Sendable () -> Void)? = state.withLock { state in
      guard state.told.insert(diagnostic.message).inserted else { return nil }
      state.waiting.append(diagnostic)
      return state.wake
    }
    wake?()
  }

  /// What was told and not taken yet.
  func take() -> [Diagnostic] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// Called, on the thread that tells, when there is something to be taken.
  func onTold(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }
}
