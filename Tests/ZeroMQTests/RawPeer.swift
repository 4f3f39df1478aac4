import Foundation
import Glibc
import TestSupport

@testable import ZeroMQ

/// The bytes that a ZMTP 3.0 peer without security sends (RFC 23), for peers that libzmq wouldn't be.
enum RawPeer {
  static let greeting: [UInt8] =
    [0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 3, 0] + Array("NULL".utf8) + [UInt8](repeating: 0, count: 16 + 32)

  static func ready(routingID: [UInt8] = []) -> [UInt8] {
    var body = [5] + Array("READY".utf8) + property("Socket-Type", Array("DEALER".utf8))
    if !routingID.isEmpty { body += property("Identity", routingID) }
    return [4, UInt8(body.count)] + body
  }

  /// Bytes of a ROUTER's greeting and READY, with its empty Identity. A peer that sends a message before them is cut off.
  static let answerSize = 64 + 2 + 41

  static func message(_ body: [UInt8]) -> [UInt8] { [0, UInt8(body.count)] + body }

  private static func property(_ name: String, _ value: [UInt8]) -> [UInt8] {
    [UInt8(name.utf8.count)] + Array(name.utf8) + [0, 0, 0, UInt8(value.count)] + value
  }

  /// Connects to a loopback port and sends bytes.
  static func connect(to endpoint: Endpoint, sending bytes: [UInt8]) throws -> RawConnection {
    guard case .tcp(_, let port) = endpoint.transport else { preconditionFailure("a raw peer speaks tcp") }
    return try RawConnection(toPort: port, sending: bytes)
  }

  /// Connects as a DEALER would, and sends a message.
  static func dealer(
    to endpoint: Endpoint, routingID: [UInt8] = [], sending body: [UInt8]
  ) throws -> RawConnection {
    let peer = try connect(to: endpoint, sending: greeting + ready(routingID: routingID))
    let answer = peer.receive(answerSize)
    guard answer.count == answerSize else { throw ZeroMQError(EPROTO, call: "recv", about: "\(answer.count) bytes") }
    peer.send(message(body))
    return peer
  }
}
