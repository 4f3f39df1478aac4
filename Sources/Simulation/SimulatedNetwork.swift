import NavigationClient
import WireFormat
import ZeroMQ

/// Which way a message goes.
enum Direction: Int {
  case toDaemon
  case toDevice
}

/// A connection of a device's socket to the daemon's: messages arrive in order, until it is cut and what is under way is
/// lost.
final class Connection {
  struct Frame {
    var bytes: [UInt8]
    /// When it arrives at the earliest.
    var dueAt: Int
  }

  let number: UInt32
  let device: SimulatedDevice
  let socket: SocketID
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

  init(_ number: UInt32, _ device: SimulatedDevice, _ socket: SocketID) {
    self.number = number
    self.device = device
    self.socket = socket
  }
}

/// A device's socket: it connects again and again until it is closed.
final class DeviceSocket {
  let id: SocketID
  var connection: Connection?
  var wantsRoom = false

  init(_ id: SocketID) { self.id = id }
}

struct SimulatedNetwork {
  /// By number; those that were cut are not in it.
  var connections: [UInt32: Connection] = [:]
  var lastConnection: UInt32 = 0
  var lastSocket = 0
  /// Devices whose messages don't get through, by direction.
  var blocked: [Set<Int>] = [[], []]
  /// Milliseconds more for each message.
  var slowness = 0
  var duplicates = 0.0
}

/// What a device's engine has for a network.
final class SimulatedLink: EngineLink {
  private let world: World
  private let device: SimulatedDevice
  private let life: Int

  init(_ world: World, _ device: SimulatedDevice) {
    self.world = world
    self.device = device
    life = device.life
  }

  func dealer(connect endpoint: Endpoint, _ options: SocketOptions) throws(ZeroMQError) -> SocketID {
    world.openSocket(of: device)
  }

  func close(_ socket: SocketID) { world.close(socket, of: device) }

  func send(_ body: [UInt8], on dealer: SocketID) -> SendResult { world.send(body, on: dealer, of: device) }

  func notifyWhenWritable(_ socket: SocketID) { device.sockets[socket]?.wantsRoom = true }

  func stop() { if device.life == life { device.hasStopped = true } }
}
