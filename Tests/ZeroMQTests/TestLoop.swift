import Testing

@testable import ZeroMQ

/// What a test sees of a loop.
enum LoopEvent: Hashable, Sendable {
  case peer(PeerMessage)
  case body([UInt8])
  case published(Publication)
  case subscription(SubscriptionChange)
  case connection(SocketID, ConnectionEvent.Change)
  case writable
  case stopping
}

enum TestCommand: Sendable {
  case run(@Sendable (TestHandler) -> Void)
  case number(Int)
}

/// A handler that reports what comes, and does what a test posts.
final class TestHandler: LoopHandler {
  let loop: Loop
  let events: AsyncStream<LoopEvent>.Continuation
  var echoes = false
  var numbers: [Int] = []
  var batches: [Int] = []
  var deadline: Int?
  var deadlinesPassed = 0
  var onNumber: ((Int) -> Void)?
  var farewell: ((TestHandler) -> Void)?

  init(_ loop: Loop, _ events: AsyncStream<LoopEvent>.Continuation) {
    self.loop = loop
    self.events = events
  }

  func commands(_ commands: [TestCommand], at now: Moment) {
    for command in commands {
      switch command {
      case .run(let body): body(self)
      case .number(let number):
        numbers.append(number)
        onNumber?(number)
      }
    }
  }

  func received(_ messages: [PeerMessage], on socket: SocketID, at now: Moment) {
    batches.append(messages.count)
    for message in messages {
      if echoes {
        _ = loop.send(message.body, to: message.peer, on: socket)
      } else {
        events.yield(.peer(message))
      }
    }
  }

  func received(_ messages: [[UInt8]], on socket: SocketID, at now: Moment) {
    for message in messages { events.yield(.body(message)) }
  }

  func published(_ publications: [Publication], on socket: SocketID, at now: Moment) {
    for publication in publications { events.yield(.published(publication)) }
  }

  func subscriptionsChanged(_ changes: [SubscriptionChange], on socket: SocketID, at now: Moment) {
    for change in changes { events.yield(.subscription(change)) }
  }

  func connectionsChanged(_ changes: [ConnectionEvent], on socket: SocketID, at now: Moment) {
    for change in changes { events.yield(.connection(socket, change.change)) }
  }

  func writable(_ socket: SocketID, at now: Moment) { events.yield(.writable) }

  func turnEnded(at now: Moment) {
    guard let deadline, now.monotonic >= deadline else { return }
    self.deadline = nil
    deadlinesPassed += 1
  }

  func stopping(at now: Moment) {
    farewell?(self)
    events.yield(.stopping)
    events.finish()
  }
}

/// A loop with a ``TestHandler``, of which a test awaits what it wants to see.
final class TestLoop {
  let loop: SocketLoop<TestCommand>
  private var events: AsyncStream<LoopEvent>.Iterator

  init(_ name: String = "test") throws {
    let (stream, continuation) = AsyncStream<LoopEvent>.makeStream()
    loop = try SocketLoop(name: name) { TestHandler($0, continuation) }
    events = stream.makeAsyncIterator()
  }

  deinit { loop.stop() }

  /// Runs the body on the loop's thread.
  func call<Result: Sendable>(_ body: @escaping @Sendable (TestHandler) throws -> Result) async throws -> Result {
    let (stream, continuation) = AsyncStream<Swift.Result<Result, any Error>>.makeStream()
    let taken = loop.mailbox.post(
      .run { handler in
        continuation.yield(Swift.Result { try body(handler) })
        continuation.finish()
      })
    #expect(taken)
    for await result in stream { return try result.get() }
    throw ZeroMQError(noSuchLoop, call: "call", about: "loop", detail: "the loop has ended")
  }

  private let noSuchLoop: Int32 = 3

  /// Waits for the next event that the body makes something of.
  func next<Result>(_ body: (LoopEvent) -> Result?) async throws -> Result {
    while let event = await events.next() {
      if let result = body(event) { return result }
    }
    throw ZeroMQError(noSuchLoop, call: "next", about: "loop", detail: "the loop has ended")
  }

  func connected() async throws { try await change(.connected) }

  func change(_ wanted: ConnectionEvent.Change) async throws {
    try await next { if case .connection(_, wanted) = $0 { () } else { nil } }
  }

  func peerMessage() async throws -> PeerMessage {
    try await next { if case .peer(let message) = $0 { message } else { nil } }
  }

  func body() async throws -> [UInt8] {
    try await next { if case .body(let bytes) = $0 { bytes } else { nil } }
  }

  /// Opens a ROUTER and says where.
  func router(_ text: String, _ options: SocketOptions = .quick) async throws -> (SocketID, Endpoint) {
    try await call { handler in
      let router = try handler.loop.router(bind: try Endpoint(text), options)
      return (router, try #require(handler.loop.endpoint(of: router)))
    }
  }

  /// Opens a DEALER and waits for its connection.
  func dealer(_ endpoint: Endpoint, _ options: SocketOptions = .quick) async throws -> SocketID {
    let dealer = try await call { try $0.loop.dealer(connect: endpoint, options) }
    try await connected()
    return dealer
  }

  func send(_ bytes: [UInt8], on dealer: SocketID) async throws {
    let result = try await call { $0.loop.send(bytes, on: dealer) }
    #expect(result == .sent)
  }
}

extension SocketOptions {
  /// Connects again soon.
  static var quick: SocketOptions {
    var options = SocketOptions()
    options.reconnectMilliseconds = 10
    options.longestReconnectMilliseconds = 50
    return options
  }
}
