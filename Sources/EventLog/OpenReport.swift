/// What opening a store found. Nothing is ever cut or healed without standing here.
public struct OpenReport: Hashable, Sendable {
  public enum Notice: Hashable, Sendable, CustomStringConvertible {
    /// A new store was made.
    case created
    /// A commit that was under way when the last process ended was dropped; it wasn't acknowledged.
    case cutTail(bytes: Int)
    /// The write-ahead log is broken in the middle; that many commits after the place are lost. The file was kept.
    case damagedInTheMiddle(at: Int, commits: Int, keptAs: String)
    /// A batch that was acknowledged isn't there.
    case wentBackwards(stack: String, offset: Int)
    /// The file of heads, which would show whether something was lost, isn't there: as after restoring a backup.
    case withoutHeads
    /// Other users of the machine can read what is in the store, or put something else there.
    case openToOthers(path: String, mode: UInt32)

    public var description: String {
      switch self {
      case .created: "a new store was made"
      case .cutTail(let bytes):
        "the last \(bytes) bytes of the write-ahead log belong to a commit that was cut short; it was never acknowledged"
      case .damagedInTheMiddle(let at, let commits, let kept):
        "the write-ahead log is broken at byte \(at) and \(commits) commits after it are lost here; devices bring back "
          + "what they hold; the broken file was kept as \(kept)"
      case .wentBackwards(let stack, let offset):
        "the store went backwards: the batch of \(stack) at offset \(offset) was acknowledged and is not there; "
          + "devices bring back what they hold"
      case .withoutHeads:
        "the file of heads is missing, as after restoring a backup; the store has a new epoch, to be safe"
      case .openToOthers(let path, let mode):
        "other users can \(mode & 0o022 != 0 ? "change" : "read") it: \(path) has mode "
          + "\(String(mode, radix: 8)); run chmod go= on it, unless that is meant"
      }
    }

    /// Whether a person should hear of it at once.
    public var isAlarm: Bool {
      switch self {
      case .created, .cutTail: false
      case .damagedInTheMiddle, .wentBackwards, .withoutHeads, .openToOthers: true
      }
    }
  }

  public var epoch: UInt64
  /// Whether the epoch is another than at the last opening.
  public var isNewEpoch: Bool
  public var notices: [Notice]
}
