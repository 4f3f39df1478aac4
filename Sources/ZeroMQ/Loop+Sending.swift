import CZeroMQ
import Glibc

extension Loop {
  /// Sends to a peer of a ROUTER. The bytes are copied.
  public func send(_ body: [UInt8], to peer: Peer, on router: SocketID) -> SendResult {
    guard let place = places[router] else { return .gone }
    guard body.count <= SocketOptions.largestMessage else { return .tooLarge }
    let addressed = address(peer, place)
    guard addressed == .sent else { return addressed }
    return result(body.withUnsafeBytes { place.socket.send($0) })
  }

  /// Sends to a peer of a ROUTER. The bytes are shared: one frame can go to many.
  public func send(_ body: inout Frame, to peer: Peer, on router: SocketID) -> SendResult {
    guard let place = places[router] else { return .gone }
    guard body.count <= SocketOptions.largestMessage else { return .tooLarge }
    let addressed = address(peer, place)
    guard addressed == .sent else { return addressed }
    var copy = body.copy()
    return result(place.socket.send(&copy))
  }

  /// Sends on a DEALER. The bytes are copied.
  public func send(_ body: [UInt8], on dealer: SocketID) -> SendResult {
    guard let place = places[dealer] else { return .gone }
    precondition(place.kind == .dealer, "only a DEALER sends without a peer")
    guard body.count <= SocketOptions.largestMessage else { return .tooLarge }
    return result(body.withUnsafeBytes { place.socket.send($0) })
  }

  /// Publishes on an XPUB. Subscribers that don't keep up miss it, and `sent` doesn't say so.
  public func publish(_ body: inout Frame, topic: [UInt8], on xpub: SocketID) -> SendResult {
    guard let place = places[xpub] else { return .gone }
    precondition(place.kind == .xpub, "only an XPUB publishes")
    guard body.count <= SocketOptions.largestMessage else { return .tooLarge }
    let first = result(topic.withUnsafeBytes { place.socket.send($0, more: true) })
    guard first == .sent else { return first }
    var copy = body.copy()
    return result(place.socket.send(&copy))
  }

  /// Asks a SUB's peers for all topics that begin with these bytes.
  public func subscribe(_ topic: [UInt8], on sub: SocketID) throws(ZeroMQError) {
    try places[sub]?.socket.set(ZMQ_SUBSCRIBE, bytes: topic)
  }

  /// Takes back one subscription to the topic.
  public func unsubscribe(_ topic: [UInt8], on sub: SocketID) throws(ZeroMQError) {
    try places[sub]?.socket.set(ZMQ_UNSUBSCRIBE, bytes: topic)
  }

  /// Sends the routing id, after which the body can't be refused for want of room: ROUTER looks at both here.
  private func address(_ peer: Peer, _ place: OpenSocket) -> SendResult {
    precondition(place.kind == .router, "only a ROUTER sends to a peer")
    return result(peer.withRoutingID { place.socket.send($0, more: true) })
  }

  private func result(_ number: Int32) -> SendResult {
    switch number {
    case 0: .sent
    case EAGAIN: .full
    case EHOSTUNREACH: .gone
    default: preconditionFailure("sending failed: \(String(cString: zmq_strerror(number)))")
    }
  }
}
