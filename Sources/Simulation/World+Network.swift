import NavigationClient
import Replication
import WireFormat
import ZeroMQ

extension World {
  /// libzmq's heartbeats find a connection dead after so long.
  private static let heartbeatTimeout = 15_000

  // MARK: Sockets of clients

  func openSocket(of port: Port) -> SocketID {
    network.lastSocket += 1
    let id = SocketID(number: network.lastSocket)
    port.sockets[id] = PortSocket(id)
    tryToConnect(id, of: port, after: 0)
    return id
  }

  func close(_ socket: SocketID, of port: Port) {
    guard let closed = port.sockets.removeValue(forKey: socket) else { return }
    if let connection = closed.connection { cut(connection, tellsClient: false) }
  }

  private func tryToConnect(_ id: SocketID, of port: Port, after wait: Int) {
    after(wait + port.random.int(setting.latency)) { [self] in
      guard let socket = port.sockets[id], socket.connection == nil else { return }
      let there = Place.daemon(port.daemon)
      let isBlocked =
        network.isBlocked(from: port.owner, to: there) || network.isBlocked(from: there, to: port.owner)
      guard daemons[port.daemon].core != nil, !isBlocked, now >= stuckUntil(port.owner) else {
        return tryToConnect(id, of: port, after: 200 + port.random.int(0...300))
      }
      network.lastConnection += 1
      let connection = Connection(network.lastConnection, port, id)
      network.connections[connection.number] = connection
      socket.connection = connection
      count("connections made")
      note("\(port.owner.description) connects to daemon-\(port.daemon) as #\(connection.number)")
      port.changed(.connected, id)
    }
  }

  func stuckUntil(_ place: Place) -> Int {
    switch place {
    case .device(let number): devices[number].stuckUntil
    case .daemon(let number): daemons[number].stuckUntil
    }
  }

  // MARK: Messages

  func send(_ bytes: [UInt8], on socket: SocketID, of port: Port) -> SendResult {
    guard let open = port.sockets[socket] else { return .gone }
    guard let connection = open.connection, connection.isUp else { return .full }
    return put(bytes, on: connection, .toDaemon)
  }

  /// - Returns: `.gone` once the connection is cut.
  func send(_ bytes: [UInt8], to peer: ServerCore.Peer) -> SendResult {
    guard let connection = network.connections[UInt32(peer.number)] else { return .gone }
    return put(bytes, on: connection, .toClient)
  }

  private func put(_ bytes: [UInt8], on connection: Connection, _ direction: Direction) -> SendResult {
    let way = direction.rawValue
    if bytes.count > SocketOptions.largestMessage { return .tooLarge }
    if connection.frames[way].count >= setting.highWaterMark {
      count("socket full")
      return .full
    }
    if direction == .toDaemon { checkCalm(bytes, on: connection) }
    if isSabotaged(.answered), isAnswer(bytes) { return .sent }
    let due = max(connection.lastDue[way], now + connection.random.int(setting.latency) + network.slowness)
    connection.lastDue[way] = due
    for frame in asSent(bytes, by: connection.ends(direction).from) {
      connection.frames[way].append(Connection.Frame(bytes: frame, dueAt: due))
    }
    if network.duplicates > 0, connection.random.chance(network.duplicates), mayComeTwice(bytes) {
      connection.frames[way].append(Connection.Frame(bytes: bytes, dueAt: due))
      count("messages that came twice")
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
      .statusRequest, .statusReport, .pair, .paired:
      return false
    }
  }

  private func isAnswer(_ bytes: [UInt8]) -> Bool {
    switch try? Message(decoding: bytes) {
    case .accepted, .rejected: true
    case _: false
    }
  }

