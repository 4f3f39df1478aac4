package import ArgumentParsing
import EventLog
import Foundation
import NavigationClient
import NavigationModel

/// Which store: a daemon's, a device's, or one by its folder.
package struct StoreChoice: ParsableOptions {
  @Option(placeholder: "PATH", help: "The store in this folder; without it the daemon's.") var store: String?
  @Option(placeholder: "NAME", help: "The store of this device.") var device: String?

  package init() {}

  package func validate() throws {
    if store != nil, device != nil { throw ValueError("--store and --device name two stores; leave one out") }
  }

  /// The store's folder.
  func folder() throws -> String {
    if let store { return store }
    if let device { return try deviceFolder(named: device) }
    return Device.stateFolder + "/daemon"
  }
}

/// `navsync backup`.
package struct Backup: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "backup", abstract: "Copy a store while it is in use.",
    discussion: """
      The copy is a store of its own: every command with --store reads it, 'navsync verify --store' checks it, and \
      'navsync restore-backup' puts it to use. It is as of the moment at which the command began.
      """,
    examples: [
      CommandExample("navsync backup /mnt/backup/2026-03-01", "The daemon's store, also while it runs."),
      CommandExample("navsync backup /mnt/backup/phone --device phone", "A device's."),
    ])

  @Argument(help: "An empty folder, or one that is made.") var folder: String
  @OptionGroup var choice: StoreChoice

  package init() {}

  package func run(on console: Console) async throws {
    let store = try choice.folder()
    do {
      try SQLiteLog.openReader(at: store).backup(to: folder)
      let copy = try SQLiteLog.openReader(at: folder)
      let stacks = try copy.stacks(in: nil)
      let events = stacks.reduce(0) { $0 + $1.head }
      console.say("\(folder): \(counted(events, "event")) in \(counted(stacks.count, "stack")) of \(store)")
    } catch { throw commandError(error) }
  }
}

/// `navsync restore-backup`.
package struct RestoreBackup: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "restore-backup", abstract: "Put a backup to use as a store, as a new incarnation.",
    discussion: """
      The backup is checked first, and a damaged one is refused. A device takes a new id, so that it never acts twice \
      under one; a daemon gets a new epoch, and its devices bring back what the backup lacks. A store that is there is \
      never overwritten: move it away first. Stop the daemon, or whatever uses the device, before.
      """,
    examples: [
      CommandExample("navsync restore-backup /mnt/backup/2026-03-01", "As the daemon's store."),
      CommandExample("navsync restore-backup /mnt/backup/phone --device phone", "As a device's."),
    ])

  @Argument(help: "The backup's folder.") var backup: String
  @OptionGroup var choice: StoreChoice

  package init() {}

  package func run(on console: Console) async throws {
    let folder = try choice.folder()
    guard !isThere(folder + "/log.sqlite3") else {
      throw CommandError(.refused, "there is a store in \(folder) already; move it away first")
    }
    do {
      let reader = try SQLiteLog.openReader(at: backup)
      let checked = try verify(reader, only: nil) { _ in }
      if let problem = checked.problems.first {
        throw CommandError(.damage, "\(backup) is damaged: \(problem); nothing was restored")
      }
      // Made beside it, so that a store without its new identity is never in use; no device's name has a '~'.
      let part = folder + "~restored"
      let files = FileManager.default
      if isThere(part) { try files.removeItem(atPath: part) }
      try reader.backup(to: part)
      // A device's log says whose it is. A daemon's begins a new epoch when the daemon opens it, which tells of it.
      let id = try reader.fact("device") == nil ? nil : try Self.renewDevice(in: part)
      // The folder may be there, empty: it then takes what was made.
      if rmdir(folder) != 0, errno != ENOENT {
        let reason = systemMessage()
        try files.removeItem(atPath: part)
        throw CommandError(.refused, "'\(folder)' can't be the store's folder: \(reason); name an empty one")
      }
      try files.moveItem(atPath: part, toPath: folder)
      console.say(
        "\(folder): \(counted(checked.events, "event")) in \(counted(checked.stacks, "stack"))"
          + (id.map { "; the device's new id is \($0)" } ?? "; the daemon begins a new epoch"))
    } catch let error as LogError { throw commandError(error) }
  }
  private static func renewDevice(in folder: String) throws -> DeviceID {
    let log = try SQLiteLog.open(at: folder, program: "navsync", create: false)
    let id = try Device.renew(log, in: folder)
    try log.close()
    return id
  }
}
