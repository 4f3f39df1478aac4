import Glibc
public import NavigationModel
public import WireFormat

/// The daemon that is attacked, and for how long.
public struct Target: Sendable {
  /// Of its sync socket on loopback.
  public let port: UInt16
  /// Of its feed on loopback.
  public let feedPort: UInt16
  /// A stack that others use at the same time.
  public let stack: String
  private let end: Int

  public init(port: UInt16, feedPort: UInt16, stack: String, seconds: Double) {
    self.port = port
    self.feedPort = feedPort
    self.stack = stack
    end = Self.now() + Int(seconds * 1000)
  }

  public var isOver: Bool { Self.now() >= end }

  /// Of a clock that never goes back, in milliseconds.
  public static func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int(time.tv_sec) * 1000 + Int(time.tv_nsec) / 1_000_000
  }

  /// A connection with a session and no credit.
  public func session(_ device: DeviceID? = nil, name: String = "", credit: Int = 0) throws -> RawConnection {
    var messages = [Message.hello(Hello(device: device, name: device == nil ? "" : name)).encoded()]
    if credit > 0 { messages.append(Message.credit(Credit(bytes: credit)).encoded()) }
    return try RawPeer.dealer(toPort: port, sending: messages)
  }

  /// A connection to the feed.
  public func subscriber() throws -> RawConnection {
    let peer = try RawConnection(toPort: feedPort, sending: RawPeer.greeting + RawPeer.ready("SUB"))
    peer.discard()
    return peer
  }

  /// Sends frames over and over, as fast as they are taken, until the time is over or the connection is cut.
  ///
  /// - Parameters:
  ///   - reads: whether what comes is read.
  ///   - next: the frames to be sent next, already framed; nil to stop.
  /// - Returns: how many bytes were sent.
  @discardableResult
  public func pump(
    _ peer: RawConnection, reads: Bool = true, slice: Int? = nil, _ next: () -> [UInt8]?
  ) -> Int {
    var sent = 0
    let until = slice.map { Self.now() + $0 } ?? .max
    var rest: ArraySlice<UInt8> = []
    while !isOver, Self.now() < until {
      if rest.isEmpty {
        guard let frames = next() else { return sent }
        rest = frames[...]
      }
      guard let count = peer.sendSome(rest) else { return sent }
      rest = rest.dropFirst(count)
      sent += count
      if reads, peer.discard() == nil { return sent }
      if count == 0 { peer.waitForRoom(milliseconds: 5) }
    }
    // A frame that is begun is ended, so that the next one can follow.
    while !rest.isEmpty, !isOver, let count = peer.sendSome(rest) {
      rest = rest.dropFirst(count)
      if count == 0 { peer.waitForRoom(milliseconds: 5) }
      if reads { peer.discard() }
    }
    return sent
  }

  /// Messages as they go over the wire.
  public static func frames(_ messages: [Message]) -> [UInt8] { messages.flatMap { RawPeer.message($0.encoded()) } }
}

/// A device of ill will with real events.
public struct HostileAuthor {
  public let id: DeviceID
  private var chains: StackChains
  private let stack: StackName
  private var digest = Digest.empty

  public init(_ id: DeviceID, on stack: StackName) {
    self.id = id
    self.stack = stack
    chains = StackChains(stack: stack)
  }

  /// The next append of so many events of about so many bytes each.
  public mutating func append(_ count: Int, size: Int) throws -> Message {
    let payload = Array("\"\(String(repeating: "h", count: size))\"".utf8)
    let first = chains.authorState(of: id).sequence + 1
    let previous = digest
    var events: [[UInt8]] = []
    for sequence in first..<first + count {
      let event = Event(
        dot: Dot(id, sequence), context: chains.context(for: id),
        timestamp: Timestamp(milliseconds: 1000, counter: sequence),
        action: .set(keep: [], values: [Value(type: "S", payload: payload)]))
      events.append(try chains.append(event))
    }
    digest = chains.digest(of: id)
    return .append(
      Append(
        stack: stack.description, device: id, firstSequence: first, previous: previous, events: events))
  }
}
