import Foundation
import TestSupport
import Testing

@testable import ZeroMQ

/// Peers that vanish, send rubbish, or choose a name for themselves.
@Suite(.timeLimit(.minutes(5)))
struct PeerFaultTests {
  @Test("A process that is killed is gone, and the others are served")
  func killed() async throws {
    let server = try TestLoop()
    let client = try TestLoop()
    let (router, endpoint) = try await server.router("tcp://127.0.0.1:0")
    guard case .tcp(_, let port) = endpoint.transport else { preconditionFailure("asked for tcp") }
    func escaped(_ bytes: [UInt8]) -> String { bytes.map { "\\x" + String($0, radix: 16) }.joined() }
    let shell = try Shell(
      """
      exec 3<>/dev/tcp/127.0.0.1/\(port)
      printf '\(escaped(RawPeer.greeting + RawPeer.ready()))' >&3
      head -c \(RawPeer.answerSize) <&3 >/dev/null
      printf '\(escaped(RawPeer.message([42])))' >&3
      read -r -u 3 -N 1000000 bytes
      """)
    let message = try await server.peerMessage()
    #expect(message.body == [42])
    #expect(try await server.call { $0.loop.send([1], to: message.peer, on: router) } == .sent)
    shell.kill()
    var result = SendResult.sent
    while result != .gone { result = try await server.call { $0.loop.send([1], to: message.peer, on: router) } }
    let dealer = try await client.dealer(endpoint)
    try await client.send([1], on: dealer)
    #expect(try await server.peerMessage().body == [1])
  }

  @Test("Rubbish on the port harms nobody")
  func rubbish() async throws {
    let server = try TestLoop()
    let client = try TestLoop()
    let (_, endpoint) = try await server.router("tcp://127.0.0.1:0")
    let dealer = try await client.dealer(endpoint)
    var generator = SeededGenerator(seed: 7)
    let whole = RawPeer.greeting + RawPeer.ready() + RawPeer.message([1, 2, 3])
    for _ in 0..<200 {
      var bytes = whole
      // From pure noise to a single flipped bit, and cut anywhere.
      if Bool.random(using: &generator) {
        bytes = (0..<100).map { _ in UInt8.random(in: 0...255, using: &generator) }
      } else {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        bytes.removeLast(Int.random(in: 0..<20, using: &generator))
      }
      _ = try RawPeer.connect(to: endpoint, sending: bytes)
    }
    let failed = try await server.next { event -> HandshakeFailure? in
      if case .connection(_, .handshakeFailed(let failure)) = event { failure } else { nil }
    }
    #expect(failed != .notAuthorised(status: 400))
    try await client.send([99], on: dealer)
    while try await server.peerMessage().body != [99] {}
  }

  /// libzmq's engine for them can be made to abort the process.
  @Test("Peers of ZMTP before 3.0 are refused, however they go")
  func oldPeers() async throws {
    let server = try TestLoop()
    let (_, endpoint) = try await server.router("tcp://127.0.0.1:0")
    // ZMTP 2.0 (RFC 15): signature, revision, DEALER, an empty routing id, a message of one byte.
    let second: [UInt8] = [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F, 1, 5, 0, 0, 0, 1, 7]
    // ZMTP 1.0 (RFC 13) without a signature: a routing id and a message.
    let first: [UInt8] = [1, 0, 2, 0, 7]
    for number in 0..<200 {
      let bytes = number % 2 == 0 ? second : first
      _ = try RawPeer.connect(to: endpoint, sending: Array(bytes.prefix(bytes.count - number % 4)))
    }
    let held = try [first, second].map { try RawPeer.connect(to: endpoint, sending: $0) }
    let peer = try RawPeer.dealer(to: endpoint, sending: [9])
    #expect(try await server.peerMessage().body == [9])
    withExtendedLifetime((held, peer)) {}
  }

  @Test("A peer that chose its routing id isn't served, and the rest is")
  func chosenRoutingID() async throws {
    let server = try TestLoop()
    let (_, endpoint) = try await server.router("tcp://127.0.0.1:0")
    let first = try RawPeer.dealer(to: endpoint, routingID: Array("admin".utf8), sending: [1])
    var malformed = 0
    while malformed == 0 { malformed = try await server.call { $0.loop.malformed } }
    let second = try RawPeer.dealer(to: endpoint, sending: [2])
    #expect(try await server.peerMessage().body == [2])
    #expect(try await server.call { $0.loop.malformed } == 1)
    withExtendedLifetime((first, second)) {}
  }
}
