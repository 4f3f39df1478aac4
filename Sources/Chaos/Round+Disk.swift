import Foundation
import Glibc
import Locking
import Simulation

extension Round {
  /// What stands on the disk whose faults these are: the daemon's store, and that of the first device.
  private var beside: DrivenDevice { fleet.devices[0] }

  mutating func full() async throws {
    guard let disk = fleet.place.disk else { return }
    try disk.fill()
    fleet.note("the disk is full")
    try await pause(300...1500)
    if random.chance(0.4) { try await restartOnBadDisk() }
    // It says so when the first append meets it.
    if fleet.daemon != nil { try await waitForLine("full") }
    disk.empty()
    fleet.note("the disk has room again")
    if fleet.daemon == nil { try await fleet.startDaemon() }
    if beside.child?.ending != nil { try await restart(beside) }
  }

  mutating func readOnly() async throws {
    guard let disk = fleet.place.disk else { return }
    let promised = fleet.promised
    try disk.turnReadOnly()
    fleet.note("the disk is read-only")
    try await pause(300...1500)
    try await waitForLine("readonly")
    if random.chance(0.5) { try await restartOnBadDisk() }
    if fleet.daemon != nil { try await fleet.stopDaemon() }
    try await mountAgain(promised)
  }

  mutating func power() async throws {
    guard let disk = fleet.place.disk else { return }
    let promised = fleet.promised
    try disk.cutPower()
    fleet.note("the power of the disk is cut")
    try await pause(0...500)
    try await fleet.killDaemon()
    try await mountAgain(promised)
  }

  /// - Parameter promised: what was acknowledged before the disk failed. Just while its journal is given up ext4 may say of
  ///   something that it is on the disk which then isn't (`jbd2_complete_transaction` of Linux finds nothing to wait for).
  private mutating func mountAgain(_ promised: Ledger) async throws {
    try await beside.kill()
    try fleet.place.disk?.mountAgain()
    fleet.note("the disk is mounted anew")
    try fleet.checkDaemonKept(promised)
    try fleet.checkKept(beside, promised)
    if let device = beside.device { fleet.ledger.withLock { $0.mayBeLost(of: device, since: promised) } }
    try await fleet.startDaemon()
    try start(beside)
  }

  /// A daemon that is started on a bad disk serves what it has, or says why it doesn't.
  private mutating func restartOnBadDisk() async throws {
    try await fleet.killDaemon()
    guard try await fleet.tryDaemon() != nil else { return }
    try fleet.expectDaemonSaid(fleet.place.daemonStore)
  }

  private mutating func restart(_ device: DrivenDevice) async throws {
    fleet.note("\(device.name) ended by itself: \(device.lastLine)")
    try await device.kill()
    try start(device)
  }

  /// Until the daemon's log has a line with this text.
  func waitForLine(_ text: String) async throws {
    _ = try await waiting(.seconds(20), "a line of the daemon with '\(text)'") {
      fleet.daemonLines().contains { $0.contains(text) } ? true : nil
    }
    try fleet.expectDaemonSaid(text)
  }
}
