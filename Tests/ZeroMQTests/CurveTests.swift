import Access
import Foundation
import Locking
import TestSupport
import Testing

@testable import ZeroMQ

@Suite(.timeLimit(.minutes(5)))
struct CurveTests {
  /// Who is let in, and who wasn't.
  final class Door: Sendable {
    private let known = Locked(Set<PublicKey>())
    let refused = Locked([PublicKey]())

    func allow(_ keys: PublicKey...) { known.withLock { $0.formUnion(keys) } }
    func forbid(_ key: PublicKey) { known.withLock { _ = $0.remove(key) } }

    func gate() throws -> Gate {
      let (known, refused) = (known, refused)
      return try Gate(
        admits: { key in known.withLock { $0.contains(key) } },
        refused: { key, _ in refused.withLock { $0.append(key) } })
    }
  }

  static func options(_ curve: Curve?) -> SocketOptions {
    var options = SocketOptions.quick
    options.curve = curve
    return options
  }

  @Test func aKnownKeyComesWithItsMessages() async throws {
    let door = Door()
    let gate = try door.gate()
    let (serverKeys, one, two) = (try KeyPair.generate(), try KeyPair.generate(), try KeyPair.generate())
    door.allow(one.publicKey, two.publicKey)
    let server = try TestLoop()
    let (_, endpoint) = try await server.router("tcp://127.0.0.1:0", Self.options(.server(serverKeys, gate)))
    for keys in [one, two] {
      let client = try TestLoop()
      let dealer = try await client.dealer(endpoint, Self.options(.client(keys, server: serverKeys.publicKey)))
      for byte in UInt8(0)..<3 { try await client.send([byte], on: dealer) }
      for byte in UInt8(0)..<3 {
        let message = try await server.peerMessage()
        #expect(message.key == keys.publicKey)
        #expect(message.body == [byte])
      }
    }
    #expect(door.refused.withLock { $0.isEmpty })
  }

  @Test func aStrangerIsToldSo() async throws {
    let door = Door()
    let gate = try door.gate()
    let (serverKeys, keys) = (try KeyPair.generate(), try KeyPair.generate())
    let server = try TestLoop()
    let (_, endpoint) = try await server.router("tcp://127.0.0.1:0", Self.options(.server(serverKeys, gate)))
    let client = try TestLoop()
    let options = Self.options(.client(keys, server: serverKeys.publicKey))
    _ = try await client.call { try $0.loop.dealer(connect: endpoint, options) }
    try await client.change(.handshakeFailed(.notAuthorised(status: 400)))
    #expect(door.refused.withLock { $0 } == [keys.publicKey])
  }

  @Test(.case(29)) func withoutKeysOrWithAnotherServersNobodyIsIn() async throws {
    let door = Door()
    let gate = try door.gate()
    let (serverKeys, keys) = (try KeyPair.generate(), try KeyPair.generate())
    door.allow(keys.publicKey)
    let server = try TestLoop()
    let (_, endpoint) = try await server.router("tcp://127.0.0.1:0", Self.options(.server(serverKeys, gate)))
    for curve in [nil, Curve.client(keys, server: keys.publicKey)] {
      let client = try TestLoop()
      let options = Self.options(curve)
      _ = try await client.call { try $0.loop.dealer(connect: endpoint, options) }
      let failure = try await client.next { event -> HandshakeFailure? in
        guard case .connection(_, let change) = event else { return nil }
        #expect(change != .connected)
        if case .handshakeFailed(let failure) = change { return failure } else { return nil }
      }
      switch failure {
      case .cut: #expect(curve != nil, "a wrong key of the server's looks so")
      case .notUnderstood: #expect(curve == nil, "another mechanism looks so")
      case .notAuthorised: Issue.record("nobody was asked")
      }
    }
  }

  /// Several gates in one process don't mix, nor do sockets without keys beside them.
  @Test func eachSocketHasItsGate() async throws {
    let doors = [Door(), Door()]
    let gates = try doors.map { try $0.gate() }
    let (serverKeys, keys) = (try KeyPair.generate(), try KeyPair.generate())
    doors[0].allow(keys.publicKey)
    let server = try TestLoop()
    var endpoints: [Endpoint] = []
    for gate in gates {
      endpoints.append(try await server.router("tcp://127.0.0.1:0", Self.options(.server(serverKeys, gate))).1)
    }
    let options = Self.options(.client(keys, server: serverKeys.publicKey))
    let client = try TestLoop()
    _ = try await client.dealer(endpoints[0], options)
    let other = endpoints[1]
    _ = try await client.call { try $0.loop.dealer(connect: other, options) }
    try await client.change(.handshakeFailed(.notAuthorised(status: 400)))
    let (_, open) = try await server.router("tcp://127.0.0.1:0")
    let plain = try TestLoop()
    let dealer = try await plain.dealer(open)
    try await plain.send([1], on: dealer)
    #expect(try await server.peerMessage().key == nil)
  }

  /// The daemon's proof holds where strangers are refused, and fails where they are let in.
  @Test func theProofShowsWhetherStrangersAreRefused() throws {
    let keys = try KeyPair.generate()
    let door = Door()
    let gate = try door.gate()
    try gate.prove(serverKeys: keys)
    #expect(door.refused.withLock { $0.isEmpty }, "the proof's own stranger isn't told of")
    let open = try Gate(admits: { _ in true }, refused: { _, _ in })
    #expect(throws: ZeroMQError.self) { try open.prove(serverKeys: keys) }
  }

  /// Closing and binding again ends the connections that there are; who isn't allowed any more stays out.
  @Test(.case(30)) func aRevokedKeyIsCutOff() async throws {
    let door = Door()
    let gate = try door.gate()
    let (serverKeys, keys) = (try KeyPair.generate(), try KeyPair.generate())
    door.allow(keys.publicKey)
    let server = try TestLoop()
    let options = Self.options(.server(serverKeys, gate))
    let (router, endpoint) = try await server.router("tcp://127.0.0.1:0", options)
    let client = try TestLoop()
    _ = try await client.dealer(endpoint, Self.options(.client(keys, server: serverKeys.publicKey)))
    door.forbid(keys.publicKey)
    try await server.call { handler in
      handler.loop.close(router)
      _ = try handler.loop.router(bind: endpoint, options)
    }
    try await client.change(.handshakeFailed(.notAuthorised(status: 400)))
  }
}
