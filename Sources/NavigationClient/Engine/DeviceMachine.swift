package import EventLog
package import NavigationModel
package import Replication
import WireFormat
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

  /// Frames that the socket had no room for.
  package var waitingFrames: Int { engine.outbox.count }
}
