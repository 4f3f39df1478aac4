import Access
import Foundation
import Glibc
import KeyFiles
import Locking
import NavigationModel
import ZeroMQ

/// Where a fleet lives: its folders, its disk, its network, its keys. What this machine doesn't allow is nil.
final class Place {
  let folder: String
  /// Where the programs are.
  let programs: String
  let disk: Disk?
  let network: Network?
  private let running = Locked<[Child]>([])

  /// On the disk, where there is one.
  var daemonStore: String { (disk?.folder ?? folder) + "/daemon" }
  var daemonKeys: String { folder + "/daemon-keys" }
  var userKeys: String { folder + "/keys" }
  var socket: String { "ipc://\(folder)/sync" }
  /// What the wire leads to; a daemon that listens there needs keys.
  static let wire = "tcp://\(Network.daemonAddress):5757"

  /// - Parameter cleanup: ends the processes.
  init(folder: String, programs: String, disk: Disk?, network: Network?, _ cleanup: Cleanup) throws {
    self.folder = folder
    self.programs = programs
    self.disk = disk
    self.network = network
    _ = cleanup.add { [running] in
      for child in running.withLock({ $0 }) { child.signal(SIGKILL) }
      // A mount is in use until they are gone.
      for child in running.withLock({ $0 }) { child.waitForEnd() }
    }
    let (daemon, user) = (KeyFolder(daemonKeys), KeyFolder(userKeys))
    let server = try daemon.makeKeys()
    let key = try user.makeKeys().publicKey
    let rule = AccessRule(key: key, name: try Name("user"), scope: .everySpace, verbs: [.read, .act, .admin])
    try daemon.changeRules { (rules) throws(KeyFileError) in
      rules.allow(rule)
    }
    try user.keep(server.publicKey, ofDaemonAt: try Endpoint(Self.wire))
  }

  func deviceFolder(_ name: String, isOnDisk: Bool) -> String {
    (isOnDisk ? disk?.folder : nil).map { "\($0)/\(name)" } ?? "\(folder)/\(name)"
  }

  private func start(
    _ start: Child.Start, name: String, line: @escaping @Sendable (String) -> Void = { _ in }
  ) throws -> Child {
    let child = try Child(start, name: name, line: line)
    running.withLock { running in
      running.removeAll { $0.ending != nil }
      running.append(child)
    }
    return child
  }

  /// - Parameter wrapper: a program and its arguments that become the daemon, such as `prlimit`.
  func daemon(log: String, wrapper: [String] = [], environment: [String: String] = [:]) throws -> Child {
    let words =
      (network.map { Network.inside($0.daemonSide) } ?? []) + wrapper + [
        programs + "/navsyncd", "--store", daemonStore, "--keys", daemonKeys, "--listen", socket, "--log-format",
        "json",
      ] + (network == nil ? [] : ["--listen", Self.wire])
    return try start(
      Child.Start(
        program: "/usr/bin/env", arguments: words, environment: environment.merging(["HOME": folder]) { $1 }, log: log,
        ready: "ready:"), name: "the daemon")
  }

  func device(
    _ name: String, folder: String, isOverWire: Bool, seed: Int, stacks: [String], log: String,
    environment: [String: String] = [:], line: @escaping @Sendable (String) -> Void
  ) throws -> Child {
    let inside = network.map { isOverWire ? Network.inside($0.deviceSide) : [] } ?? []
    let words =
      inside + [
        programs + "/navsync-chaos", "device", "--name", name, "--folder", folder, "--daemon",
        isOverWire && network != nil ? Self.wire : socket, "--keys", userKeys, "--seed", "\(seed)",
      ] + stacks.flatMap { ["--stack", $0] }
    return try start(
      Child.Start(
        program: "/usr/bin/env", arguments: words,
        environment: environment.merging(["HOME": self.folder]) { $1 }, log: log,
        copy: "\(self.folder)/\(name).told"), name: name, line: line)
  }
}
