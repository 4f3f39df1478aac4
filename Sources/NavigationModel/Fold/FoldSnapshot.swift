/// A fold's state, to go on from without the events before: numbers and values, in the order that this version of the
/// fold writes them.
///
/// Nothing is left out of it while nothing is forgotten, since a device that was long away may yet name any entry: it
/// folds every later event as the whole history would, and is about as large as the history. ``StackFold/forget(stable:)``
/// makes it small.
public struct FoldSnapshot: Hashable, Sendable {
  /// Of the fold that wrote it; another version's can't be read.
  public var version: Int
  public var policy: Policy
  public var numbers: [Int]
  public var values: [Value]

  public init(version: Int, policy: Policy, numbers: [Int], values: [Value]) {
    self.version = version
    self.policy = policy
    self.numbers = numbers
    self.values = values
  }
}

/// Why a snapshot can't be read. It can always be made again from the events.
public enum SnapshotError: Error, Hashable {
  case otherVersion(Int)
  case damaged
}

/// Reads numbers back, each within what it may be.
struct NumberReader {
  private let numbers: [Int]
  private var at = 0

  init(_ numbers: [Int]) { self.numbers = numbers }

  mutating func number() throws(SnapshotError) -> Int {
    guard at < numbers.count else { throw .damaged }
    at += 1
    return numbers[at - 1]
  }

  mutating func number(in range: ClosedRange<Int>) throws(SnapshotError) -> Int {
    let number = try number()
    guard range.contains(number) else { throw .damaged }
    return number
  }

  /// A count of things that take at least one number each.
  mutating func count() throws(SnapshotError) -> Int { try number(in: 0...(numbers.count - at)) }

  mutating func small(in range: ClosedRange<Int>) throws(SnapshotError) -> Int32 {
    Int32(try number(in: max(range.lowerBound, Int(Int32.min))...min(range.upperBound, Int(Int32.max))))
  }

  mutating func key() throws(SnapshotError) -> EventKey {
    let timestamp = Timestamp(milliseconds: try number(), counter: try number())
    return EventKey(timestamp, try device())
  }

  mutating func device() throws(SnapshotError) -> DeviceID {
    DeviceID(high: UInt64(bitPattern: Int64(try number())), low: UInt64(bitPattern: Int64(try number())))
  }

  mutating func end() throws(SnapshotError) {
    guard at == numbers.count else { throw .damaged }
  }
}

extension [Int] {
  mutating func append(_ key: EventKey) {
    append(key.timestamp.milliseconds)
    append(key.timestamp.counter)
    append(key.device)
  }

  mutating func append(_ device: DeviceID) {
    append(Int(Int64(bitPattern: device.high)))
    append(Int(Int64(bitPattern: device.low)))
  }

  mutating func append(_ dot: Dot) {
    append(dot.device)
    append(dot.sequence)
  }
}

extension StackFold {
  /// The state as it is now. O(entries and events remembered).
  public mutating func snapshot() -> FoldSnapshot {
    var numbers: [Int] = []
    index.write(to: &numbers)
    if policy == .merge {
      merge.refreshRows(index)
      merge.write(to: &numbers)
    } else {
      register.write(to: &numbers)
    }
    return FoldSnapshot(
      version: StackFold.version, policy: policy, numbers: numbers,
      values: policy == .merge ? merge.values : register.values)
  }

  /// The fold that wrote the snapshot. Whatever the numbers are, this throws or gives a fold that works.
  public init(_ snapshot: FoldSnapshot) throws(SnapshotError) {
    guard snapshot.version == StackFold.version else { throw .otherVersion(snapshot.version) }
    var reader = NumberReader(snapshot.numbers)
    var index = CausalIndex()
    try index.read(from: &reader)
    var merge = MergeFold()
    var register = RegisterFold(leader: snapshot.policy.leader)
    if snapshot.policy == .merge {
      try merge.read(from: &reader, values: snapshot.values, index)
    } else {
      try register.read(from: &reader, values: snapshot.values, index)
    }
    try reader.end()
    self.init(policy: snapshot.policy, index: index, merge: merge, register: register)
  }
}
