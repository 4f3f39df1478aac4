import NavigationModel
import WireFormat
import ZeroMQ

/// The way back to who asked. Called once.
struct Reply<Value: Sendable>: Sendable {
  private let give: @Sendable (Result<Value, ClientError>) -> Void

  init(_ give: @escaping @Sendable (Result<Value, ClientError>) -> Void) { self.give = give }

  func callAsFunction(_ result: Result<Value, ClientError>) { give(result) }

  func succeed(_ value: Value) { give(.success(value)) }

  func fail(_ error: ClientError) { give(.failure(error)) }
}

/// What the engine's owner wants of it. Waits are in milliseconds.
enum EngineCommand: Sendable {
  case open(StackName, Policy?, Reply<StackHub>)
  case leave(StackName)
  case act(StackName, Intent, id: String?, Reply<Outcome>)
  /// Until a daemon has the own event with that dot and those before it; nil: all.
  case awaitAccepted(StackName, Dot?, within: Int, Reply<Void>)
  case awaitLive(StackName, within: Int, Reply<Void>)
  case list(space: String, within: Int, Reply<Listing>)
  case report(within: Int, Reply<StatusReport>)
  case markConflictsSeen(StackName)
  case adoptPolicy(StackName)
  /// The daemon's name was looked up, away from the loop.
  case resolved(Endpoint?)
  /// Begin to connect, or don't wait for the next attempt.
  case connect
}
