import Foundation
import Locking
import NavigationClient
import SharedNavigation
import SyncDaemon
import TerminalUI
import TestSupport
import ZeroMQ

/// A daemon that can come and go, and devices with folders of their own.
final class World: Sendable {
  let folder: String
  private let daemon = Locked<SyncDaemon?>(nil)

  init(_ folder: URL) { self.folder = folder.path }

  var endpoint: String { "ipc://\(folder)/run/sync" }

  func start() throws {
    let new = try SyncDaemon(
      SyncDaemonOptions(
        listen: [try Endpoint(endpoint)], store: .folder(folder + "/daemon"), log: DaemonLog(level: .error)))
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

/// A world whose daemon runs, for a body; all of it is gone after.
@MainActor func withWorld(starts: Bool = true, _ body: (World) async throws -> Void) async throws {
  try await withTemporaryFolder { folder in
    let world = World(folder)
    if starts { try world.start() }
    defer { world.stop() }
    try await body(world)
  }
}

/// A program of a device whose stack the test has, too.
@MainActor struct Seat {
  let device: Device
  let stack: Stack
  let shared: SharedStack
  let host: TestHost

  init<Content: View>(_ device: Device, width: Int = 60, _ content: (SharedStack) -> Content) async throws {
    self.device = device
    stack = try await device.stack("alice/main")
    let shared = SharedStack(stack, of: device)
    self.shared = shared
    host = TestHost(width: width) { content(shared) }
  }

  /// Waits until the screen is as wanted. The suite's limit of time ends a wait for nothing.
  func wait(_ condition: (String) -> Bool) async throws {
    while !condition(host.text) {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  func wait(for text: String) async throws { try await wait { $0.contains(text) } }

  /// Until all that was done is on the disk.
  func settle() async throws { try await wait { _ in shared.isSettled } }

  /// What is on the stack, as it was sent.
  var sent: [String] { stack.state.values.map { "\($0.type) \($0.json)" } }
}
