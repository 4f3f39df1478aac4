import NavigationModel
import WireFormat

/// What the decoder needs to go on behind so many events.
struct Checkpoint {
  var count: Int
  /// Where the next event's bytes begin.
  var offset: Int
  var authors: [AuthorState]
}

/// Checkpoints of a history, close enough that an event is found quickly, few enough to be kept.
///
/// They are 2,048 events apart at first. When they take more than they may every second one is dropped, and those
/// to come are twice as far apart: so a longer history, or one of more devices, costs time where an event is looked up
/// and not memory.
struct Checkpoints {
  private(set) var all = [Checkpoint(count: 0, offset: 0, authors: [])]
  private var distance = 2048
  private var bytes = 0
  private let maximumBytes: Int

  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  /// Whether so many events call for the next one.
  func isDue(at count: Int) -> Bool { count - all[all.count - 1].count >= distance }

  mutating func add(_ checkpoint: Checkpoint) {
    all.append(checkpoint)
    bytes += Self.size(checkpoint)
    while bytes > maximumBytes, all.count > 1 {
      distance *= 2
      // The first stands for the beginning, and takes nothing.
      all = all.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
      bytes = all.reduce(0) { $0 + Self.size($1) }
    }
  }

  /// The last one with fewer events than the number.
  func last(before number: Int) -> Checkpoint {
    var low = 0
    var high = all.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if all[middle].count < number { low = middle } else { high = middle }
    }
    return all[low]
  }

  /// At most: what an author didn't change is shared with the checkpoint before.
  private static func size(_ checkpoint: Checkpoint) -> Int {
    checkpoint.authors.reduce(64) { $0 + 160 + $1.context.elements.count * 24 + $1.table.count * 16 }
  }
}
