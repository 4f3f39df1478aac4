import ArgumentParsing

/// What goes wrong in a round.
package enum Fault: String, CaseIterable, ArgumentValue {
  /// `kill -9` of the daemon, under load, up to three times.
  case killDaemon = "kill-daemon"
  /// `kill -9` of devices.
  case killDevice = "kill-device"
  /// All processes are killed at once.
  case killAll = "kill-all"
  /// A process is stopped for a while and goes on.
  case stop
  /// The wire to half of the devices is cut.
  case cut
  /// The disk is full.
  case full
  /// The disk turns read-only.
  case readOnly = "read-only"
  /// The power goes: what wasn't synced is gone.
  case power
  /// Bytes of a store are changed.
  case damage
  /// A file of a store is cut short.
  case truncate
  /// More connections than the daemon may have open files.
  case descriptors
  /// A clock is set.
  case clock
  /// The daemon's store is replaced by an older backup.
  case backup
  /// A device's store is replaced by an older backup.
  case deviceBackup = "device-backup"

  /// How often it comes among the others.
  var weight: Int {
    switch self {
    case .killDaemon: 6
    case .killDevice, .killAll: 3
    case .stop, .cut, .full, .readOnly, .power, .damage, .truncate, .descriptors, .clock, .backup, .deviceBackup: 1
    }
  }

  /// Why it can't be done here, nil if it can.
  func obstacle(_ means: Means) -> String? {
    switch self {
    case .full, .readOnly, .power: means.diskObstacle
    case .cut: means.networkObstacle
    case .clock: means.clockObstacle
    case .killDaemon, .killDevice, .killAll, .stop, .damage, .truncate, .descriptors, .backup, .deviceBackup: nil
    }
  }
}

/// What this machine allows.
package struct Means: Sendable {
  var diskObstacle: String?
  var networkObstacle: String?
  var clockObstacle: String?

  package static func found() -> Means {
    Means(diskObstacle: Disk.obstacle(), networkObstacle: Network.obstacle(), clockObstacle: FakeClock.obstacle())
  }
}