  /// Has the next message arrive when it is due.
  func deliver(_ connection: Connection, _ direction: Direction) {
    let way = direction.rawValue
    guard connection.isUp, !connection.isScheduled[way], let first = connection.frames[way].first else { return }
    let (from, to) = connection.ends(direction)
    if network.isBlocked(from: from, to: to) { return stall(connection, direction) }
    connection.stalledSince[way] = nil
    connection.isScheduled[way] = true
    after(max(first.dueAt, stuckUntil(to)) - now) { [self] in
      connection.isScheduled[way] = false
      guard connection.isUp else { return }
      if network.isBlocked(from: from, to: to) || now < stuckUntil(to) { return deliver(connection, direction) }
      let frame = connection.frames[way].removeFirst()
      arrive(frame.bytes, connection, direction)
      deliver(connection, direction)
    }
  }

  private func stall(_ connection: Connection, _ direction: Direction) {
    guard connection.stalledSince[direction.rawValue] == nil else { return }
    connection.stalledSince[direction.rawValue] = now
    let since = now
    after(Self.heartbeatTimeout + connection.random.int(0...5000)) { [self] in
      guard connection.isUp, connection.stalledSince[direction.rawValue] == since else { return }
      note("#\(connection.number) is found dead")
      cut(connection, tellsClient: true)
    }
  }

  private func arrive(_ bytes: [UInt8], _ connection: Connection, _ direction: Direction) {
    count("messages delivered")
    mark(bytes, UInt64(connection.number) << 1 | UInt64(direction.rawValue))
    switch direction {
    case .toDaemon:
      note(
        "#\(connection.number) \(connection.port.owner.description) → daemon-\(connection.daemon)  \(described(bytes))")
      daemonInput(daemons[connection.daemon]) { core, moment in
        core.received(bytes, from: ServerCore.Peer(UInt64(connection.number)), at: moment)
      }
      roomAgain(connection)
    case .toClient:
      note(
        "#\(connection.number) daemon-\(connection.daemon) → \(connection.port.owner.description)  \(described(bytes))")
      connection.port.received(bytes, connection.socket)
    }
  }

  private func roomAgain(_ connection: Connection) {
    guard let socket = connection.port.sockets[connection.socket], socket.wantsRoom,
      connection.frames[Direction.toDaemon.rawValue].count <= setting.highWaterMark / 2
    else { return }
    socket.wantsRoom = false
    after(0) { connection.port.writable(connection.socket) }
  }

  private func described(_ bytes: [UInt8]) -> String {
    guard let message = try? Message(decoding: bytes) else { return "\(bytes.count) bytes that are no message" }
    return World.shortened(message)
  }

  // MARK: Ends

  /// The connection ends, with all that is under way. Each end hears of it later, and the daemon not of whose it was.
  func cut(_ connection: Connection, tellsClient: Bool) {
    guard connection.isUp else { return }
    connection.isUp = false
    count("connections ended")
    count("messages lost", connection.frames[0].count + connection.frames[1].count)
    connection.frames = [[], []]
    let port = connection.port
    after(connection.random.int(0...200)) { [self] in
      network.connections[connection.number] = nil
      daemonInput(daemons[connection.daemon]) { core, moment in core.connectionLost(at: moment) }
    }
    guard tellsClient, let socket = port.sockets[connection.socket] else { return }
    after(connection.random.int(0...200)) { [self] in
      guard port.sockets[connection.socket] === socket, socket.connection === connection else { return }
      socket.connection = nil
      port.changed(.disconnected, connection.socket)
      tryToConnect(connection.socket, of: port, after: 200 + port.random.int(0...300))
    }
  }

  func cutAll(of port: Port, tellsClient: Bool) {
    for connection in network.ordered where connection.port === port { cut(connection, tellsClient: tellsClient) }
  }

  func part(_ partition: SimulatedNetwork.Partition) { network.partitions.append(partition) }

  func join(_ partition: SimulatedNetwork.Partition) {
    guard let place = network.partitions.firstIndex(of: partition) else { return }
    network.partitions.remove(at: place)
    for connection in network.ordered {
      deliver(connection, .toDaemon)
      deliver(connection, .toClient)
    }
  }
}
