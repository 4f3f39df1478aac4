import Foundation
import NavigationModel
import TestSupport
import Testing
import WireFormat
import ZeroMQ

/// The program `navsyncd` as a process: how it ends, what it refuses, and what is left when it is killed.
@Suite struct DaemonProcessTests {
  private static let stack = SessionTests.stack

  private static func arguments(_ folder: URL, _ more: String...) -> [String] {
    ["--store", folder.path + "/store", "--listen", "ipc://" + folder.path + "/sync"] + more
  }

  @Test func killedUnderAppendsItLosesNothingAcknowledged() async throws {
    try await withTemporaryFolder { folder in
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: 6000)
      var stored = 0
      for round in 1...3 {
        let daemon = try DaemonProcess(Self.arguments(folder), in: folder)
        defer { daemon.end() }
        let client = try TestClient.connected(to: daemon.endpoint(0), device: device.id)
        // Many small appends in flight, each a message of its own.
        for first in stride(from: stored + 1, through: stored + 1500, by: 5) {
          try client.send(device.append(from: first, count: 5))
        }
        try client.waitForAccepted(device.id, through: stored + 100 * round)
        daemon.signal(SIGKILL)
        #expect(daemon.wait() == -SIGKILL)
        client.drain()
        let accepted = client.accepted(device.id)

        let again = try DaemonProcess(Self.arguments(folder), in: folder)
        defer { again.end() }
        let dots = try TestClient.connected(to: again.endpoint(0)).readAll(Self.stack)
        #expect(dots.count >= accepted)
        #expect(dots == (1...dots.count).map { Dot(device.id, $0) })
        stored = dots.count
        // What was sent and not acknowledged can be sent again.
        let retry = try TestClient.connected(to: again.endpoint(0), device: device.id)
        try retry.send(device.append(from: max(accepted, 1), count: 20))
        try retry.waitForAccepted(device.id, through: max(accepted, 1) + 19)
        stored = max(stored, max(accepted, 1) + 19)
        again.signal(SIGTERM)
        #expect(again.wait() == 0)
      }
    }
  }

  @Test(arguments: [SIGTERM, SIGINT]) func aSignalEndsItWell(_ number: Int32) async throws {
    try await withTemporaryFolder { folder in
      let notifications = try Notifications(folder.path + "/notify")
      let daemon = try DaemonProcess(
        Self.arguments(folder, "--listen", "tcp://127.0.0.1:0", "--log-format", "json"), in: folder,
        environment: ["NOTIFY_SOCKET": folder.path + "/notify"])
      defer { daemon.end() }
      #expect(daemon.ready.hasPrefix("ready: ipc://\(folder.path)/sync tcp://127.0.0.1:"))
      #expect(daemon.ready.hasSuffix(" feed=ipc://\(folder.path)/feed store=\(folder.path)/store"))
      #expect(notifications.next() == "READY=1")
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: 500)
      let client = try TestClient.connected(to: daemon.endpoint(1), device: device.id)
      for first in stride(from: 1, through: 500, by: 50) { try client.send(device.append(from: first, count: 50)) }
      try client.waitForAccepted(device.id, through: 1)
      daemon.signal(number)
      #expect(daemon.wait() == 0)
      #expect(notifications.next() == "STOPPING=1")
      client.drain()
      // Every line is an object; the warning of tcp is there, and the end.
      let lines = try daemon.log.split(separator: "\n").map {
        try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])
      }
      #expect(lines.contains { $0["level"] == "warning" && $0["message"]?.contains("every local user") == true })
      #expect(lines.last?["message"] == "stopped")
      // What was answered is there, and so is nothing that wasn't sent.
      let again = try DaemonProcess(Self.arguments(folder), in: folder)
      defer { again.end() }
      let dots = try TestClient.connected(to: again.endpoint(0)).readAll(Self.stack)
      #expect(dots.count >= client.accepted(device.id))
      #expect(dots == (1...dots.count).map { Dot(device.id, $0) })
    }
  }

  @Test(.case(40)) func aSecondDaemonIsRefusedAndToldWhoHoldsIt() async throws {
    try await withTemporaryFolder { folder in
      let first = try DaemonProcess(Self.arguments(folder, "--listen", "tcp://127.0.0.1:0"), in: folder)
      defer { first.end() }
      let who = "process \(first.identifier)"

      let samePath = try DaemonProcess(
        ["--store", "memory", "--listen", "ipc://" + folder.path + "/sync"], in: folder)
      #expect(samePath.wait() == 4)
      #expect(samePath.log.contains(who), "\(samePath.log)")

      let sameStore = try DaemonProcess(
        ["--store", folder.path + "/store", "--listen", "ipc://" + folder.path + "/other"], in: folder)
      #expect(sameStore.wait() == 4)
      #expect(sameStore.log.contains(who), "\(sameStore.log)")

      let samePort = try DaemonProcess(
        ["--store", "memory", "--listen", try first.endpoint(1).description], in: folder)
      #expect(samePort.wait() == 4)
      #expect(samePort.log.contains("in use"), "\(samePort.log)")

      // The first one noticed nothing.
      _ = try TestClient.connected(to: first.endpoint(0))
    }
  }

  @Test func whatIsNotAllowedIsRefused() async throws {
    try await withTemporaryFolder { folder in
      for endpoint in ["tcp://0.0.0.0:5757", "tcp://*:5757", "tcp://192.0.2.1:1", "udp://x", "ipc://relative"] {
        let daemon = try DaemonProcess(["--store", "memory", "--listen", endpoint], in: folder)
        #expect(daemon.wait() == 2, "\(endpoint): \(daemon.log)")
        #expect(daemon.ready == "")
      }
      let feed = try DaemonProcess(
        ["--store", "memory", "--listen", "ipc://" + folder.path + "/sync", "--feed", "tcp://0.0.0.0:0"], in: folder)
      #expect(feed.wait() == 2)
      #expect(feed.log.contains("keys"))
      #expect(try DaemonProcess(["--nonsense"], in: folder).wait() == 2)
      let version = try DaemonProcess(["--version"], in: folder)
      #expect(version.wait() == 0)
      #expect(version.ready.hasPrefix("navsyncd "))
    }
  }

  /// Its memory has secret keys.
  @Test func aCrashLeavesNoCore() async throws {
    try await withTemporaryFolder { folder in
      let daemon = try DaemonProcess(Self.arguments(folder), in: folder)
      defer { daemon.end() }
      let limits = try #require(try FileHandle(forReadingAtPath: "/proc/\(daemon.identifier)/limits")?.readToEnd())
      let core = String(decoding: limits, as: UTF8.self).split(separator: "\n").first {
        $0.hasPrefix("Max core file size")
      }
      #expect(core?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
    }
  }

  @Test func aStoreThatIsNoneIsRefused() async throws {
    try await withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("store")
      try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
      try Data(repeating: 7, count: 9000).write(to: store.appendingPathComponent("log.sqlite3"))
      let daemon = try DaemonProcess(Self.arguments(folder), in: folder)
      #expect(daemon.wait() == 4, "\(daemon.log)")
      #expect(daemon.log.contains(store.path))
      #expect(try Data(contentsOf: store.appendingPathComponent("log.sqlite3")).count == 9000)
    }
  }

  @Test(.case(47), .case(57)) func aFullDiskRefusesAppendsAndServesReads() async throws {
    try await withTemporaryFolder { folder in
      let daemon = try DaemonProcess(Self.arguments(folder), in: folder)
      defer { daemon.end() }
      try daemon.limitFiles(to: 400 << 10)
      var device = TestDevice(1, on: Self.stack)
      try device.act(count: 1000, size: 1000)
      let client = try TestClient.connected(to: daemon.endpoint(0), device: device.id)
      var sequence = 1
      var refusal: Rejected?
      while refusal == nil, sequence < 1000 {
        try client.send(device.append(from: sequence, count: 20))
        let answer = try client.wait {
          switch $0 {
          case .accepted, .rejected: true
          case _: false
          }
        }
        switch answer {
        case .rejected(let rejected): refusal = rejected
        case _: sequence += 20
        }
      }
      #expect(refusal?.code == .storage)
      #expect(refusal?.dot == Dot(device.id, sequence))
      #expect(sequence > 1)
      // Reads go on: exactly what was accepted.
      let reader = try TestClient.connected(to: daemon.endpoint(0))
      #expect(try reader.readAll(Self.stack).count == sequence - 1)
      // With room again, appends work again.
      try daemon.limitFiles(to: nil)
      try client.send(device.append(from: sequence, count: 20))
      try client.waitForAccepted(device.id, through: sequence + 19)
      daemon.signal(SIGTERM)
      #expect(daemon.wait() == 0)
    }
  }

  /// The service manager's end of `NOTIFY_SOCKET`.
  private final class Notifications {
    private let descriptor: Int32

    init(_ path: String) throws {
      descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let status = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      try #require(status == 0)
      var patience = timeval(tv_sec: 20, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    func next() -> String {
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
  }
}
