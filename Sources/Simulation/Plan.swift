import NavigationModel
import WireFormat

/// What goes wrong in a simulated world, by kind.
public enum FaultKind: String, CaseIterable, Sendable {
  case connectionCut = "connection cut"
  case partition
  case oneWayPartition = "one-way partition"
  case slowNetwork = "slow network"
  case duplicate = "message duplicated"
  case stuckDevice = "device stuck"
  case stuckDaemon = "daemon stuck"
  case deviceCrash = "device crash"
  case deviceCrashInDisk = "device crash at a disk operation"
  case deviceRestart = "device closed for hours"
  case daemonCrash = "daemon crash"
  case daemonCrashInDisk = "daemon crash at a disk operation"
  case deviceDiskFull = "device disk full"
  case daemonDiskFull = "daemon disk full"
  case deviceDiskErrors = "device disk errors"
  case daemonDiskErrors = "daemon disk errors"
  case deviceClockJump = "device clock jumps"
  case deviceClockAhead = "device clock an hour ahead"
  case deviceClockDrift = "device clock drifts"
  case daemonClockJump = "daemon clock jumps"
  case backupRestored = "device restored from a backup"
  case daemonLostSeconds = "daemon lost its last seconds"
  case daemonLostStore = "daemon lost its store"
}

/// A world before it begins: who is in it, and how often what goes wrong. All of it follows from the seed.
public struct Plan: Sendable {
  /// How large worlds are made.
  public enum Size: Sendable {
    /// For tests: a fraction of a second each.
    case small
    case full
  }

  public let seed: UInt64
  var devices: Int
  var stacks: [StackName]
  var policy: Policy
  /// How long people act and things go wrong, in milliseconds.
  var duration: Int
  /// Between two actions of a person who is at it, on average.
  var pause: Int
  /// Of a message, in milliseconds.
  var latency: ClosedRange<Int>
  /// The time between two faults of a kind, on average; kinds that don't happen aren't there.
  var faults: [FaultKind: Int]
  /// Of a message, while that fault is on.
  var duplicates = 0.0
  var limits = Limits()
  var batchBytes: Int
  var commitBytes: Int
  var maximumBacklog: Int
  var idleStacks: Int
  /// Messages that a connection holds in one direction.
  var highWaterMark: Int
  /// Of the actions: how many name what they did with an id.
  var intentIDs: Double
  var random: Randomness

  /// At most so long after all faults ended everyone shows the same, in milliseconds.
  static let levelWithin = 240_000

  public init(seed: UInt64, size: Size) {
    self.seed = seed
    var random = Randomness(seed: seed)
    let isSmall = size == .small
    devices = random.chance(0.7) ? random.int(2...4) : random.int(2...(isSmall ? 6 : 12))
    let space = Plan.name("alice")
    stacks = ["main", "music", "work"].prefix(random.chance(0.6) ? 1 : random.int(1...3)).map {
      StackName(space: space, stack: Plan.name($0))
    }
    policy = random.chance(0.6) ? .merge : random.chance(0.5) ? .latest : .lead(Plan.firstDevice(of: seed))
    duration = isSmall ? random.int(20_000...90_000) : random.int(60_000...600_000)
    let actions = isSmall ? random.int(20...90) : random.int(50...400)
    pause = max(50, duration * devices / actions)
    latency = random.chance(0.5) ? 0...2 : 1...random.int(10...400)
    faults = [:]
    // Some worlds know one fault and often, others many; a few know none.
    let share = random.pick([0.0, 0.08, 0.2, 0.4, 0.7])
    for kind in FaultKind.allCases where random.chance(share) {
      faults[kind] = duration / random.int(1...8)
    }
    if random.chance(0.3) { faults[random.pick(FaultKind.allCases)] = duration / random.int(4...20) }
    // What a restored device does under its old id while the daemon has forgotten that id is a fork that no rule for one
    // daemon settles.
    if faults[.backupRestored] != nil {
      faults[.daemonLostSeconds] = nil
      faults[.daemonLostStore] = nil
    }
    if faults[.duplicate] != nil { duplicates = Double(random.int(1...20)) / 100 }
    if random.chance(0.4) { limits.credit = random.int(200...8000) }
    if random.chance(0.2) { limits.eventsAnAppend = random.int(1...8) }
    batchBytes = random.chance(0.5) ? 192 << 10 : random.int(100...2000)
    commitBytes = random.chance(0.5) ? 256 << 10 : random.int(100...4000)
    maximumBacklog = random.chance(0.7) ? 16 << 20 : random.int(8_000...40_000)
    idleStacks = random.chance(0.5) ? 1024 : random.int(0...1)
    highWaterMark = random.chance(0.6) ? 256 : random.int(4...32)
    intentIDs = random.chance(0.5) ? 0 : 0.3
    self.random = random
  }

  static func name(_ text: String) -> Name {
    do { return try Name(text) } catch { preconditionFailure("\(error)") }
  }

  /// The id of the first device: the one that leads.
  static func firstDevice(of seed: UInt64) -> DeviceID {
    var random = Randomness(seed: ~seed)
    return DeviceID(high: random.next(), low: random.next())
  }
}
