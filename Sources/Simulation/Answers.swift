import Locking
import NavigationClient

/// What an engine answered: its replies may be given from any thread, so they go through a lock.
final class Answers<Answer: Sendable>: Sendable {
  private let given = Locked<[Answer]>([])

  var all: [Answer] { given.withLock { $0 } }

  func add(_ answer: Answer) { given.withLock { $0.append(answer) } }
}
