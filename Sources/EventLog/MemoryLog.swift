import Locking
public import NavigationModel
import WireFormat

/// The log's contract in memory: for tests, simulation and `--store memory`. Nothing outlives the process.
///
/// Its readers share a store behind a lock, so that a reader on another thread sees each commit whole.
public final class MemoryLog: EventLog {
  private let store: Locked<MemoryStore>
  private let clock: () -> Int
  private let reader: MemoryReader

  public var epoch: UInt64 { reader.epoch }

  /// - Parameters:
  ///   - epoch: of this log; give it for runs that are to repeat.
  ///   - clock: milliseconds since 1970, asked once a commit; the system's if not given.
  public init(epoch: UInt64 = .random(in: 1...UInt64.max), clock: (() -> Int)? = nil) {
    store = Locked(MemoryStore())
    self.clock = clock ?? { wallClockMilliseconds() }
    reader = MemoryReader(epoch: epoch, store: store)
  }

  public func append(_ appends: [LogAppend]) throws(LogError) -> [Int] {
    let now = clock()
    return try store.withLock { (store: inout MemoryStore) throws(LogError) in
      try store.check(appends)
      return appends.map { store.append($0, at: now) }
    }
  }

  public func keep(_ snapshot: StoredSnapshot, of stack: StackName) {
    store.withLock { $0.stacks[stack]?.snapshot = snapshot }
  }

  public func setFact(_ key: String, _ value: [UInt8]?) { store.withLock { $0.facts[key] = value } }

  public func makeReader() -> sending any EventLogReader { MemoryReader(epoch: epoch, store: store) }

  public func close() {}
}

extension MemoryLog {
  public func info(of stack: StackName) -> StackInfo? { reader.info(of: stack) }

  public func stacks(in space: Name?) -> [StackInfo] { reader.stacks(in: space) }

  public func heads(of stack: StackName) -> [StoredHead] { reader.heads(of: stack) }

  public func read(_ stack: StackName, after offset: Int, maximumBytes: Int) -> [StoredBatch] {
    reader.read(stack, after: offset, maximumBytes: maximumBytes)
  }

  public func offset(in stack: StackName, lackedBy vector: VersionVector) -> Int {
    reader.offset(in: stack, lackedBy: vector)
  }

  public func offset(in stack: StackName, storedSince milliseconds: Int) -> Int {
    reader.offset(in: stack, storedSince: milliseconds)
  }

  public func events(of device: DeviceID, in stack: StackName, sequences: ClosedRange<Int>) -> [[UInt8]] {
    reader.events(of: device, in: stack, sequences: sequences)
  }

  public func snapshot(of stack: StackName) -> StoredSnapshot? { reader.snapshot(of: stack) }

  public func fact(_ key: String) -> [UInt8]? { reader.fact(key) }

  public func facts(prefixed prefix: String) -> [(key: String, value: [UInt8])] { reader.facts(prefixed: prefix) }
}

/// A reader of a ``MemoryLog``.
final class MemoryReader: EventLogReader {
  let epoch: UInt64
  private let store: Locked<MemoryStore>

  init(epoch: UInt64, store: Locked<MemoryStore>) {
    self.epoch = epoch
    self.store = store
  }

  func info(of stack: StackName) -> StackInfo? { store.withLock { $0.stacks[stack]?.info(named: stack) } }

  func stacks(in space: Name?) -> [StackInfo] {
    let all = store.withLock { $0.stacks }
    return all.filter { space == nil || $0.key.space == space }.map { $0.value.info(named: $0.key) }
      .sorted { $0.stack < $1.stack }
  }

  func heads(of stack: StackName) -> [StoredHead] {
    (stored(stack)?.heads.values).map { $0.sorted { $0.device < $1.device } } ?? []
  }

  func read(_ stack: StackName, after offset: Int, maximumBytes: Int) -> [StoredBatch] {
    guard let stored = stored(stack), offset < stored.head else { return [] }
    var result: [StoredBatch] = []
    var size = 0
    for batch in stored.batches[stored.place(of: max(offset + 1, 1))...] {
      size += batch.batch.bytes.count
      if !result.isEmpty, size > maximumBytes { break }
      result.append(batch)
    }
    return result
  }

  func offset(in stack: StackName, lackedBy vector: VersionVector) -> Int {
    guard let stored = stored(stack) else { return 0 }
    var result = stored.head
    for (device, head) in stored.heads where vector[device] < head.sequence {
      result = min(result, stored.batches[stored.place(of: vector[device] + 1, by: device)].firstOffset - 1)
    }
    return result
  }

  func offset(in stack: StackName, storedSince milliseconds: Int) -> Int {
    guard let stored = stored(stack) else { return 0 }
    let place = partitionPoint(0..<stored.batches.count) { stored.batches[$0].storedAt >= milliseconds }
    return place < stored.batches.count ? stored.batches[place].firstOffset - 1 : stored.head
  }

