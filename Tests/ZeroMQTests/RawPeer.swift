import HostilePeers

@testable import ZeroMQ

extension RawPeer {
  /// Connects to a port of loopback and sends bytes.
  static func connect(to endpoint: Endpoint, sending bytes: [UInt8]) throws -> RawConnection {
    try RawConnection(toPort: endpoint.port, sending: bytes)
  }

  static func dealer(to endpoint: Endpoint, routingID: [UInt8] = [], sending body: [UInt8]) throws -> RawConnection {
    try dealer(toPort: endpoint.port, routingID: routingID, sending: [body])
  }
}

extension Endpoint {
  fileprivate var port: UInt16 {
    guard case .tcp(_, let port) = transport else { preconditionFailure("a raw peer speaks tcp") }
    return port
  }
}
