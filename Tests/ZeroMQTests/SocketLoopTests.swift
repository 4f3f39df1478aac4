import Foundation
import Locking
import TestSupport
import Testing

@testable import ZeroMQ

@Suite(.timeLimit(.minutes(5)))
struct SocketLoopTests {
  @Test("A message goes to the router and its answer back", arguments: ["tcp", "ipc"])
  func roundTrip(transport: String) async throws {
    try await withTemporaryFolder { folder in
      let server = try TestLoop()
      let client = try TestLoop()
      let (router, endpoint) = try await server.router(
        transport == "tcp" ? "tcp://127.0.0.1:0" : "ipc://\(folder.path)/sync")
      let dealer = try await client.dealer(endpoint)
      try await client.send([1, 2, 3], on: dealer)
      let message = try await server.peerMessage()
      #expect(message.body == [1, 2, 3])
      let result = try await server.call { $0.loop.send([4, 5], to: message.peer, on: router) }
      #expect(result == .sent)
      #expect(try await client.body() == [4, 5])
      server.loop.stop()
      client.loop.stop()
    }
  }

  @Test("One frame goes to many peers")
  func sharedFrame() async throws {
    let server = try TestLoop()
    let (router, endpoint) = try await server.router("tcp://127.0.0.1:0")
    let clients = try (0..<5).map { _ in try TestLoop() }
    var peers: [Peer] = []
    for client in clients {
      let dealer = try await client.dealer(endpoint)
      try await client.send([7], on: dealer)
      peers.append(try await server.peerMessage().peer)
    }
    #expect(Set(peers).count == 5)
    let blob = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
    let results = try await server.call { [peers] handler in
      var frame = Frame(blob)
      return peers.map { handler.loop.send(&frame, to: $0, on: router) }
    }
    #expect(results == Array(repeating: .sent, count: 5))
    for client in clients { #expect(try await client.body() == blob) }
  }

  @Test("Many messages come in order, in batches within the limit")
  func batches() async throws {
    let server = try TestLoop()
    let client = try TestLoop()
    let (_, endpoint) = try await server.router("tcp://127.0.0.1:0")
    let dealer = try await client.dealer(endpoint)
    let count = 5000
    let sent = try await client.call { handler in
      // Waiting here is fine: nothing else happens on this loop.
      for number in 0..<count {
        let body = [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
        var result = handler.loop.send(body, on: dealer)
        while result == .full { result = handler.loop.send(body, on: dealer) }
        if result != .sent { return false }
      }
      return true
    }
    #expect(sent)
    for number in 0..<count {
      let body = try await server.peerMessage().body
      try #require(Int(body[0]) << 8 | Int(body[1]) == number)
    }
    let batches = try await server.call { $0.batches }
    #expect(batches.reduce(0, +) == count)
    #expect(batches.allSatisfy { $0 <= Loop.batchLimit })
    #expect(batches.count < count)
  }

  @Test("A router says full for a peer that doesn't read, and gone for one that left")
  func fullAndGone() async throws {
    let server = try TestLoop()
    let client = try TestLoop()
    let (router, endpoint) = try await server.router("tcp://127.0.0.1:0")
    let dealer = try await client.dealer(endpoint)
    try await client.send([1], on: dealer)
    let peer = try await server.peerMessage().peer
    // The client's loop is held in one turn, so its socket isn't read.
    let (release, releaser) = AsyncStream<Void>.makeStream()
    let gate = Locked(false)
    client.loop.mailbox.post(.run { _ in gate.wait { $0 ? () : nil } })
    let full = try await server.call { handler in
      var frame = Frame([UInt8](repeating: 9, count: 100_000))
      for _ in 0..<100_000 {
        let result = handler.loop.send(&frame, to: peer, on: router)
        if result != .sent { return result }
      }
      return .sent
    }
    #expect(full == .full)
    releaser.finish()
    for await _ in release {}
    gate.change { $0 = true }
    try await client.call { $0.loop.close(dealer) }
    try await server.change(.disconnected)
    // The pipe goes a moment after the report.
    var result = SendResult.full
    while result != .gone { result = try await server.call { $0.loop.send([1], to: peer, on: router) } }
    #expect(try await server.call { $0.loop.send([1], to: Peer(number: peer.number &+ 77), on: router) } == .gone)
  }

  @Test("A dealer sees its server come, go and come again, and nothing is queued meanwhile")
  func reconnects() async throws {
    try await withTemporaryFolder { folder in
      let path = "ipc://\(folder.path)/sync"
      let server = try TestLoop()
      let client = try TestLoop()
      let endpoint = try Endpoint(path)
      let dealer = try await client.call { try $0.loop.dealer(connect: endpoint, .quick) }
      try await client.next { if case .connection(_, .retrying) = $0 { () } else { nil } }
      #expect(try await client.call { $0.loop.send([1], on: dealer) } == .full)
      for round in UInt8(0)..<3 {
        let (router, _) = try await server.router(path)
        try await client.connected()
        try await client.send([round], on: dealer)
        #expect(try await server.peerMessage().body == [round])
        try await server.call { $0.loop.close(router) }
        try await client.change(.disconnected)
      }
      server.loop.stop()
      client.loop.stop()
    }
  }

  @Test("A dealer that was full tells when it has room")
  func writable() async throws {
    let server = try TestLoop()
    let client = try TestLoop()
    let (_, endpoint) = try await server.router("tcp://127.0.0.1:0")
    let dealer = try await client.dealer(endpoint)
    let gate = Locked(false)
    server.loop.mailbox.post(.run { _ in gate.wait { $0 ? () : nil } })
    try await client.call { handler in
      let body = [UInt8](repeating: 1, count: 100_000)
      while handler.loop.send(body, on: dealer) == .sent {}
      handler.loop.notifyWhenWritable(dealer)
    }
    gate.change { $0 = true }
    try await client.next { $0 == .writable ? () : nil }
    try await client.send([1], on: dealer)
  }

  @Test("A message over the limit isn't sent, and who sends one anyway is cut off alone")
  func oversize() async throws {
    let server = try TestLoop()
    let good = try TestLoop()
    let bad = try TestLoop()
    let (router, endpoint) = try await server.router("tcp://127.0.0.1:0")
    let goodDealer = try await good.dealer(endpoint)
    let badDealer = try await bad.dealer(endpoint)
    let tooLarge = [UInt8](repeating: 0, count: SocketOptions.largestMessage + 1)
    #expect(try await bad.call { $0.loop.send(tooLarge, on: badDealer) } == .tooLarge)
    let largest = [UInt8](repeating: 3, count: SocketOptions.largestMessage)
    try await good.send(largest, on: goodDealer)
    let message = try await server.peerMessage()
    #expect(message.body == largest)
    // Past the check, as a program in another language would.
    try await bad.call { handler in
      let bytes = [UInt8](repeating: 0, count: 300_000)
      _ = bytes.withUnsafeBytes { handler.loop.places[badDealer]?.socket.send($0) }
    }
    try await bad.change(.disconnected)
    #expect(try await server.call { $0.loop.send([1], to: message.peer, on: router) } == .sent)
    #expect(try await good.body() == [1])
  }

  @Test("Frames that aren't ours are dropped and counted")
  func malformed() async throws {
    let server = try TestLoop()
    let client = try TestLoop()
    let (_, endpoint) = try await server.router("tcp://127.0.0.1:0")
    let dealer = try await client.dealer(endpoint)
    try await client.call { handler in
      _ = [UInt8](repeating: 1, count: 3).withUnsafeBytes {
        handler.loop.places[dealer]?.socket.send($0, more: true)
      }
      _ = [UInt8]().withUnsafeBytes { handler.loop.places[dealer]?.socket.send($0, more: true) }
      _ = [UInt8](repeating: 2, count: 3).withUnsafeBytes { handler.loop.places[dealer]?.socket.send($0) }
    }
    try await client.send([], on: dealer)
    try await client.send([5], on: dealer)
    #expect(try await server.peerMessage().body == [])
    #expect(try await server.peerMessage().body == [5])
    #expect(try await server.call { $0.loop.malformed } == 1)
  }

  @Test("A deadline ends a turn when nothing comes")
  func deadline() async throws {
    let loop = try TestLoop()
    try await loop.call { $0.deadline = Moment.now().monotonic + 20 }
    var passed = 0
    while passed == 0 { passed = try await loop.call { $0.deadlinesPassed } }
    #expect(passed == 1)
  }

  @Test("A subscriber gets its topics, and the publisher sees who asks")
  func subscriptions() async throws {
    try await withTemporaryFolder { folder in
      let server = try TestLoop()
      let client = try TestLoop()
      let endpoint = try Endpoint("ipc://\(folder.path)/feed")
      let xpub = try await server.call { try $0.loop.xpub(bind: endpoint, .quick) }
      let sub = try await client.call { handler in
        let sub = try handler.loop.sub(connect: endpoint, .quick)
        try handler.loop.subscribe([1, 2], on: sub)
        return sub
      }
      func subscription() async throws -> SubscriptionChange {
        try await server.next { if case .subscription(let change) = $0 { change } else { nil } }
      }
      #expect(try await subscription() == SubscriptionChange(isSubscribed: true, topic: [1, 2]))
      let results = try await server.call { handler in
        var body = Frame([9])
        return [
          handler.loop.publish(&body, topic: [1, 3], on: xpub),
          handler.loop.publish(&body, topic: [1, 2, 3], on: xpub),
        ]
      }
      #expect(results == [.sent, .sent])
      let got = try await client.next { if case .published(let publication) = $0 { publication } else { nil } }
      #expect(got == Publication(topic: [1, 2, 3], body: [9]))
      try await client.call { try $0.loop.unsubscribe([1, 2], on: sub) }
      #expect(try await subscription() == SubscriptionChange(isSubscribed: false, topic: [1, 2]))
      server.loop.stop()
      client.loop.stop()
    }
  }

  @Test("Every one of 5,000 subscriptions arrives")
  func manySubscriptions() async throws {
    let server = try TestLoop()
    let client = try TestLoop()
    let endpoint = try await server.call { handler in
      let xpub = try handler.loop.xpub(bind: try Endpoint("tcp://127.0.0.1:0"))
      return try #require(handler.loop.endpoint(of: xpub))
    }
    let count = 5000
    try await client.call { handler in
      let sub = try handler.loop.sub(connect: endpoint)
      for number in 0..<count {
        try handler.loop.subscribe([UInt8(number >> 8), UInt8(truncatingIfNeeded: number)], on: sub)
      }
    }
    var topics: Set<[UInt8]> = []
    while topics.count < count {
      topics.insert(
        try await server.next { if case .subscription(let change) = $0 { change.topic } else { nil } })
    }
    #expect(topics.count == count)
  }
}
