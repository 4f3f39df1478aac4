package import EventLog
import Locking
package import NavigationModel
package import Replication
package import WireFormat
package import ZeroMQ

/// A device's engine without its thread, for who drives it from outside: a simulation.
///
/// The owner calls what happens, in the order of a loop's turn (commands, messages, connections), and then
/// ``turnEnded(at:)``. Not for several threads.
package struct DeviceMachine {
  private var engine: Engine
  private let identity: Locked<DeviceID?>

  /// - Parameters:
  ///   - log: open, with the device's id in it.
  ///   - seed: where the session's jitter begins.
  package init(
    name: String, daemon: Endpoint, log: any EventLog, store: any DeviceStore, link: any EngineLink, seed: UInt64
  ) throws(LogError) {
    identity = Locked(try Device.deviceID(of: log))
    let configuration = Engine.Configuration(
      name: name, software: "simulation", daemon: daemon, announcesPresence: true, seed: seed)
    engine = try Engine(
      configuration, identity: identity, log: log, store: store, loop: link, mailbox: Locked(nil))
  }

  /// The present incarnation.
  package var device: DeviceID? { identity.withLock { $0 } }

  /// The session.
  package var core: ClientCore { engine.core }

  // MARK: Commands

  package mutating func connect(at now: Moment) { engine.commands([.connect], at: now) }

  package mutating func open(
    _ stack: StackName, policy: Policy?, at now: Moment, _ reply: @escaping @Sendable (ClientError?) -> Void
  ) {
    let answer = Reply<StackHub> { result in
      switch result {
      case .success: reply(nil)
      case .failure(let error): reply(error)
      }
    }
    engine.commands([.open(stack, policy, answer)], at: now)
  }

  package mutating func act(
    _ intent: Intent, on stack: StackName, id: String?, at now: Moment,
    _ reply: @escaping @Sendable (Result<Outcome, ClientError>) -> Void
  ) {
    engine.commands([.act(stack, intent, id: id, Reply(reply))], at: now)
  }

  /// Waits, without an end, until the daemon has all that this device did on a stack.
  package mutating func awaitAccepted(
    _ stack: StackName, at now: Moment, _ reply: @escaping @Sendable (Result<Void, ClientError>) -> Void
  ) {
    engine.commands([.awaitAccepted(stack, nil, within: Self.forEver, Reply(reply))], at: now)
  }

  /// Waits, without an end, until this device has all that the daemon has of a stack.
  package mutating func awaitLive(
    _ stack: StackName, at now: Moment, _ reply: @escaping @Sendable (Result<Void, ClientError>) -> Void
  ) {
    engine.commands([.awaitLive(stack, within: Self.forEver, Reply(reply))], at: now)
  }

  private static let forEver = Int.max / 4

  /// Who waits for something that came true, and has no answer yet. None after a turn.
  package var unansweredWaits: Int { engine.answers.count + engine.waiters.count { engine.isMet($0) } }

  // MARK: The loop

  package var deadline: Int? { engine.deadline }

  package mutating func received(_ messages: [[UInt8]], on socket: SocketID, at now: Moment) {
    engine.received(messages, on: socket, at: now)
  }

  package mutating func connectionsChanged(_ events: [ConnectionEvent], on socket: SocketID, at now: Moment) {
    engine.connectionsChanged(events, on: socket, at: now)
  }

  package mutating func writable(_ socket: SocketID, at now: Moment) { engine.writable(socket, at: now) }

  package mutating func turnEnded(at now: Moment) { engine.turnEnded(at: now) }

  package mutating func stopping(at now: Moment) { engine.stopping(at: now) }

  // MARK: What it shows

  /// What was last published of a stack; nil before it was opened.
  package func state(of stack: StackName) -> StackState? { engine.stacks[stack]?.hub.state }

  /// What the next action is derived from: also what is not on the disk yet. Nil if the log has to be read again first.
  package func entries(of stack: StackName) -> [Entry]? {
    engine.replica.isUnread(stack) ? nil : engine.stacks[stack]?.replica.entries()
  }

  /// The heads of all that is shown of a stack, if what was published last is what is held.
  package func heads(of stack: StackName) -> [DeviceHead]? {
    guard let open = engine.stacks[stack], !engine.replica.isUnread(stack) else { return nil }
    return open.hub.state?.vector == open.replica.fold.vector ? open.replica.chains.liveHeads : nil
  }

  /// What the engine can be in the middle of, for who looks whether all of it was reached.
  package enum Situation: String, CaseIterable, Sendable {
    case redo = "what is to be acted again waits for the daemon"
    case unread = "a stack couldn't be read"
    case storageProblem = "the disk doesn't take anything"
    case problem = "a stack has a problem"
    case outbox = "messages wait for room"
    case formerIDs = "a later incarnation"
    case waiting = "own events wait"
    case otherPolicy = "the daemon has another policy"
  }

  /// Where it is now.
  package var situations: Set<Situation> {
    var result: Set<Situation> = []
    if !engine.redos.isEmpty { result.insert(.redo) }
    if engine.storageProblem != nil { result.insert(.storageProblem) }
    if !engine.outbox.isEmpty { result.insert(.outbox) }
    if !engine.formerIDs.isEmpty { result.insert(.formerIDs) }
    for (name, stack) in engine.stacks {
      if engine.replica.isUnread(name) { result.insert(.unread) }
      if stack.problem != nil { result.insert(.problem) }
      if stack.problem?.code == .policyMismatch { result.insert(.otherPolicy) }
      if engine.waiting(of: name) > 0 { result.insert(.waiting) }
    }
    return result
  }

  /// Frames that the socket had no room for.
  package var waitingFrames: Int { engine.outbox.count }
}
