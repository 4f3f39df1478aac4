import Locking

/// The way to a thread that may block: jobs in the order they were posted.
final class JobQueue<Job: Sendable>: Sendable {
  private let state = Locked(State())

  private struct State: Sendable {
    var jobs: [Job] = []
    var isClosed = false
    var isCut = false
    /// The thread that takes the jobs has none.
    var isWaiting = false
    /// Another thread does its work.
    var isLent = false
  }

  /// Never blocks but for the lock. Nothing after ``close()``.
  func post(_ job: Job) { state.change { if !$0.isClosed { $0.jobs.append(job) } } }

  /// Runs the body in the place of the thread that takes the jobs, if that one waits for some: the two never work at the
  /// same time, and what is posted meanwhile comes after. False if it is at work.
  func standIn(_ body: () -> Void) -> Bool {
    let isMine = state.withLock { state in
      guard state.isWaiting, state.jobs.isEmpty, !state.isClosed else { return false }
      state.isLent = true
      return true
    }
    guard isMine else { return false }
    body()
    let hasNews = state.withLock { state in
      state.isLent = false
      return !state.jobs.isEmpty || state.isClosed
    }
    // Waking it for nothing would cost what standing in saves.
    if hasNews { state.change { _ in } }
    return true
  }

  /// What was posted is still done.
  func close() { state.change { $0.isClosed = true } }

  /// Closes the queue and forgets what nobody took yet. Who took several at once looks at ``isDropped`` between them.
  func drop() {
    state.change {
      $0.isClosed = true
      $0.isCut = true
      $0.jobs = []
    }
  }

  /// Whether what is left isn't wanted any more.
  var isDropped: Bool { state.withLock { $0.isCut } }

  /// Waits for jobs, unless told not to, and takes them all; nil when the queue is closed and empty.
  func next(waits: Bool = true) -> [Job]? {
    state.wait { state -> [Job]?? in
      state.isWaiting = state.isLent || state.jobs.isEmpty && waits && !state.isClosed
      if state.isWaiting { return nil }
      if state.jobs.isEmpty, state.isClosed { return .some(nil) }
      defer { state.jobs = [] }
      return state.jobs
    }
  }

  /// Waits for one job that answers something. The queue is used for that alone.
  func answer() -> Job {
    guard let first = next()?.first else { preconditionFailure("the answer's queue was closed") }
    return first
  }
}
