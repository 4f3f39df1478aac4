import CZeroMQ
import Foundation
import NavigationModel
import Replication
import WireFormat

@testable import ZeroMQ

/// A client that blocks, for one thread: a bare DEALER that speaks the protocol's messages.
final class TestClient {
  struct Timeout: Error, CustomStringConvertible {
    var description: String
  }

  let socket: Socket
  /// Everything that came.
  private(set) var received: [Message] = []

  static let patience = 20_000

  init(_ endpoint: Endpoint, receiveLimit: Int = 1000, curve: Curve? = nil) throws {
    socket = try Socket(.dealer)
    if let curve { try socket.set(curve) }
    try socket.set(ZMQ_LINGER, 0)
    try socket.set(ZMQ_IMMEDIATE, 1)
    try socket.set(ZMQ_SNDTIMEO, Self.patience)
    try socket.set(ZMQ_RCVTIMEO, Self.patience)
    try socket.set(ZMQ_RCVHWM, receiveLimit)
    try socket.connect(endpoint)
  }

  /// With a session and credit.
  static func connected(
    to endpoint: Endpoint, device: DeviceID? = nil, name: String = "", credit: Int = 1 << 20, curve: Curve? = nil
  ) throws -> TestClient {
    let client = try TestClient(endpoint, curve: curve)
    try client.send(.hello(Hello(device: device, name: device == nil ? "" : name.isEmpty ? "test" : name)))
    try client.wait { if case .welcome = $0 { true } else { false } }
    if credit > 0 { try client.send(.credit(Credit(bytes: credit))) }
    return client
  }

  /// What the last `Welcome` said of the daemon's next key.
  var nextKey: [UInt8]? {
    for case .welcome(let welcome) in received.reversed() { return welcome.nextKey }
    return nil
  }

  /// Whether the handshake is answered by 400.
  static func isRefused(by endpoint: Endpoint, as kind: Socket.Kind = .dealer, curve: Curve) throws -> Bool {
    var options = SocketOptions()
    options.curve = curve
    let socket = try OpenSocket(kind, endpoint, options, number: Loop.nextNumber(), lock: nil)
    defer { socket.close(lingerMilliseconds: 0) }
    try socket.socket.connect(endpoint)
    let end = Moment.now().monotonic + patience
    while Moment.now().monotonic < end {
      for event in socket.drainMonitor() {
        switch event.change {
        case .handshakeFailed(.notAuthorised(status: 400)): return true
        case .connected: return false
        case .handshakeFailed, .disconnected, .retrying, .acceptFailed, .surplusEnded: break
        }
      }
      sched_yield()
    }
    throw Timeout(description: "no answer to a handshake")
  }

  func send(_ message: Message) throws {
    var frame = Frame(message.encoded())
    guard socket.send(&frame, waiting: true) == 0 else { throw Timeout(description: "no daemon takes a message") }
  }

  func receive() throws -> Message {
    var frame = Frame()
    guard socket.receive(into: &frame, waiting: true) else {
      throw Timeout(description: "nothing came after \(received.suffix(3))")
    }
    let message = try Message(decoding: frame.bytes())
    received.append(message)
    return message
  }

  /// Takes what has come, without waiting for more.
  func drain() {
    var frame = Frame()
    while socket.receive(into: &frame) {
      if let message = try? Message(decoding: frame.bytes()) { received.append(message) }
    }
  }

  /// The next message that fits; the others are kept in `received`.
  @discardableResult
  func wait(for fits: (Message) -> Bool) throws -> Message {
    while true {
      let message = try receive()
      if fits(message) { return message }
    }
  }

  /// Waits until everything up to a sequence is accepted.
  func waitForAccepted(_ device: DeviceID, through sequence: Int) throws {
    try wait {
      if case .accepted(let accepted) = $0, accepted.device == device, accepted.throughSequence >= sequence {
        true
      } else {
        false
      }
    }
  }

  /// The highest sequence that was accepted so far.
  func accepted(_ device: DeviceID) -> Int {
    received.reduce(0) { highest, message in
      if case .accepted(let accepted) = message, accepted.device == device {
        return max(highest, accepted.throughSequence)
      }
      return highest
    }
  }

  /// Follows from the beginning, and gives all events up to `Live`, giving credit back.
  func readAll(_ stack: StackName) throws -> [Dot] {
    try send(.follow(Follow(stack: stack.description)))
    var dots: [Dot] = []
    var offset = 0
    while true {
      let message = try receive()
      if case .live(let live) = message {
        guard live.offset == offset else { throw Timeout(description: "live at \(live.offset) after \(offset)") }
        return dots
      }
      guard case .events(let events) = message else { continue }
      guard events.previousOffset == offset else { throw Timeout(description: "a gap after \(offset)") }
      let batch = try EventBatch(bytes: events.batch)
      batch.forEach { dots.append($0.dot) }
      offset += batch.count
      try send(.credit(Credit(bytes: message.encoded().count)))
    }
  }
}

extension Endpoint {
  /// The port of a tcp endpoint.
  var port: UInt16? { if case .tcp(_, let port) = transport { port } else { nil } }
}

/// A device that authors real events.
struct TestDevice {
  let id: DeviceID
  let stack: StackName
  private(set) var chains: StackChains
  private(set) var events: [[UInt8]] = []
  private var digests: [Digest] = [.empty]

  init(_ number: UInt64, on stack: StackName) {
    id = DeviceID(high: 1, low: number)
    self.stack = stack
    chains = StackChains(stack: stack)
  }

  /// Pushes values, each on the root.
  mutating func act(count: Int, size: Int = 4) throws {
    for place in 0..<count {
      let before = chains.authorState(of: id)
      let payload = Array("\"\(String(repeating: "v", count: size))\(place)\"".utf8)
      let event = Event(
        dot: Dot(id, before.sequence + 1), context: chains.context(for: id),
        timestamp: Timestamp(milliseconds: 1_000, counter: before.timestamp.counter + 1),
        action: .push(on: nil, values: [Value(type: "S", payload: payload)]))
      events.append(try chains.append(event))
      digests.append(chains.digest(of: id))
    }
  }

  /// The events from a sequence on.
  func append(from sequence: Int, count: Int) -> Message {
    .append(
      Append(
        stack: stack.description, device: id, firstSequence: sequence, previous: digests[sequence - 1],
        events: Array(events[(sequence - 1)...].prefix(count))))
  }
}
