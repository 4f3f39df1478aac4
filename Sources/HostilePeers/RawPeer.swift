/// The bytes that a ZMTP 3.0 peer without security sends (RFC 23), for peers that libzmq wouldn't be.
public enum RawPeer {
  public static let greeting: [UInt8] =
    [0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 3, 0] + Array("NULL".utf8) + [UInt8](repeating: 0, count: 16 + 32)

  /// - Parameter kind: of the socket that it says it is.
  public static func ready(_ kind: String = "DEALER", routingID: [UInt8] = []) -> [UInt8] {
    var body = [5] + Array("READY".utf8) + property("Socket-Type", Array(kind.utf8))
    if !routingID.isEmpty { body += property("Identity", routingID) }
    return [4, UInt8(body.count)] + body
  }

  /// Bytes of a ROUTER's greeting and READY, with its empty Identity. A peer that sends a message before them is cut off.
  public static let answerSize = 64 + 2 + 41

  public static func message(_ body: [UInt8]) -> [UInt8] {
    if body.count < 256 { return [0, UInt8(body.count)] + body }
    return [2] + (0..<8).map { UInt8(truncatingIfNeeded: body.count >> (56 - 8 * $0)) } + body
  }

  private static func property(_ name: String, _ value: [UInt8]) -> [UInt8] {
    [UInt8(name.utf8.count)] + Array(name.utf8) + [0, 0, 0, UInt8(value.count)] + value
  }

  public struct NoAnswer: Error {
    public let bytes: Int
  }

  /// Connects to a port of loopback as a DEALER would, and sends messages.
  public static func dealer(
    toPort port: UInt16, routingID: [UInt8] = [], sending bodies: [[UInt8]]
  ) throws -> RawConnection {
    let peer = try RawConnection(toPort: port, sending: greeting + ready(routingID: routingID))
    let answer = peer.receive(answerSize)
    guard answer.count == answerSize else { throw NoAnswer(bytes: answer.count) }
    for body in bodies { peer.send(message(body)) }
    return peer
  }
}
