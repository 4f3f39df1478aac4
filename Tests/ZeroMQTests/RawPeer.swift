import Foundation
import Glibc

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
  /// - Returns: the descriptor, for the caller to close.
  static func connect(to endpoint: Endpoint, sending bytes: [UInt8]) throws -> Int32 {
    guard case .tcp(_, let port) = endpoint.transport else { preconditionFailure("a raw peer speaks tcp") }
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw ZeroMQError(errno, call: "connect", about: "\(port)") }
    // The other side may have closed already, which is not a fault here.
    _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    return descriptor
  }
  /// Connects as a DEALER would, and sends a message.
  /// - Returns: the descriptor, for the caller to close.
  static func dealer(to endpoint: Endpoint, routingID: [UInt8] = [], sending body: [UInt8]) throws -> Int32 {
    let descriptor = try connect(to: endpoint, sending: greeting + ready(routingID: routingID))
    var answer = [UInt8](repeating: 0, count: answerSize)
    let count = recv(descriptor, &answer, answer.count, Int32(MSG_WAITALL))
    guard count == answer.count else { throw ZeroMQError(EPROTO, call: "recv", about: "\(count) bytes") }
    _ = send(descriptor, message(body), message(body).count, Int32(MSG_NOSIGNAL))
    return descriptor
  }
}
