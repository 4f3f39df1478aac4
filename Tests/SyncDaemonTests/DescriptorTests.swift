import Foundation
import TestSupport
import Testing
import WireFormat
import ZeroMQ

/// A daemon whose limit of open files is met. (Reports of the field: out of descriptors, a server took a whole processor;
/// libzmq 4.3.4 ends the process over a socket in the file system.)
@Suite struct DescriptorTests {
  /// A peer that connects and says nothing.
  private final class Mute {
    private let descriptor: Int32

    init?(_ endpoint: Endpoint) {
      switch endpoint.transport {
      case .ipc(let path):
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        guard Self.connect(descriptor, to: &address) else { return nil }
      case .tcp(_, let port):
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        guard Self.connect(descriptor, to: &address) else { return nil }
      case .inproc: return nil
      }
    }

    deinit { close(descriptor) }

    private static func connect<Address>(_ descriptor: Int32, to address: inout Address) -> Bool {
      withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size)) == 0
        }
      }
    }

    /// Waits until the other side has closed it.
    func waitUntilCut() -> Bool {
      var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      var byte: UInt8 = 0
      while poll(&item, 1, 30_000) > 0 {
        // The greeting may come first.
        if recv(descriptor, &byte, 1, 0) <= 0 { return true }
      }
      return false
    }
  }

  @Test(arguments: [0, 1]) func moreConnectionsThanFilesAreClosedAtOnce(_ place: Int) async throws {
    try await withTemporaryFolder { folder in
      let daemon = try DaemonProcess(
        [
          "--store", folder.path + "/store", "--listen", "ipc://" + folder.path + "/sync", "--listen",
          "tcp://127.0.0.1:0",
        ],
        in: folder)
      defer { daemon.end() }
      try daemon.limitDescriptors(to: 100)
      var device = TestDevice(1, on: SessionTests.stack)
      try device.act(count: 20)
      let client = try TestClient.connected(to: daemon.endpoint(place), device: device.id)
      try client.send(device.append(from: 1, count: 10))
      try client.waitForAccepted(device.id, through: 10)

      var crowd: [Mute] = []
      for _ in 0..<150 { crowd.append(try #require(Mute(try daemon.endpoint(place)))) }
      // The last has no place any more; who was there before is served on.
      #expect(try #require(crowd.last).waitUntilCut())
      try client.send(device.append(from: 11, count: 10))
      try client.waitForAccepted(device.id, through: 20)
      #expect(daemon.log.contains("a connection could not be accepted"), "\(daemon.log)")

      crowd = []
      let again = try TestClient.connected(to: daemon.endpoint(place))
      #expect(try again.readAll(SessionTests.stack).count == 20)
      // Once each, and not again and again for as long as there is no room.
      let report = try PeerTests.status(at: daemon.endpoint(place)) { _ in true }
      let refused = report.counters.first { $0.name == "connections_not_accepted" }?.value ?? 0
      #expect((1...150).contains(refused), "\(refused)")
      daemon.signal(SIGTERM)
      #expect(daemon.wait() == 0)
    }
  }
}
