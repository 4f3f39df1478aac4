import NavigationClient
import Replication
import WireFormat
import ZeroMQ

extension World {
  /// libzmq's heartbeats find a connection dead after so long.
  private static let heartbeatTimeout = 15_000

  // MARK: Sockets of devices

  func openSocket(of device: SimulatedDevice) -> SocketID {
    network.lastSocket += 1
    let id = SocketID(number: network.lastSocket)
    device.sockets[id] = DeviceSocket(id)
    tryToConnect(id, of: device, after: 0)
    return id
  }

  func close(_ socket: SocketID, of device: SimulatedDevice) {
    guard let closed = device.sockets.removeValue(forKey: socket) else { return }
    if let connection = closed.connection { cut(connection, tellsDevice: false) }
  }

  private func tryToConnect(_ id: SocketID, of device: SimulatedDevice, after wait: Int) {
    after(wait + random.int(plan.latency)) { [self] in
      guard let socket = device.sockets[id], socket.connection == nil else { return }
      let isBlocked = network.blocked.contains { $0.contains(device.number) }
      guard daemon.core != nil, !isBlocked, now >= device.stuckUntil else {
        return tryToConnect(id, of: device, after: 200 + random.int(0...300))
      }
      network.lastConnection += 1
      let connection = Connection(network.lastConnection, device, id)
      network.connections[connection.number] = connection
      socket.connection = connection
      count("connections made")
      note("\(device.name) connects as #\(connection.number)")
      device.input(self) {
        $0.connectionsChanged([ConnectionEvent(change: .connected, address: "daemon")], on: id, at: $1)
      }
    }
  }

  // MARK: Messages

  func send(_ bytes: [UInt8], on socket: SocketID, of device: SimulatedDevice) -> SendResult {
    guard let open = device.sockets[socket] else { return .gone }
    guard let connection = open.connection, connection.isUp else { return .full }
    return put(bytes, on: connection, .toDaemon)
  }

  /// - Returns: `.gone` once the connection is cut.
  func send(_ bytes: [UInt8], to peer: ServerCore.Peer) -> SendResult {
    guard let connection = network.connections[UInt32(peer.number)] else { return .gone }
    return put(bytes, on: connection, .toDevice)
  }

  private func put(_ bytes: [UInt8], on connection: Connection, _ direction: Direction) -> SendResult {
    let way = direction.rawValue
    if bytes.count > SocketOptions.largestMessage { return .tooLarge }
    if direction == .toDaemon { checkCalm(bytes, on: connection) }
    if connection.frames[way].count >= plan.highWaterMark {
      count("socket full")
      return .full
    }
    let due = max(connection.lastDue[way], now + random.int(plan.latency) + network.slowness)
    connection.lastDue[way] = due
    connection.frames[way].append(Connection.Frame(bytes: bytes, dueAt: due))
    if network.duplicates > 0, random.chance(network.duplicates), mayComeTwice(bytes) {
      connection.frames[way].append(Connection.Frame(bytes: bytes, dueAt: due))
      struck(FaultKind.duplicate.rawValue)
    }
    deliver(connection, direction)
    return .sent
  }

  /// Credit that comes twice would be more than was given, and a daemon that says twice that it lost something is
  /// another one each time. Nothing comes twice over a real connection.
  private func mayComeTwice(_ bytes: [UInt8]) -> Bool {
    guard let message = try? Message(decoding: bytes) else { return true }
    switch message {
    case .append, .accepted, .live, .presence, .ping, .pong, .range, .follow: return true
    case .hello, .welcome, .refused, .following, .events, .rejected, .credit, .unfollow, .list, .listing,
      .statusRequest, .statusReport:
      return false
    }
  }

