public import NavigationModel
import WireFormat

/// One stack as a device shows it and acts on it.
///
/// An action comes back when it is on stable storage on this device and ``state`` shows it; a daemon may have it later,
/// see ``accepted(_:within:)``. Actions that are made at the same time are stored together.
public final class Stack: Sendable {
  private let hub: StackHub
  private let engine: EngineThread

  init(hub: StackHub, engine: EngineThread) {
    self.hub = hub
    self.engine = engine
  }

  deinit { engine.post(.leave(hub.name)) }

  /// Which stack it is.
  public var name: StackName { hub.name }

  // MARK: What is shown

  /// The newest state.
  public var state: StackState {
    guard let state = hub.state else { preconditionFailure("a stack has a state from its opening on") }
    return state
  }

  /// The state as it is now, then each newer one. A reader that is slower than the changes gets the newest and not each
  /// one; ends when the device is closed.
  public var states: StackStates { StackStates(hub.states()) }

  /// Each change from now on: what this device does, and what arrives once the stack was live, in order. For readers
  /// that show a line a change. A reader that falls behind by more than a thousand batches misses the oldest, which
  /// shows in ``StackChange/number``.
  public var changes: StackChanges { StackChanges(hub.changes()) }

  // MARK: Acting

  /// Puts a value on top.
  ///
  /// - Parameters:
  ///   - value: what the screen shows, as data.
  ///   - intentID: the same id twice is one action, so a retry or a double tap is harmless; the last 1,024 of a stack
  ///     are remembered, also after a restart.
  /// - Throws: ``ClientError``: `.badValue`, `.tooLarge`, `.storage`; then nothing was done.
  @discardableResult
  public func push(_ value: Value, intentID: String? = nil) async throws(ClientError) -> Outcome {
    try await act(.push([value]), intentID: intentID)
  }

  /// Puts a value of a Swift type on top, under its ``Value/typeName(of:)``.
  @discardableResult
  public func push(_ content: some Encodable, intentID: String? = nil) async throws(ClientError) -> Outcome {
    try await act(.push([Value(content)]), intentID: intentID)
  }

  /// Puts several values on top, one above the other, as one action.
  @discardableResult
  public func push(contentsOf values: [Value], intentID: String? = nil) async throws(ClientError) -> Outcome {
    try await act(.push(values), intentID: intentID)
  }

  /// Closes so many entries, from the top; more than there are is all of them. At the root nothing happens, and the
  /// outcome says so.
  @discardableResult
  public func pop(_ count: Int = 1, intentID: String? = nil) async throws(ClientError) -> Outcome {
    try await act(.pop(count), intentID: intentID)
  }

  /// Closes just these entries, which were seen on top, bottom to top. If they are not on top any more, as at a second
  /// "back" before the screen changed, nothing happens, and the outcome says so.
  @discardableResult
  public func close(_ entries: [EntryID], intentID: String? = nil) async throws(ClientError) -> Outcome {
    try await act(.close(entries), intentID: intentID)
  }

  /// Closes everything.
  @discardableResult
  public func popToRoot(intentID: String? = nil) async throws(ClientError) -> Outcome {
    try await act(.popToRoot, intentID: intentID)
  }

  /// Makes the path these values: a deep link. The longest common beginning is kept, with its entries' identities.
  @discardableResult
  public func set(_ values: [Value], intentID: String? = nil) async throws(ClientError) -> Outcome {
    try await act(.set(values), intentID: intentID)
  }

  /// Makes the path these values of a Swift type.
  @discardableResult
  public func set(
    _ contents: [some Encodable], intentID: String? = nil
  ) async throws(ClientError) -> Outcome {
    var values: [Value] = []
    for content in contents { values.append(try Value(content)) }
    return try await act(.set(values), intentID: intentID)
  }

  /// Puts a value in the place of the top one; at the root this is a push.
  @discardableResult
  public func replace(with value: Value, intentID: String? = nil) async throws(ClientError) -> Outcome {
    try await act(.replace(value), intentID: intentID)
  }

  /// Puts a value of a Swift type in the place of the top one.
  @discardableResult
  public func replace(with content: some Encodable, intentID: String? = nil) async throws(ClientError) -> Outcome {
    try await act(.replace(Value(content)), intentID: intentID)
  }

  /// Carries out an intent: what all the others come to.
  @discardableResult
  public func act(_ intent: Intent, intentID: String? = nil) async throws(ClientError) -> Outcome {
    let name = hub.name
    return try await engine.call { .act(name, intent, id: intentID, $0) }
  }

  /// As ``act(_:intentID:)`` for callers that can't wait: actions are carried out in the order of the calls. `done` is
  /// called once, on any thread, when the outcome is on stable storage.
  package func act(_ intent: Intent, _ done: @escaping @Sendable (Result<Outcome, ClientError>) -> Void) {
    if !engine.post(.act(hub.name, intent, id: nil, Reply(done))) {
      done(.failure(.closed(hub.name.description)))
    }
  }

  // MARK: The daemon

  /// Waits until a daemon has this device's actions on this stack on stable storage, up to the one with that dot; nil:
  /// all that were made.
  ///
  /// - Throws: ``ClientError``: `.timedOut` or `.unreachable` after `within`, and then it may still happen; at once
  ///   `.notAuthorised`, `.policyMismatch`, `.fork` or `.refused` if it won't.
  public func accepted(_ dot: Dot? = nil, within: Duration = .seconds(10)) async throws(ClientError) {
    let name = hub.name
    let _: Void = try await engine.call {
      .awaitAccepted(name, dot, within: within.milliseconds, $0)
    }
  }

  /// Waits until the stack is live: all that the daemon had is in ``state``.
  ///
  /// - Throws: as ``accepted(_:within:)``.
  public func live(within: Duration = .seconds(10)) async throws(ClientError) {
    let name = hub.name
    let _: Void = try await engine.call { .awaitLive(name, within: within.milliseconds, $0) }
  }

  /// Takes over the policy that the daemon has the stack under, after a `.policyMismatch`: what this device holds is
  /// folded anew by it, and what doesn't fit is void and among the conflicts. Comes true when a daemon is connected; see
  /// ``accepted(_:within:)``.
  public func adoptPolicy() { engine.post(.adoptPolicy(hub.name)) }

  /// The conflicts there are now were shown to the person: ``StackState/newConflicts`` begins anew.
  public func markConflictsSeen() { engine.post(.markConflictsSeen(hub.name)) }
}

/// The states of a stack, as they come; see ``Stack/states``.
public struct StackStates: AsyncSequence, Sendable {
  private let stream: AsyncStream<StackState>

  init(_ stream: AsyncStream<StackState>) { self.stream = stream }

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var base: AsyncStream<StackState>.AsyncIterator

    public mutating func next() async -> StackState? { await base.next() }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: stream.makeAsyncIterator()) }
}

/// The changes of a stack, one by one; see ``Stack/changes``.
public struct StackChanges: AsyncSequence, Sendable {
  private let stream: AsyncStream<[StackChange]>

  init(_ stream: AsyncStream<[StackChange]>) { self.stream = stream }

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var base: AsyncStream<[StackChange]>.AsyncIterator
    fileprivate var batch: ArraySlice<StackChange> = []

    public mutating func next() async -> StackChange? {
      while true {
        if let change = batch.popFirst() { return change }
        guard let next = await base.next() else { return nil }
        batch = next[...]
      }
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: stream.makeAsyncIterator()) }
}
