import Locking
import NavigationModel

/// Where an engine puts what a stack shows, and others take it from: the newest state, and streams of what comes.
final class StackHub: Sendable {
  let name: StackName

  private struct Content: Sendable {
    var state: StackState?
    var states: [Int: AsyncStream<StackState>.Continuation] = [:]
    var changes: [Int: AsyncStream<[StackChange]>.Continuation] = [:]
    var next = 0
    var isEnded = false
  }

  private let content = Locked(Content())
  /// Batches of changes that wait for a slow reader.
  private static let batches = 1024

  init(name: StackName) { self.name = name }

  /// Whether anybody reads each change.
  var hasChangeReaders: Bool { content.withLock { !$0.changes.isEmpty } }

  /// Nil before the engine opened the stack.
  var state: StackState? { content.withLock { $0.state } }

  func publish(_ state: StackState, _ changes: [StackChange]) {
    let (states, readers) = content.withLock { content in
      content.state = state
      return (Array(content.states.values), Array(content.changes.values))
    }
    for continuation in states { continuation.yield(state) }
    if !changes.isEmpty {
      for continuation in readers { continuation.yield(changes) }
    }
  }

  func end() {
    let (states, readers) = content.withLock { content in
      content.isEnded = true
      defer {
        content.states = [:]
        content.changes = [:]
      }
      return (Array(content.states.values), Array(content.changes.values))
    }
    for continuation in states { continuation.finish() }
    for continuation in readers { continuation.finish() }
  }

  /// The state as it is, then every newer one; what a slow reader doesn't take is replaced by what comes.
  func states() -> AsyncStream<StackState> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let isEnded = content.withLock { content in
        if let state = content.state { continuation.yield(state) }
        if content.isEnded { return true }
        let number = content.next
        content.next += 1
        content.states[number] = continuation
        continuation.onTermination = { [weak self] _ in self?.content.withLock { $0.states[number] = nil } }
        return false
      }
      if isEnded { continuation.finish() }
    }
  }

  func changes() -> AsyncStream<[StackChange]> {
    AsyncStream(bufferingPolicy: .bufferingNewest(Self.batches)) { continuation in
      let isEnded = content.withLock { content in
        if content.isEnded { return true }
        let number = content.next
        content.next += 1
        content.changes[number] = continuation
        continuation.onTermination = { [weak self] _ in self?.content.withLock { $0.changes[number] = nil } }
        return false
      }
      if isEnded { continuation.finish() }
    }
  }
}
