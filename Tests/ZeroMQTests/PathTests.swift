import Foundation
import TestSupport
import Testing

@testable import ZeroMQ

@Suite(.timeLimit(.minutes(5)))
struct PathTests {
  @Test(
    "Endpoints that are written as they are read",
    arguments: [
      "ipc:///run/navsync/sync", "tcp://127.0.0.1:5757", "tcp://*:0", "tcp://[::1]:5757", "tcp://example.org:1",
      "inproc://a",
    ])
  func endpoints(text: String) throws {
    #expect(try Endpoint(text).description == text)
  }

  @Test(
    "What is no endpoint is refused with the text in the message",
    arguments: [
      "", "ipc://", "ipc://relative", "ipc:///folder/", "ipc://@abstract", "tcp://host", "tcp://host:", "tcp://:1",
      "tcp://host:65536", "tcp://host:-1", "tcp://host:+1", "tcp://::1:5", "tcp://a;b:1", "tcp://[::1:1", "udp://a:1",
      "ipc:///a b", "tcp://host:1\n", "inproc://", "127.0.0.1:5", "tcp://host:1/x",
    ])
  func notEndpoints(text: String) throws {
    let error = try #require(throws: ZeroMQError.self) { try Endpoint(text) }
    #expect(error.description.hasPrefix(text + ": "))
  }

