import KeyFiles
import Locking
public import NavigationModel
import WireFormat
import ZeroMQ

/// A reader without a device: it follows stacks and asks the daemon questions, keeps nothing on the disk, takes no lock
/// and never acts. Without a daemon it waits for one.
public final class Observer: Sendable {
  let engine: EngineThread

  private init(_ engine: EngineThread) { self.engine = engine }

  /// - Parameters:
  ///   - daemon: as ``Device/Options/daemon``.
  ///   - keys: as ``Device/Options/keys``.
  ///   - software: program and version, for the daemon's log.
  public static func open(
    daemon: String? = nil, keys: String? = nil, software: String = "NavigationClient"
  ) async throws(ClientError) -> Observer {
    let endpoint = try Device.endpoint(daemon)
    let engine = try await EngineThread.start(connects: true) { () throws(ClientError) in
      let configuration = Engine.Configuration(
        name: "observer", software: software, daemon: endpoint, announcesPresence: false,
        keys: keys.map { KeyFolder($0) } ?? .ofUser)
      return (configuration, nil, nil, InTransit(nil))
    }
    return Observer(engine)
  }

  /// Follows a stack from its beginning. One that doesn't exist is empty until somebody acts on it.
  ///
  /// - Throws: ``ClientError``: `.badName`. What the daemon refuses shows in ``StackState/problem``, and is thrown by
  ///   ``ObservedStack/live(within:)``.
  public func stack(_ name: String, policy: Policy? = nil) async throws(ClientError) -> ObservedStack {
    let stack: StackName
    do throws(NameError) { stack = try StackName(name) } catch { throw ClientError(error) }
    let hub: StackHub = try await engine.call { .open(stack, policy, $0) }
    return ObservedStack(hub: hub, engine: engine)
  }

  /// The stacks of a space (nil: all that may be read) and the devices that the daemon knows.
  ///
  /// - Throws: ``ClientError``: `.unreachable`, `.timedOut`, `.notAuthorised`, `.refused`.
  public func list(space: String? = nil, within: Duration = .seconds(5)) async throws(ClientError) -> DaemonListing {
    DaemonListing(try await engine.call { .list(space: space ?? "", within: within.milliseconds, $0) })
  }

  /// The daemon's counters. Throws as ``list(space:within:)``.
  public func status(within: Duration = .seconds(5)) async throws(ClientError) -> DaemonStatus {
    DaemonStatus(try await engine.call { .report(within: within.milliseconds, $0) })
  }

  /// Ends the connection; the stacks that it follows stay as they are.
  public func close() async { await engine.stop() }
}

/// A stack that an ``Observer`` follows.
public final class ObservedStack: Sendable {
  private let hub: StackHub
  private let engine: EngineThread

  init(hub: StackHub, engine: EngineThread) {
    self.hub = hub
    self.engine = engine
  }

  deinit { engine.post(.leave(hub.name)) }

  /// Which stack it is.
  public var name: StackName { hub.name }

  /// As ``Stack/state``.
  public var state: StackState {
    guard let state = hub.state else { preconditionFailure("a stack has a state from its opening on") }
    return state
  }

  /// As ``Stack/states``.
  public var states: StackStates { StackStates(hub.states()) }

  /// As ``Stack/changes``.
  public var changes: StackChanges { StackChanges(hub.changes()) }

  /// Waits until the stack is live: all that the daemon had is in ``state``.
  ///
  /// - Throws: ``ClientError``: `.timedOut` or `.unreachable` after `within`; at once what the daemon refuses it with.
  public func live(within: Duration = .seconds(10)) async throws(ClientError) {
    let name = hub.name
    let _: Void = try await engine.call { .awaitLive(name, within: within.milliseconds, $0) }
  }

  /// As ``Stack/markConflictsSeen()``.
  public func markConflictsSeen() { engine.post(.markConflictsSeen(hub.name)) }
}

extension Device {
  /// As ``Observer/list(space:within:)``.
  public func list(space: String? = nil, within: Duration = .seconds(5)) async throws(ClientError) -> DaemonListing {
    DaemonListing(try await engine.call { .list(space: space ?? "", within: within.milliseconds, $0) })
  }
}
