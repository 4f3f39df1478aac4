import Foundation
import HostilePeers
import Locking
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

  /// With a receiver's high-water mark the process is aborted here: libzmq's engine answers the PING after the connection
  /// was reset, which it asserts not to.
  @Test("A flood with a PING in it, and a reset, while nobody reads")
  func floodAndReset() async throws {
    await #expect(processExitsWith: .success) {
      let server = try TestLoop()
      let (_, endpoint) = try await server.router("tcp://127.0.0.1:0")
      let ping: [UInt8] = [4, 7, 4] + Array("PING".utf8) + [0, 0]
      let flood = ([[UInt8]](repeating: RawPeer.message([9]), count: 600) + [ping]).flatMap { $0 }
      for _ in 0..<20 {
        let gate = Locked(false)
        server.loop.mailbox.post(.run { _ in gate.wait { $0 ? () : nil } })
        for _ in 0..<5 {
          let peer = try RawPeer.dealer(to: endpoint, sending: [9])
          for _ in 0..<4 { peer.send(flood) }
          // The other side's kernel has it, and libzmq's thread reads on while the loop doesn't.
          peer.waitUntilTaken()
          peer.reset()
        }
        gate.change { $0 = true }
        _ = try await server.call { $0.loop.malformed }
      }
      let last = try RawPeer.dealer(to: endpoint, sending: [99])
      while try await server.peerMessage().body != [99] {}
      withExtendedLifetime(last) {}
    }
  }

  @Test("Of more connections than there may be, those that say nothing go first")
  func surplus() async throws {
    let server = try TestLoop()
    let (_, endpoint) = try await server.router("tcp://127.0.0.1:0")
    try await server.call { $0.loop.connectionLimit = 50 }
    let speaking = try (0..<20).map { try RawPeer.dealer(to: endpoint, sending: [UInt8($0)]) }
    var heard: Set<UInt8> = []
    while heard.count < 20 { heard.insert(try await server.peerMessage().body[0]) }
    var silent: [RawConnection] = []
    for _ in 0..<120 { silent.append(try RawPeer.connect(to: endpoint, sending: RawPeer.greeting + RawPeer.ready())) }
    for _ in 0..<90 { try await server.change(.surplusEnded) }
    for peer in silent[..<90] { peer.waitForEnd() }
    // Who comes now gets in, in the place of one that is silent.
    let late = try RawPeer.dealer(to: endpoint, sending: [77])
    while try await server.peerMessage().body != [77] {}
    for (number, peer) in speaking.enumerated() { peer.send(RawPeer.message([UInt8(100 + number)])) }
    heard = []
    while heard.count < 20 { heard.insert(try await server.peerMessage().body[0]) }
    #expect(heard == Set(100..<120))
    withExtendedLifetime((speaking, silent, late)) {}
  }
}
