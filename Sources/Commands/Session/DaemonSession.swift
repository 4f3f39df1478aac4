import Access
import KeyFiles
import NavigationModel
import WireFormat
import ZeroMQ

/// An observer's session with a daemon, for commands that ask, read logs or bring events along: message for message,
/// without a replica. One task uses it.
final class DaemonSession {
  let endpoint: String
  private(set) var welcome: Welcome
  private let loop: SocketLoop<Message>
  private var arrivals: AsyncThrowingStream<[Arrival], any Error>.Iterator
  private var waiting: ArraySlice<Arrival> = []
  /// What came while an answer was waited for, in order.
  private var aside: [Message] = []

  /// A message and how many bytes of credit it took.
  struct Arrival: Sendable {
    var message: Message
    var bytes: Int
  }

  /// Connects to the first daemon that answers, of the one named or those of the default places.
  ///
  /// - Throws: a ``CommandError`` with ``ExitCode/unreachable`` that names the places, or what the daemon or the file system
  ///   refused.
  static func open(_ named: String?, on console: Console, within patience: Duration = .seconds(3)) async throws
    -> DaemonSession
  {
    let places = try daemonEndpoints(named)
    for place in places {
      if let session = try await DaemonSession(place, KeyFolder.ofUser, within: patience) { return session }
    }
    if let path = places.compactMap(\.path).first(where: { !IPCPath.isAllowed($0) }) {
      throw CommandError(
        .notAuthorised,
        "this user may not use the daemon's socket \(path); whoever runs the daemon can allow it (where it is a service of "
          + "the machine: 'usermod --append --groups navsync USER', and log in again)")
    }
    throw CommandError(
      .unreachable,
      "no daemon answers at \(places.map(\.description).joined(separator: " or ")); start one with 'navsyncd', or name "
        + "another with --daemon ENDPOINT")
  }

  private init?(_ endpoint: Endpoint, _ keys: KeyFolder, within patience: Duration) async throws {
    // Nobody will answer at a path where nobody listens: no need to wait for it.
    if let path = endpoint.path, !IPCPath.isAllowed(path) || !IPCPath.isListening(path) { return nil }
    self.endpoint = endpoint.description
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: [Arrival].self)
    do {
      loop = try SocketLoop(name: "session") { loop in
        try SessionHandler(loop, KeyTrial(keys, endpoint), continuation, patience: patience)
      }
    } catch let error as ZeroMQError {
      throw CommandError(.unreachable, "\(error)")
    } catch let error as KeyFileError {
      throw CommandError(.notAuthorised, "not authorised: \(error)")
    }
    arrivals = stream.makeAsyncIterator()
    welcome = Welcome(daemon: DeviceID(high: 0, low: 0), epoch: 0, serverTime: 0)
    do {
      switch try await next() {
      case .welcome(let welcome): self.welcome = welcome
      case .refused(let refused): throw error(refused)
      case _: throw CommandError(.failed, "\(endpoint) answers, but not as a daemon of navsync does")
      }
    } catch is Silence {
      loop.stop()
      return nil
    }
  }

  deinit { loop.requestStop() }

  /// Hands a message to the daemon. Nothing is lost while the session lasts; if it ends, ``next()`` throws.
  func send(_ message: Message) { loop.mailbox.post(message) }

  func send(_ messages: [Message]) { loop.mailbox.post(contentsOf: messages) }

  /// The next message. Throws when the daemon is gone, or says nothing for ten seconds though pinged.
  func next() async throws -> Message {
    aside.isEmpty ? try await arrived() : aside.removeFirst()
  }

  /// The next message that `choose` makes something of; a refusal is thrown. What else comes is kept for ``next()``.
  func answer<Answer>(_ choose: (Message) -> Answer?) async throws -> Answer {
    while true {
      let message = try await arrived()
      if let answer = choose(message) { return answer }
      if case .refused(let refused) = message { throw error(refused) }
      aside.append(message)
    }
  }

  /// Forgets what was kept of a followed stack's events.
  func dropFollowed(_ stack: StackName) {
    aside.removeAll { message in
      switch message {
      case .events(let events): events.stack == stack.description
      case .live(let live): live.stack == stack.description
      case _: false
      }
    }
  }

  private func arrived() async throws -> Message {
    while true {
      if let arrival = waiting.popFirst() {
        if case .events = arrival.message { send(.credit(Credit(bytes: arrival.bytes))) }
        if case .pong = arrival.message { continue }
        return arrival.message
      }
      do {
        guard let batch = try await arrivals.next() else { throw Silence() }
        waiting = batch[...]
      } catch is Silence where welcome.epoch != 0 {
        throw CommandError(.unreachable, "the daemon at \(endpoint) is gone; what was asked may not have been done")
      }
    }
  }

  func error(_ refused: Refused) -> CommandError {
    let code: ExitCode =
      switch refused.code {
      case .notAuthorised: .notAuthorised
      case .notFound: .notFound
      case .fork, .policyMismatch, .sequenceGap, .missingContext, .clockAhead, .storage, .notYours: .refused
      case .badName: .usage
      case .busy: .unreachable
      case _: .failed
      }
    return CommandError(code, refused.reason)
  }
}