  @Test("A path of 107 bytes fits, one of 108 doesn't")
  func longPaths() throws {
    #expect(try Endpoint(path: "/" + String(repeating: "a", count: 106)).path?.utf8.count == 107)
    let error = try #require(throws: ZeroMQError.self) {
      try Endpoint(path: "/" + String(repeating: "a", count: 107))
    }
    #expect(error.number == ENAMETOOLONG)
  }

  @Test(
    "What only this machine can reach",
    arguments: [
      ("ipc:///a", true), ("tcp://127.0.0.1:1", true), ("tcp://127.9.9.9:1", true), ("tcp://localhost:1", true),
      ("tcp://[::1]:1", true), ("tcp://[::2]:1", false), ("tcp://*:1", false), ("tcp://0.0.0.0:1", false),
      ("tcp://192.168.1.1:1", false), ("tcp://127.0.0.1.example.org:1", false),
    ])
  func loopback(text: String, expected: Bool) throws {
    #expect(try Endpoint(text).isLoopback == expected)
  }

  @Test("A name is resolved to a number, and one that doesn't exist is an error")
  func resolving() throws {
    let resolved = try Endpoint("tcp://localhost:7").resolved()
    #expect(["tcp://127.0.0.1:7", "tcp://[::1]:7"].contains(resolved.description))
    #expect(try Endpoint("tcp://*:7").resolved() == Endpoint("tcp://*:7"))
    #expect(throws: ZeroMQError.self) { try Endpoint("tcp://no-such-host.invalid:7").resolved() }
  }

  @Test("A path held by this process is refused and named, and free when its socket closes")
  func secondBind() async throws {
    try await withTemporaryFolder { folder in
      let path = "ipc://\(folder.path)/inner/sync"
      let loop = try TestLoop()
      let (router, endpoint) = try await loop.router(path)
      let client = try TestLoop()
      let dealer = try await client.dealer(endpoint)
      let error = await #expect(throws: ZeroMQError.self) { try await loop.router(path) }
      #expect(error?.isInUse == true)
      #expect(error?.description.contains("(\(getpid()))") == true)
      #expect(error?.description.contains(path) == true)
      // The first is not disturbed.
      try await client.send([1], on: dealer)
      #expect(try await loop.peerMessage().body == [1])
      // Closing and binding again, many times, never loses the socket's file to the one before.
      try await loop.call { $0.loop.close(router) }
      for _ in 0..<50 {
        let (again, _) = try await loop.router(path)
        #expect(FileManager.default.fileExists(atPath: endpoint.path ?? ""))
        try await loop.call { $0.loop.close(again) }
        #expect(!FileManager.default.fileExists(atPath: endpoint.path ?? ""))
      }
      let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/inner")[.posixPermissions]
      #expect(mode as? Int == 0o700)
      loop.loop.stop()
      client.loop.stop()
    }
  }

  @Test("A path held by another process is refused with its number, and free when it is killed")
  func otherProcess() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path + "/sync"
      let shell = try Shell(
        "exec 9>>'\(path).lock'; flock 9; echo $$ >'\(path).lock'; echo held; exec sleep 1000")
      #expect(shell.line() == "held")
      let loop = try TestLoop()
      let error = await #expect(throws: ZeroMQError.self) { try await loop.router("ipc://" + path) }
      #expect(error?.isInUse == true)
      #expect(error?.detail.contains("process \(shell.process) (") == true)
      shell.kill()
      _ = try await loop.router("ipc://" + path)
      loop.loop.stop()
    }
  }

  @Test("A socket left by a dead process is replaced, and a file that is none is kept")
  func leftovers() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path + "/sync"
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
      let bound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      try #require(bound == 0)
      close(descriptor)
      let loop = try TestLoop()
      let (router, _) = try await loop.router("ipc://" + path)
      try await loop.call { $0.loop.close(router) }
      try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
      let error = await #expect(throws: ZeroMQError.self) { try await loop.router("ipc://" + path) }
      #expect(error?.number == EEXIST)
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("precious".utf8))
      loop.loop.stop()
    }
  }

  @Test("A port in use is an error that names it, and free at once when its socket closes")
  func portInUse() async throws {
    let loop = try TestLoop()
    let (router, endpoint) = try await loop.router("tcp://127.0.0.1:0")
    let error = await #expect(throws: ZeroMQError.self) { try await loop.router(endpoint.description) }
    #expect(error?.isInUse == true)
    #expect(error?.about == endpoint.description)
    try await loop.call { $0.loop.close(router) }
    for _ in 0..<20 {
      let (again, _) = try await loop.router(endpoint.description)
      try await loop.call { $0.loop.close(again) }
    }
  }

  @Test("Where a daemon and its clients meet")
  func candidates() async throws {
    #expect(
      IPCPath.candidates(runtimeFolder: "/run/user/7", user: 7) == [
        "/run/user/7/navsync/sync", "/run/navsync/sync", "/tmp/navsync-7/sync",
      ])
    #expect(IPCPath.candidates(runtimeFolder: nil, user: 7) == ["/run/navsync/sync", "/tmp/navsync-7/sync"])
    #expect(try IPCPath.forDaemon(runtimeFolder: "/run/user/7", user: 7).path == "/run/user/7/navsync/sync")
    let sync = try Endpoint("ipc:///run/navsync/sync")
    #expect(try IPCPath.feed(beside: sync)?.path == "/run/navsync/feed")
    #expect(try IPCPath.feed(beside: Endpoint("ipc:///a/kitchen"))?.path == "/a/kitchen-feed")
    #expect(try IPCPath.feed(beside: Endpoint("tcp://127.0.0.1:1")) == nil)
    try await withTemporaryFolder { folder in
      let loop = try TestLoop()
      let wanted = folder.path + "/navsync/sync"
      _ = try await loop.router("ipc://" + wanted)
      #expect(try IPCPath.forClient(runtimeFolder: folder.path).path == wanted)
      loop.loop.stop()
    }
  }

  @Test("A folder that others may write into, or that another owns, is refused")
  func folders() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path + "/open/sync"
      try IPCPath.prepareFolder(of: path)
      try IPCPath.prepareFolder(of: path)
      let other = #expect(throws: ZeroMQError.self) {
        try IPCPath.prepareFolder(of: path, user: IPCPath.currentUser + 1)
      }
      #expect(other?.number == EPERM)
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path + "/open")
      let error = #expect(throws: ZeroMQError.self) { try IPCPath.prepareFolder(of: path) }
      #expect(error?.number == EPERM)
      #expect(error?.about == folder.path + "/open")
    }
  }
}