  func events(of device: DeviceID, in stack: StackName, sequences: ClosedRange<Int>) -> [[UInt8]] {
    guard let stored = stored(stack), let head = stored.heads[device] else { return [] }
    let wanted = sequences.clamped(to: 1...head.sequence)
    guard wanted.overlaps(sequences) else { return [] }
    var result: [[UInt8]] = []
    var next = wanted.lowerBound
    while next <= wanted.upperBound {
      let batch = stored.batches[stored.place(of: next, by: device)].batch
      batch.collect(of: device, wanted, into: &result)
      next = wanted.lowerBound + result.count
    }
    return result
  }

  func snapshot(of stack: StackName) -> StoredSnapshot? { stored(stack)?.snapshot }

  func fact(_ key: String) -> [UInt8]? { store.withLock { $0.facts[key] } }

  func facts(prefixed prefix: String) -> [(key: String, value: [UInt8])] {
    store.withLock { $0.facts }.filter { $0.key.utf8.starts(with: prefix.utf8) }
      .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { (key: $0.key, value: $0.value) }
  }

  /// A copy that shares its storage: what is done with it needs no lock.
  private func stored(_ stack: StackName) -> MemoryStore.Stack? { store.withLock { $0.stacks[stack] } }
}

/// What a memory log holds.
struct MemoryStore: Sendable {
  struct Stack: Sendable {
    let policy: Policy
    var batches: [StoredBatch] = []
    var heads: [DeviceID: StoredHead] = [:]
    /// For each device the first sequence that it has in a batch, with the batch's place; ascending.
    var runs: [DeviceID: [(firstSequence: Int, place: Int)]] = [:]
    var snapshot: StoredSnapshot?

    var head: Int { batches.last.map { $0.firstOffset + $0.batch.count - 1 } ?? 0 }

    /// The batch that holds an offset from 1 to the head.
    func place(of offset: Int) -> Int { partitionPoint(0..<batches.count) { batches[$0].firstOffset > offset } - 1 }

    /// The batch that holds a device's event of a sequence from 1 to its head.
    func place(of sequence: Int, by device: DeviceID) -> Int {
      let runs = runs[device]!
      return runs[partitionPoint(0..<runs.count) { runs[$0].firstSequence > sequence } - 1].place
    }

    func info(named stack: StackName) -> StackInfo {
      StackInfo(
        stack: stack, policy: policy, head: head, lastStored: batches.last?.storedAt ?? 0, devices: heads.count)
    }
  }

  var stacks: [StackName: Stack] = [:]
  var facts: [String: [UInt8]] = [:]

  /// Throws if one of them doesn't follow what is stored and the ones before it.
  func check(_ appends: [LogAppend]) throws(LogError) {
    var before: [StackName: [DeviceID: Int]] = [:]
    for append in appends {
      try append.check { before[append.stack]?[$0] ?? stacks[append.stack]?.heads[$0]?.sequence ?? 0 }
      for head in append.heads { before[append.stack, default: [:]][head.device] = head.sequence }
    }
  }

  /// Adds what was checked, and gives its first offset.
  mutating func append(_ append: LogAppend, at now: Int) -> Int {
    guard append.batch.count > 0 else { return (stacks[append.stack]?.head ?? 0) + 1 }
    return stacks[append.stack, default: Stack(policy: append.policy)].append(append, at: now)
  }
}

extension MemoryStore.Stack {
  mutating func append(_ append: LogAppend, at now: Int) -> Int {
    let first = head + 1
    for author in append.batch.authors {
      runs[author.device, default: []].append((author.firstSequence, batches.count))
      heads[author.device] = append.head(of: author.device)
    }
    // Times of storing don't go back in a stack, whatever the clock does, so that they can be searched.
    let time = max(now, batches.last?.storedAt ?? now)
    batches.append(StoredBatch(firstOffset: first, batch: append.batch, storedAt: time))
    return first
  }
}

extension EventBatch {
  /// The canonical bytes of a device's events of these sequences, in order.
  func collect(of device: DeviceID, _ sequences: ClosedRange<Int>, into result: inout [[UInt8]]) {
    forEach { record in
      if record.dot.device == device, sequences.contains(record.dot.sequence) {
        result.append(Array(bytes[record.range]))
      }
    }
  }
}

/// The first place where something that stays true holds; the end if it never does. O(log count).
func partitionPoint<E: Error>(_ range: Range<Int>, _ holds: (Int) throws(E) -> Bool) throws(E) -> Int {
  var low = range.lowerBound
  var high = range.upperBound
  while low < high {
    let middle = (low + high) / 2
    if try holds(middle) { high = middle } else { low = middle + 1 }
  }
  return low
}