/// Nothing came for as long as was to be waited.
struct Silence: Error {}

/// Where to look for a daemon: the one named, else the default places, else the one that this user was paired with.
func daemonEndpoints(_ named: String?) throws -> [Endpoint] {
  do {
    if let named { return [try Endpoint(named)] }
    return try IPCPath.candidates().map { try Endpoint("ipc://" + $0) }
      + [KeyFolder.ofUser.pairedDaemon].compactMap(\.self)
  } catch {
    throw CommandError(.usage, "\(error)")
  }
}

/// The session's end on the loop's thread.
private struct SessionHandler: LoopHandler {
  private let loop: Loop
  private var dealer: SocketID
  private var keys: KeyTrial
  private let arrivals: AsyncThrowingStream<[DaemonSession.Arrival], any Error>.Continuation
  private let patience: Int
  private var unsent: [[UInt8]] = []
  private var isConnected = false
  private var lastHeard: Int
  private var lastPing: Int

  private static let pingMilliseconds = 2000
  private static let silenceMilliseconds = 10_000

  init(
    _ loop: Loop, _ keys: KeyTrial,
    _ arrivals: AsyncThrowingStream<[DaemonSession.Arrival], any Error>.Continuation,
    patience: Duration
  ) throws {
    self.loop = loop
    self.arrivals = arrivals
    self.keys = keys
    dealer = try Self.connect(loop, &self.keys)
    let now = Moment.now().monotonic
    lastHeard = now
    lastPing = now
    self.patience = Int(patience / .milliseconds(1))
    unsent = [
      Message.hello(Hello(software: "navsync \(Version.number)")).encoded(),
      Message.credit(Credit(bytes: Limits().credit)).encoded(),
    ]
    arrivals.onTermination = { _ in }
  }

  private static func connect(_ loop: Loop, _ keys: inout KeyTrial) throws -> SocketID {
    var options = SocketOptions()
    options.curve = try keys.curve()
    return try loop.dealer(connect: keys.endpoint, options)
  }

  var deadline: Int? {
    isConnected ? min(lastPing + Self.pingMilliseconds, lastHeard + Self.silenceMilliseconds) : lastHeard + patience
  }

  mutating func commands(_ commands: [Message], at now: Moment) {
    unsent += commands.map { $0.encoded() }
    flush()
  }

  mutating func received(_ messages: [[UInt8]], on socket: SocketID, at now: Moment) {
    lastHeard = now.monotonic
    lastPing = now.monotonic
    do {
      let arrived = try messages.map { DaemonSession.Arrival(message: try Message(decoding: $0), bytes: $0.count) }
      for arrival in arrived {
        if case .welcome(let welcome) = arrival.message, let key = PublicKey(bytes: welcome.nextKey) {
          keys.heard(next: key)
        }
      }
      arrivals.yield(arrived)
    } catch {
      arrivals.finish(throwing: CommandError(.damage, "the daemon sent what can't be read: \(error)"))
    }
  }

  mutating func connectionsChanged(_ events: [ConnectionEvent], on socket: SocketID, at now: Moment) {
    for event in events {
      switch event.change {
      case .connected:
        keys.connected()
        // What a session was is gone with its connection.
        if isConnected { arrivals.finish(throwing: Silence()) }
        isConnected = true
        lastHeard = now.monotonic
        flush()
      case .disconnected: if isConnected { arrivals.finish(throwing: Silence()) }
      case .handshakeFailed(let failure):
        switch keys.failed(failure) {
        case .wait: break
        case .reconnect:
          loop.close(dealer)
          do { dealer = try Self.connect(loop, &keys) } catch { arrivals.finish(throwing: error) }
        case .refused(let reason): arrivals.finish(throwing: CommandError(.notAuthorised, reason))
        }
      case _: break
      }
    }
  }

  mutating func writable(_ socket: SocketID, at now: Moment) { flush() }

  mutating func turnEnded(at now: Moment) {
    if !isConnected {
      if now.monotonic >= lastHeard + patience { arrivals.finish(throwing: Silence()) }
      return
    }
    if now.monotonic >= lastHeard + Self.silenceMilliseconds {
      arrivals.finish(throwing: Silence())
    } else if now.monotonic >= lastPing + Self.pingMilliseconds {
      lastPing = now.monotonic
      unsent.append(Message.ping(Ping(heads: [])).encoded())
      flush()
    }
  }

  private mutating func flush() {
    guard isConnected else { return }
    var sent = 0
    while sent < unsent.count, loop.send(unsent[sent], on: dealer) == .sent { sent += 1 }
    unsent.removeFirst(sent)
    if !unsent.isEmpty { loop.notifyWhenWritable(dealer) }
  }
}
