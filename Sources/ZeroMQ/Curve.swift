public import Access
import CZeroMQ
import Glibc

/// How a socket's connections are encrypted and authenticated (CURVE, ZeroMQ RFC 26).
public enum Curve: Hashable, Sendable {
  /// Of a socket that binds: its own keys, and who is let in.
  case server(KeyPair, Gate)
  /// Of a socket that connects: its own keys, and the only server that it speaks to.
  case client(KeyPair, server: PublicKey)
}

extension KeyPair {
  /// New keys, of libzmq's making.
  public static func generate() throws(ZeroMQError) -> KeyPair {
    var publicText = [CChar](repeating: 0, count: PublicKey.textLength + 1)
    var secretText = publicText
    guard zmq_curve_keypair(&publicText, &secretText) == 0 else {
      throw .last(
        "zmq_curve_keypair", about: "keys", detail: "this libzmq has no CURVE; install one built with libsodium")
    }
    func text(_ characters: [CChar]) -> String {
      String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    guard let publicKey = PublicKey(text(publicText)), let secretKey = SecretKey(text(secretText)) else {
      preconditionFailure("libzmq makes keys that aren't Z85")
    }
    return KeyPair(publicKey: publicKey, secretKey: secretKey)
  }
}

extension Socket {
  /// Sets CURVE, before it binds or connects.
  package borrowing func set(_ curve: Curve) throws(ZeroMQError) {
    switch curve {
    case .server(let pair, let gate):
      try set(ZMQ_CURVE_SERVER, 1)
      try set(ZMQ_CURVE_SECRETKEY, bytes: pair.secretKey.bytes)
      try set(ZMQ_ZAP_DOMAIN, bytes: Array(gate.domain.utf8))
      // Without it libzmq lets everybody in if nobody answers for the domain. The header of 4.3.4 declares it for drafts
      // only; the call works.
      try set(Self.enforceDomain, 1)
    case .client(let pair, let server):
      try set(ZMQ_CURVE_SERVERKEY, bytes: server.bytes)
      try set(ZMQ_CURVE_PUBLICKEY, bytes: pair.publicKey.bytes)
      try set(ZMQ_CURVE_SECRETKEY, bytes: pair.secretKey.bytes)
    }
  }

  /// `ZMQ_ZAP_ENFORCE_DOMAIN` of zmq_draft.h.
  private static let enforceDomain: Int32 = 93
}

extension Frame {
  /// The key of the connection that a frame came by, as the gate gave it to libzmq; nil if it came by none. Only the body
  /// has it: the frame with the routing id has none after `zmq_poll` (4.3.4).
  mutating func user() -> PublicKey? {
    withUnsafeMutablePointer(to: &raw) { pointer -> PublicKey? in
      guard let text = zmq_msg_gets(pointer, "User-Id") else { return nil }
      let bytes = UnsafeRawBufferPointer(start: text, count: strnlen(text, PublicKey.textLength + 1))
      return bytes.withMemoryRebound(to: UInt8.self) { PublicKey(z85: $0.span) }
    }
  }
}
