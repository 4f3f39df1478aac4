import NavigationModel

/// Something that happens in a simulated world, at a time.
struct Step: Hashable, Sendable {
  /// In milliseconds from the beginning.
  var at: Int
  var what: What

  enum What: Hashable, Sendable {
    /// A person acts. `id` names the action, so that it isn't done twice.
    case act(device: Int, stack: Int, Doing, id: Int?)
    /// The action of that id is delivered once more: a double tap, or a program that never had its answer.
    case again(device: Int, id: Int)
    case fault(Fault)
  }

  /// What a person does, whatever is shown then.
  enum Doing: Hashable, Sendable {
    case push(Int)
    /// One value, of a few kilobytes.
    case pushLong
    case pop(Int)
    /// Closes the top entries of what the person saw when they acted last.
    case close(Int)
    case popToRoot
    /// Keeps so many of the shown entries and puts so many new ones on them; then that of the page "home", if asked for.
    case set(keep: Int, add: Int, home: Bool)
    case replace
  }
}

/// Something goes wrong. What the numbers mean is said by the kind.
struct Fault: Hashable, Sendable {
  var kind: FaultKind
  var places: [Place] = []
  var amount = 0
  var other = 0
  /// How long it lasts, in milliseconds, if it is something that lasts.
  var lasts = 0

  /// As it is counted: `device disk full`.
  var name: String {
    guard let place = places.first, kind.isOfOne else { return kind.rawValue }
    return "\(place.kind) \(kind.rawValue)"
  }
}

/// What can go wrong, by kind. In a scenario's text a fault is `kind: who, amount, for how long`, as in
/// `disk errors: device-1 reads 20 writes 10 for 5.000`; times are in seconds, other numbers as said here.
enum FaultKind: String, CaseIterable, Sendable {
  // The network.
  /// A connection of a device, or of a daemon's link, ends with all that is under way.
  case connectionCut = "connection cut"
  /// Between these and all others nothing passes.
  case partition
  /// What these send doesn't pass.
  case partitionOut = "one-way partition, out"
  /// What is sent to these doesn't pass.
  case partitionIn = "one-way partition, in"
  /// Each message takes so many milliseconds more.
  case slowNetwork = "slow network"
  /// So many of a thousand messages come twice.
  case duplicates = "messages duplicated"
  // Processes.
  /// It does nothing for a while.
  case stuck
  /// It ends without a word, and starts again after a while.
  case crash
  /// It ends in a write to its disk: the so-manieth from now on, which is there or not.
  case crashInDisk = "crash at a disk operation"
  /// The person closes it, for a while.
  case closed
  // Disks.
  case diskFull = "disk full"
  /// So many of a hundred reads and writes fail.
  case diskErrors = "disk errors"
  // Clocks.
  /// By so many milliseconds.
  case clockJump = "clock jumps"
  /// By so many milliseconds of the true time, whatever it was before.
  case clockAhead = "clock ahead"
  /// By so many millionths.
  case clockDrift = "clock drifts"
  // What destroys.
  /// A copy of the device's folder is made, for `restored`.
  case backup = "backed up"
  /// The device's folder is what it was at the last backup; it starts again after a while.
  case restored = "restored from a backup"
  /// The first device's folder becomes a copy of the second's: both act under one id. It starts again after a while.
  case cloned
  /// What was stored in the last so many milliseconds is gone; `other` is 1 if the daemon notices. It starts again after a
  /// while.
  case lostSeconds = "lost its last seconds"
  /// All is gone. The daemon starts again after a while.
  case lostStore = "lost its store"
  // Others.
  /// The device goes to another daemon: that number.
  case moved
  /// What it sends carries what only a newer version knows, and there are messages of unknown kinds.
  case newer = "speaks a newer version"
  /// It greets with another version of the protocol, so that it isn't let in.
  case otherVersion = "speaks another version"
  /// The daemon was a newer one while it was away, and took in events of a kind that only that one can read.
  case wasNewer = "was of a newer version"

  /// Whether it has one place, of either kind.
  var isOfOne: Bool {
    switch self {
    case .connectionCut, .stuck, .crash, .crashInDisk, .diskFull, .diskErrors, .clockJump, .clockAhead, .clockDrift,
      .lostSeconds, .lostStore, .restored, .cloned, .moved, .closed, .newer, .otherVersion, .wasNewer:
      true
    case .partition, .partitionOut, .partitionIn, .slowNetwork, .duplicates, .backup: false
    }
  }

  /// How the numbers are called in a scenario's text.
  var words: (amount: String?, other: String?) {
    switch self {
    case .connectionCut, .partition, .partitionOut, .partitionIn, .stuck, .crash, .closed, .diskFull, .backup,
      .restored, .cloned, .lostStore, .newer, .otherVersion, .wasNewer:
      (nil, nil)
    case .slowNetwork, .clockJump, .clockAhead, .clockDrift: ("by", nil)
    case .duplicates: ("permille", nil)
    case .crashInDisk: ("after", nil)
    case .diskErrors: ("reads", "writes")
    case .lostSeconds: ("since", "noticed")
    case .moved: ("to", nil)
    }
  }

  /// Whether one dot may stand for two events after it, on different disks.
  var mayForkHistory: Bool { self == .restored || self == .cloned }
}
