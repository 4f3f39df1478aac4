import Foundation
import Locking
import NavigationClient
import SyncDaemon
import TestSupport
import ZeroMQ

/// A daemon on a store and a socket of its own, and devices with folders of their own.
final class World: Sendable {
  let folder: String
  private let peers: [String]
  private let daemon = Locked<SyncDaemon?>(nil)

  /// - Parameter peers: other daemons that this one follows.
  init(_ folder: URL, starts: Bool = true, peers: [String] = []) throws {
    self.folder = folder.path
    self.peers = peers
    if starts { try start() }
  }

  var endpoint: String { "ipc://\(folder)/run/sync" }
  var store: String { folder + "/daemon" }

  func start() throws {
    var options = try SyncDaemonOptions(
      listen: [try Endpoint(endpoint)], store: .folder(store), log: DaemonLog(level: .error))
    options.software = "test"
    options.peers = try peers.map { try Endpoint($0) }
    let new = try SyncDaemon(options)
    daemon.withLock { $0 = new }
  }

  func stop() {
    let old = daemon.withLock { daemon in
      defer { daemon = nil }
      return daemon
    }
    old?.stop()
  }

  func device(_ name: String, connects: Bool = true) async throws -> Device {
    try await Device.open(
      name: name,
      options: Device.Options(daemon: endpoint, folder: folder + "/devices/" + name, connects: connects))
  }
}

func withDaemon(
  isolation: isolated (any Actor)? = #isolation, _ body: (World) async throws -> Void
) async throws {
  try await withTemporaryFolder { folder in
    let world = try World(folder)
    defer { world.stop() }
    try await body(world)
  }
}

extension Stack {
  /// Waits for a state that meets a condition; the test's own limit of time ends a wait for nothing.
  func state(_ meets: (StackState) -> Bool) async throws {
    for await state in states where meets(state) { return }
    throw Ended()
  }
}

extension ObservedStack {
  func state(_ meets: (StackState) -> Bool) async throws {
    for await state in states where meets(state) { return }
    throw Ended()
  }
}

private struct Ended: Error {}
