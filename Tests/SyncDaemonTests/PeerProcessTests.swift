import Foundation
import NavigationModel
import TestSupport
import Testing
import WireFormat
import ZeroMQ

/// Daemons that follow each other as processes: the one in the middle is killed, and doesn't answer for a while.
@Suite struct PeerProcessTests {
  private static func start(_ name: String, peers: [String], in folder: URL) throws -> DaemonProcess {
    let own = folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
    return try DaemonProcess(
      ["--store", own.path + "/store", "--listen", "ipc://\(own.path)/sync"]
        + peers.flatMap { ["--peer", "ipc://\(folder.path)/\($0)/sync"] }, in: own)
  }

  @Test func theOneInTheMiddleIsKilledAndStopped() async throws {
    try await withTemporaryFolder { folder in
      var middle = try Self.start("b", peers: [], in: folder)
      defer { middle.end() }
      let left = try Self.start("a", peers: ["b"], in: folder)
      defer { left.end() }
      let right = try Self.start("c", peers: ["b"], in: folder)
      defer { right.end() }
      let ends = [try left.endpoint(0), try right.endpoint(0)]
      var one = TestDevice(1, on: PeerTests.main)
      var two = TestDevice(2, on: PeerTests.main)
      for _ in 1...2 {
        try PeerTests.append(&one, 500, at: ends[0])
        try PeerTests.append(&two, 500, at: ends[1])
        // Whatever it is about, it is killed.
        middle.signal(SIGKILL)
        #expect(middle.wait() == -SIGKILL)
        try PeerTests.append(&one, 100, at: ends[0])
        try PeerTests.append(&two, 100, at: ends[1])
        middle = try Self.start("b", peers: [], in: folder)
      }
      let all = ends + [try middle.endpoint(0)]
      for endpoint in all { _ = try PeerTests.waitForEvents(2400, of: PeerTests.main, at: endpoint) }
      // It doesn't answer any more, as a machine that sleeps: the connection is given up, and made again.
      middle.signal(SIGSTOP)
      try PeerTests.append(&one, 100, at: ends[0])
      let cut = try PeerTests.status(at: ends[0]) { $0.peers.first?.connected == false }
      #expect(cut.peers.first?.ahead ?? 0 > 0)
      middle.signal(SIGCONT)
      for endpoint in all { _ = try PeerTests.waitForEvents(2500, of: PeerTests.main, at: endpoint) }
      let heads = try PeerTests.heads(of: PeerTests.main, at: all[0])
      for endpoint in all { #expect(try PeerTests.heads(of: PeerTests.main, at: endpoint) == heads) }
      #expect(left.log.contains("peer connected"))
      #expect(left.log.contains("peer disconnected"))
    }
  }

  @Test func whatIsNoPeerIsRefused() async throws {
    try await withTemporaryFolder { folder in
      let socket = "ipc://\(folder.path)/sync"
      for peer in ["tcp://192.0.2.1:5757", "tcp://home:5757", "udp://x", socket] {
        let daemon = try DaemonProcess(["--store", "memory", "--listen", socket, "--peer", peer], in: folder)
        #expect(daemon.wait() == 2, "\(peer): \(daemon.log)")
      }
      let other = "ipc://\(folder.path)/other"
      let daemon = try DaemonProcess(
        ["--store", "memory", "--listen", socket], in: folder, environment: ["NAVSYNC_PEER": "\(other) \(other)2"])
      defer { daemon.end() }
      let report = try PeerTests.status(at: try daemon.endpoint(0)) { $0.peers.count == 2 }
      #expect(report.peers.map(\.endpoint) == [other, other + "2"])
    }
  }
}