  /// Has the next message arrive when it is due.
  func deliver(_ connection: Connection, _ direction: Direction) {
    let way = direction.rawValue
    guard connection.isUp, !connection.isScheduled[way], let first = connection.frames[way].first else { return }
    if network.blocked[way].contains(connection.device.number) { return stall(connection, direction) }
    connection.stalledSince[way] = nil
    connection.isScheduled[way] = true
    let stuck = direction == .toDaemon ? daemon.stuckUntil : connection.device.stuckUntil
    after(max(first.dueAt, stuck) - now) { [self] in
      connection.isScheduled[way] = false
      guard connection.isUp else { return }
      let stuck = direction == .toDaemon ? daemon.stuckUntil : connection.device.stuckUntil
      if network.blocked[way].contains(connection.device.number) || now < stuck {
        return deliver(connection, direction)
      }
      let frame = connection.frames[way].removeFirst()
      arrive(frame.bytes, connection, direction)
      deliver(connection, direction)
    }
  }

  private func stall(_ connection: Connection, _ direction: Direction) {
    guard connection.stalledSince[direction.rawValue] == nil else { return }
    connection.stalledSince[direction.rawValue] = now
    let since = now
    after(Self.heartbeatTimeout + random.int(0...5000)) { [self] in
      guard connection.isUp, connection.stalledSince[direction.rawValue] == since else { return }
      note("#\(connection.number) is found dead")
      cut(connection, tellsDevice: true)
    }
  }

  private func arrive(_ bytes: [UInt8], _ connection: Connection, _ direction: Direction) {
    count("messages delivered")
    mark(bytes, UInt64(connection.number) << 1 | UInt64(direction.rawValue))
    switch direction {
    case .toDaemon:
      note("#\(connection.number) → daemon  \(described(bytes))")
      daemonInput { core, moment in
        core.received(bytes, from: ServerCore.Peer(UInt64(connection.number)), at: moment)
      }
      roomAgain(connection)
    case .toDevice:
      note("daemon → #\(connection.number) \(connection.device.name)  \(described(bytes))")
      connection.device.input(self) { $0.received([bytes], on: connection.socket, at: $1) }
    }
  }

  private func roomAgain(_ connection: Connection) {
    guard let socket = connection.device.sockets[connection.socket], socket.wantsRoom,
      connection.frames[Direction.toDaemon.rawValue].count <= plan.highWaterMark / 2
    else { return }
    socket.wantsRoom = false
    after(0) { [self] in connection.device.input(self) { $0.writable(connection.socket, at: $1) } }
  }

  private func described(_ bytes: [UInt8]) -> String {
    guard let message = try? Message(decoding: bytes) else { return "\(bytes.count) bytes that are no message" }
    return World.shortened(message)
  }

  // MARK: Ends

  /// The connection ends, with all that is under way. Each end hears of it later, and the daemon not of whose it was.
  func cut(_ connection: Connection, tellsDevice: Bool) {
    guard connection.isUp else { return }
    connection.isUp = false
    count("connections ended")
    count("messages lost", connection.frames[0].count + connection.frames[1].count)
    connection.frames = [[], []]
    let device = connection.device
    after(random.int(0...200)) { [self] in
      network.connections[connection.number] = nil
      daemonInput { core, moment in core.connectionLost(at: moment) }
    }
    guard tellsDevice, let socket = device.sockets[connection.socket] else { return }
    after(random.int(0...200)) { [self] in
      guard device.sockets[connection.socket] === socket, socket.connection === connection else { return }
      socket.connection = nil
      device.input(self) {
        $0.connectionsChanged(
          [ConnectionEvent(change: .disconnected, address: "daemon")], on: connection.socket, at: $1)
      }
      tryToConnect(connection.socket, of: device, after: 200 + random.int(0...300))
    }
  }

  func cutAll(of device: SimulatedDevice, tellsDevice: Bool) {
    for connection in network.connections.values.sorted(by: { $0.number < $1.number })
    where connection.device === device { cut(connection, tellsDevice: tellsDevice) }
  }

  func block(_ devices: [Int], _ directions: [Direction]) {
    for direction in directions { network.blocked[direction.rawValue].formUnion(devices) }
  }

  func unblock(_ devices: [Int], _ directions: [Direction]) {
    for direction in directions { network.blocked[direction.rawValue].subtract(devices) }
    for connection in network.connections.values.sorted(by: { $0.number < $1.number }) {
      deliver(connection, .toDaemon)
      deliver(connection, .toDevice)
    }
  }
}
