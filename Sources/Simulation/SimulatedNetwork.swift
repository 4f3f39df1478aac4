import Replication
import WireFormat
import ZeroMQ

/// Which way a message goes.
enum Direction: Int {
  case toDaemon
  case toClient
}

/// The end of connections that makes them: a device's, or that of a daemon that follows another. It tries again and
/// again to connect what isn't closed.
final class Port {
  let owner: Place
  /// The daemon that it connects to.
  var daemon: Int
  var sockets: [SocketID: PortSocket] = [:]
  var random: Randomness
  let received: ([UInt8], SocketID) -> Void
  let changed: (ConnectionEvent.Change, SocketID) -> Void
  let writable: (SocketID) -> Void

  init(
    _ owner: Place, to daemon: Int, _ random: Randomness, received: @escaping ([UInt8], SocketID) -> Void,
    changed: @escaping (ConnectionEvent.Change, SocketID) -> Void, writable: @escaping (SocketID) -> Void
  ) {
    self.owner = owner
    self.daemon = daemon
    self.random = random
    self.received = received
    self.changed = changed
    self.writable = writable
  }
}

final class PortSocket {
  let id: SocketID
  var connection: Connection?
  var wantsRoom = false

  init(_ id: SocketID) { self.id = id }
}

/// A connection of a port's socket to a daemon's: messages arrive in order, until it is cut and what is under way is
/// lost.
final class Connection {
  struct Frame {
    var bytes: [UInt8]
    /// When it arrives at the earliest.
    var dueAt: Int
  }

  let number: UInt32
  let port: Port
  let socket: SocketID
  let daemon: Int
  var random: Randomness
  var isUp = true
  /// By direction.
  var frames: [[Frame]] = [[], []]
  var lastDue = [0, 0]
  /// A delivery is on the timeline.
  var isScheduled = [false, false]
  /// Since when nothing gets through, by direction.
  var stalledSince: [Int?] = [nil, nil]
  /// How often each stack was followed in the last second in which it was.
  var follows: [String: (second: Int, count: Int)] = [:]

  init(_ number: UInt32, _ port: Port, _ socket: SocketID) {
    self.number = number
    self.port = port
    self.socket = socket
    daemon = port.daemon
    random = port.random.split()
  }

  /// Who says it, and to whom.
  func ends(_ direction: Direction) -> (from: Place, to: Place) {
    direction == .toDaemon ? (port.owner, .daemon(daemon)) : (.daemon(daemon), port.owner)
  }
}

struct SimulatedNetwork {
  /// Nothing passes between a group and all others, or one way only.
  struct Partition: Hashable {
    var group: Set<Place>
    var isOutBlocked: Bool
    var isInBlocked: Bool
  }

  /// By number; those that were cut are not in it.
  var connections: [UInt32: Connection] = [:]
  var lastConnection: UInt32 = 0
  var lastSocket = 0
  var partitions: [Partition] = []
  /// Milliseconds more for each message.
  var slowness = 0
  /// Of a message: how probably it comes twice.
  var duplicates = 0.0

  func isBlocked(from: Place, to: Place) -> Bool {
    partitions.contains { partition in
      switch (partition.group.contains(from), partition.group.contains(to)) {
      case (true, false): partition.isOutBlocked
      case (false, true): partition.isInBlocked
      case (true, true), (false, false): false
      }
    }
  }

  /// All connections, oldest first.
  var ordered: [Connection] { connections.values.sorted { $0.number < $1.number } }
}

extension Randomness {
  /// Another source, whose use changes nothing here.
  mutating func split() -> Randomness { Randomness(seed: next()) }
}
