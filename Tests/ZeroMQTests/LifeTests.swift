import Foundation
import HostilePeers
import Locking
import TestSupport
import Testing

@testable import ZeroMQ

/// How loops begin and end, and what they leave.
@Suite(.timeLimit(.minutes(5)))
struct LifeTests {
  @Test("What fails at the beginning is thrown to who began")
  func failedStart() async throws {
    struct Failure: Error {}
    struct Nothing: LoopHandler {
      typealias Command = Int
      init(_ loop: Loop) throws {
        _ = try loop.router(bind: try Endpoint("tcp://127.0.0.1:0"))
        throw Failure()
      }
    }
    #expect(throws: Failure.self) { try SocketLoop(name: "fails") { try Nothing($0) } }
  }

  @Test("Commands of many threads arrive, each thread's in order")
  func mailbox() async throws {
    let loop = try TestLoop()
    let (threads, each) = (8, 2000)
    let mailbox = loop.loop.mailbox
    await withTaskGroup { group in
      for thread in 0..<threads {
        group.addTask {
          for number in 0..<each where number % 10 == 0 {
            mailbox.post(contentsOf: (number..<number + 10).map { .number(thread * each + $0) })
          }
        }
      }
    }
    let numbers = try await loop.call { $0.numbers }
    #expect(numbers.count == threads * each)
    for thread in 0..<threads {
      let own = numbers.filter { $0 / each == thread }
      #expect(own == Array(thread * each..<(thread + 1) * each))
    }
  }

  @Test("A command that was taken is carried out, and one after the end is refused")
  func lastCommands() async throws {
    for _ in 0..<20 {
      let loop = try TestLoop()
      let taken = Locked(0)
      let done = Locked(0)
      let mailbox = loop.loop.mailbox
      let poster = Task.detached {
        while mailbox.post(.run { _ in done.withLock { $0 += 1 } }) { taken.withLock { $0 += 1 } }
      }
      while taken.withLock({ $0 }) == 0 { await Task.yield() }
      loop.loop.stop()
      await poster.value
      #expect(done.withLock { $0 } == taken.withLock { $0 })
      #expect(!mailbox.post(.number(1)))
      #expect(!mailbox.post(contentsOf: []))
    }
  }

  @Test("A loop stops while messages pour in, and says goodbye to its peers")
  func stopWhileBusy() async throws {
    let server = try TestLoop()
    let client = try TestLoop()
    // The raw peer answers no heartbeats, and a busy machine may take its time.
    var patient = SocketOptions.quick
    patient.heartbeatMilliseconds = 600_000
    patient.heartbeatTimeoutMilliseconds = 600_000
    let (router, endpoint) = try await server.router("tcp://127.0.0.1:0", patient)
    // Not a DEALER of libzmq: that drops what it has received and not read when it sees the connection end.
    let quiet = try RawPeer.dealer(to: endpoint, sending: [1])
    let peer = try await server.peerMessage().peer
    let dealer = try await client.dealer(endpoint)
    let mailbox = client.loop.mailbox
    try await client.call { handler in
      handler.onNumber = { [loop = handler.loop] number in
        for _ in 0..<100 { _ = loop.send([2], on: dealer) }
        mailbox.post(.number(number))
      }
    }
    mailbox.post(.number(0))
    _ = try await server.peerMessage()
    try await server.call { handler in
      handler.farewell = { _ = $0.loop.send([9], to: peer, on: router) }
    }
    server.loop.stop()
    server.loop.stop()
    var last: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 256)
    while case let count = recv(quiet.descriptor, &bytes, bytes.count, 0), count > 0 {
      last = (last + bytes.prefix(count)).suffix(3)
    }
    #expect(last == RawPeer.message([9]))
    client.loop.stop()
  }

  @Test("A loop can end itself, and goes with its last reference")
  func ends() async throws {
    let (stream, continuation) = AsyncStream<LoopEvent>.makeStream()
    let loop = try SocketLoop(name: "self") { TestHandler($0, continuation) }
    loop.mailbox.post(.run { $0.loop.stop() })
    var events = stream.makeAsyncIterator()
    #expect(await events.next() == .stopping)
    loop.stop()
    let (second, secondContinuation) = AsyncStream<LoopEvent>.makeStream()
    do { _ = try SocketLoop(name: "dropped") { TestHandler($0, secondContinuation) } }
    var secondEvents = second.makeAsyncIterator()
    #expect(await secondEvents.next() == .stopping)
  }

  @Test("Fifty openings and closings leave no descriptor behind")
  func descriptors() async throws {
    await #expect(processExitsWith: .success) {
      try await withTemporaryFolder { folder in
        let path = "ipc://\(folder.path)/sync"
        func cycle() async throws {
          let server = try TestLoop()
          let client = try TestLoop()
          let (_, endpoint) = try await server.router(path)
          let dealer = try await client.dealer(endpoint)
          try await client.send([1], on: dealer)
          #expect(try await server.peerMessage().body == [1])
          server.loop.stop()
          client.loop.stop()
        }
        func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        // What libzmq opens once for the process is open after the first.
        try await cycle()
        let before = try count()
        for _ in 0..<50 { try await cycle() }
        // libzmq's reaper closes sockets a moment later. A leak shows as this never ending.
        while try count() > before { await Task.yield() }
      }
    }
  }

  @Test("Closed standard descriptors are opened, and the limit of files is raised", .case(41))
  func processSetup() async {
    await #expect(processExitsWith: .success) {
      for descriptor: Int32 in 0...2 { close(descriptor) }
      let files = ProcessSetup.prepare()
      for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 { exit(3) }
      let next = dup(0)
      if next <= 2 || files < 1024 { exit(4) }
    }
  }

  @Test("A loop is used on its own thread only")
  func wrongThread() async {
    await #expect(processExitsWith: .failure) {
      struct Leaks: LoopHandler {
        typealias Command = Int
        // Written once, before the loop's making returns; the misuse under test needs it to get out.
        nonisolated(unsafe) static var loop: Loop?
        init(_ loop: Loop) { Self.loop = loop }
      }
      let loop = try SocketLoop(name: "leaks") { Leaks($0) }
      _ = try Leaks.loop?.dealer(connect: try Endpoint("tcp://127.0.0.1:9"))
      loop.stop()
    }
  }
}
