public import Access
import CZeroMQ
import Glibc

/// The clocks when a turn of the loop began, in milliseconds.
public struct Moment: Hashable, Sendable {
  /// Since some time in the past, never going back. For waits and timeouts.
  public var monotonic: Int
  /// Since 1970.
  public var wall: Int

  public init(monotonic: Int, wall: Int) {
    self.monotonic = monotonic
    self.wall = wall
  }

  /// The clocks now.
  public static func now() -> Moment {
    Moment(monotonic: milliseconds(CLOCK_MONOTONIC), wall: milliseconds(CLOCK_REALTIME))
  }

  private static func milliseconds(_ clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int(time.tv_sec) * 1000 + Int(time.tv_nsec) / 1_000_000
  }
}

/// A socket of a loop. The number is never used again, so one that was closed can't be taken for another.
public struct SocketID: Hashable, Sendable {
  let number: Int

  /// For a loop, or what stands for one.
  package init(number: Int) { self.number = number }
}

/// A connection to a ROUTER, for as long as it lasts: a peer that connects again is another.
public struct Peer: Hashable, Sendable, CustomStringConvertible {
  public let number: UInt32

  public init(number: UInt32) { self.number = number }

  public var description: String { "#" + String(number, radix: 16) }
}

/// A message that a ROUTER received.
public struct PeerMessage: Hashable, Sendable {
  public var peer: Peer
  /// Whose the connection is; nil at a socket without keys.
  public var key: PublicKey?
  public var body: [UInt8]

  public init(peer: Peer, key: PublicKey? = nil, body: [UInt8]) {
    self.peer = peer
    self.key = key
    self.body = body
  }
}

/// A message that a SUB received.
public struct Publication: Hashable, Sendable {
  public var topic: [UInt8]
  public var body: [UInt8]
}

/// The first subscription to a topic, or the end of the last, at an XPUB.
public struct SubscriptionChange: Hashable, Sendable {
  public var isSubscribed: Bool
  public var topic: [UInt8]
}

/// What became of a message that was handed to a socket. Nothing ever waits.
public enum SendResult: Hashable, Sendable {
  /// libzmq has it. It may still be lost with the connection.
  case sent
  /// No room for this peer, or on a DEALER no connection. Try again later.
  case full
  /// There is no such peer any more, or the socket is closed.
  case gone
  /// Larger than ``SocketOptions/largestMessage``: the receiver would drop the connection. Nothing was sent.
  case tooLarge
}

/// What lives on a loop's thread and owns its sockets: the daemon's or a client's logic around a pure machine.
///
/// It is created on the loop's thread and never leaves it: no locks, no `Sendable`. Every call is on that thread and
/// brings a batch; while it runs nothing else on the loop does, so it must not block. A socket that the handler closed
/// delivers nothing more, not even what was read in the same turn.
///
/// Order within a turn: commands, then the messages of each socket, then what became of connections, then
/// ``turnEnded(at:)``.
public protocol LoopHandler: SendableMetatype {
  associatedtype Command: Sendable

  /// When ``turnEnded(at:)`` shall be called at the latest, in monotonic milliseconds; nil for whenever something comes.
  /// Read after each turn.
  var deadline: Int? { get }

  /// Commands from other threads, in the order they were posted.
  mutating func commands(_ commands: [Command], at now: Moment)
  /// Messages at a ROUTER, at most ``Loop/batchLimit``.
  mutating func received(_ messages: [PeerMessage], on socket: SocketID, at now: Moment)
  /// A peer of a ROUTER sends far more than is handed over: what it sent is dropped, and its
  /// connection is ended.
  mutating func muted(_ peer: Peer, key: PublicKey?, on socket: SocketID, at now: Moment)
  /// Messages at a DEALER, at most ``Loop/batchLimit``.
  mutating func received(_ messages: [[UInt8]], on socket: SocketID, at now: Moment)
  /// Messages at a SUB, at most ``Loop/batchLimit``.
  mutating func published(_ publications: [Publication], on socket: SocketID, at now: Moment)
  /// Changes of what an XPUB's peers are subscribed to.
  mutating func subscriptionsChanged(_ changes: [SubscriptionChange], on socket: SocketID, at now: Moment)
  /// What became of the connections of a socket that is monitored.
  mutating func connectionsChanged(_ events: [ConnectionEvent], on socket: SocketID, at now: Moment)
  /// A socket that was *full* has room again, after ``Loop/notifyWhenWritable(_:)``.
  mutating func writable(_ socket: SocketID, at now: Moment)
  /// The end of every turn: the place for timers, and for sending what the turn gave.
  mutating func turnEnded(at now: Moment)
  /// The loop ends: the last call, with the sockets still open. What is sent to a ROUTER's peers now still leaves, but a
  /// DEALER at the other end may drop it; see ``Loop/dealer(connect:_:)``.
  mutating func stopping(at now: Moment)
}

extension LoopHandler {
  public var deadline: Int? { nil }
  public mutating func commands(_ commands: [Command], at now: Moment) {}
  public mutating func received(_ messages: [PeerMessage], on socket: SocketID, at now: Moment) {}
  public mutating func muted(_ peer: Peer, key: PublicKey?, on socket: SocketID, at now: Moment) {}
  public mutating func received(_ messages: [[UInt8]], on socket: SocketID, at now: Moment) {}
  public mutating func published(_ publications: [Publication], on socket: SocketID, at now: Moment) {}
  public mutating func subscriptionsChanged(_ changes: [SubscriptionChange], on socket: SocketID, at now: Moment) {}
  public mutating func connectionsChanged(_ events: [ConnectionEvent], on socket: SocketID, at now: Moment) {}
  public mutating func writable(_ socket: SocketID, at now: Moment) {}
  public mutating func turnEnded(at now: Moment) {}
  public mutating func stopping(at now: Moment) {}
}
