import Foundation
import Glibc
import Simulation

extension Round {
  // MARK: Damage

  /// Kills the daemon or a device, spoils its store, and starts it again.
  mutating func spoil(_ change: (StoreFile, inout Randomness) throws -> String?) async throws {
    if random.chance(0.6) {
      try await fleet.killDaemon()
      try spoil(fleet.place.daemonStore, change)
      try await startSpoilt()
    } else {
      let device = random.pick(fleet.devices)
      try await device.kill()
      fleet.note("\(device.name) is killed")
      let lost = device.noteLostDisk()
      try spoil(device.folder, change)
      if lost > 0 { fleet.note("\(lost) actions of \(device.name) were on no other disk, and may be lost") }
      try await startSpoilt(device)
    }
  }

  private mutating func spoil(_ folder: String, _ change: (StoreFile, inout Randomness) throws -> String?) throws {
    let names = ["log.sqlite3", "log.sqlite3-wal", "log.sqlite3-wal", "heads"]
    for _ in 0..<8 {
      guard let what = try change(StoreFile(path: folder + "/" + random.pick(names)), &random) else { continue }
      return fleet.note(what)
    }
  }

  /// What an operator does: look whether it serves; if it doesn't, or the store isn't whole, put it aside and begin with an
  /// empty one: devices bring back what they hold.
  private mutating func startSpoilt() async throws {
    if try await fleet.tryDaemon() != nil {
      try fleet.expectDaemonSaid(fleet.place.daemonStore)
      return try await beginAnew()
    }
    try await pause(200...600)
    if fleet.daemon?.ending != nil {
      throw Failure("the daemon ended by itself on a damaged store: \(fleet.daemonLines().last ?? "it said nothing")")
    }
    guard let problem = try fleet.problem(of: fleet.place.daemonStore) else { return }
    fleet.note("'navsync verify' says: \(problem)")
    try await fleet.killDaemon()
    try await beginAnew()
  }

  private func beginAnew() async throws {
    try fleet.putAside(fleet.place.daemonStore)
    fleet.note("the daemon's store is put aside")
    try await fleet.startDaemon()
  }

  private mutating func startSpoilt(_ device: DrivenDevice) async throws {
    try start(device)
    try await pause(200...600)
    // One that can't open its store ends, or opens and says of a stack that it can't be read.
    let problem = try fleet.problem(of: device.folder)
    guard device.child?.ending != nil || problem != nil else { return }
    fleet.note("\(device.name): \(problem ?? device.lastLine)")
    try await device.kill()
    let lost = device.noteLostDisk()
    try fleet.putAside(device.folder)
    fleet.note("the store of \(device.name) is put aside, with \(lost) actions that are on no other disk")
    try start(device)
  }

  // MARK: Backups

  mutating func backup() async throws {
    let copy = "\(fleet.place.folder)/backup"
    if access(copy, F_OK) != 0 {
      try await back(up: fleet.place.daemonStore, to: copy)
      try await pause(200...1000)
    }
    if random.chance(0.5) { try await fleet.stopDaemon() } else { try await fleet.killDaemon() }
    try fleet.putAside(fleet.place.daemonStore)
    try await restore(copy, as: fleet.place.daemonStore)
    try await fleet.startDaemon()
    try fleet.expectDaemonSaid("the file of heads is missing")
    // The next one is younger.
    if random.chance(0.5) { try FileManager.default.removeItem(atPath: copy) }
  }

  mutating func deviceBackup() async throws {
    let device = random.pick(fleet.devices)
    let copy = "\(fleet.place.folder)/backup-\(device.name)"
    if access(copy, F_OK) != 0 {
      try await back(up: device.folder, to: copy)
      try await pause(200...1000)
    }
    try await device.kill()
    let lost = device.noteLostDisk()
    fleet.note("\(device.name) is killed, its disk lost, and \(lost) actions with it")
    try fleet.putAside(device.folder)
    try await restore(copy, as: device.folder)
    try start(device)
    if random.chance(0.5) { try FileManager.default.removeItem(atPath: copy) }
  }

  private func back(up store: String, to copy: String) async throws {
    let said = try await fleet.navsync("backup", copy, "--store", store)
    fleet.note("backup: " + said)
  }

  private func restore(_ copy: String, as store: String) async throws {
    let said = try await fleet.navsync("restore-backup", copy, "--store", store)
    fleet.note("restored: " + said)
  }
}

extension Fleet {
  /// Moves a store away; it stays for who wants to look at it.
  func putAside(_ folder: String) throws {
    var number = 1
    while access("\(folder).aside-\(number)", F_OK) == 0 { number += 1 }
    try FileManager.default.moveItem(atPath: folder, toPath: "\(folder).aside-\(number)")
  }

  func navsync(_ words: String...) async throws -> String {
    try await command([place.programs + "/navsync"] + words, environment: ["HOME": place.folder], in: place.folder)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

/// A file of a store that nobody has open.
struct StoreFile {
  var path: String

  /// - Returns: what was done; nil if the file is empty or not there.
  func changeBytes(_ random: inout Randomness) throws -> String? {
    guard var bytes = contents() else { return nil }
    let count = random.int(1...8)
    let start = random.int(0...bytes.count - 1)
    for _ in 1...count {
      // Some apart, some together, as a bad sector is.
      let place =
        random.chance(0.5) ? random.int(0...bytes.count - 1) : min(start + random.int(0...511), bytes.count - 1)
      bytes[place] ^= UInt8(random.int(1...255))
    }
    try put(bytes)
    return "\(count) bytes of \(path) (\(bytes.count) bytes) are changed"
  }

  func cutShort(_ random: inout Randomness) throws -> String? {
    guard var bytes = contents() else { return nil }
    let length = random.int(0...bytes.count - 1)
    let before = bytes.count
    bytes.removeSubrange(length...)
    try put(bytes)
    return "\(path) is cut from \(before) bytes to \(length)"
  }

  private func contents() -> Data? {
    FileManager.default.contents(atPath: path).flatMap { $0.isEmpty ? nil : $0 }
  }

  private func put(_ bytes: Data) throws { try bytes.write(to: URL(fileURLWithPath: path)) }
}
