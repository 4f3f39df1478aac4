public import NavigationModel
import WireFormat

/// A reader of a store on the disk, with a connection of its own. Reads beside a running writer, also of another
/// process; every batch's checksum is checked as it is read, and a broken one throws `.damaged` with stack and offset.
public final class SQLiteReader: EventLogReader {
  public let epoch: UInt64

  let database: Database
  private let findStack: Statement
  private let listStacks: Statement
  private let lastBatch: Statement
  private let batches: Statement
  private let listHeads: Statement
  private let countHeads: Statement
  private let findHead: Statement
  private let findRun: Statement
  private let findSnapshot: Statement
  private let findFact: Statement
  private let listFacts: Statement

  /// On a connection that is shared with the writer.
  init(_ database: Database) throws(LogError) {
    self.database = database
    try database.execute(Schema.reading)
    epoch = try Schema.epoch(of: database)
    findStack = try Statement(database, "SELECT id, policy, checksum FROM stacks WHERE space = ? AND name = ?")
    listStacks = try Statement(
      database, "SELECT id, space, name, policy, checksum FROM stacks WHERE space BETWEEN ? AND ? ORDER BY space, name")
    lastBatch = try Statement(
      database,
      "SELECT place, count, stored_at, checksum FROM batches WHERE place BETWEEN ? AND ? ORDER BY place DESC LIMIT 1")
    batches = try Statement(
      database,
      "SELECT place, count, stored_at, checksum, events FROM batches WHERE place BETWEEN ? AND ? ORDER BY place")
    listHeads = try Statement(
      database, "SELECT device, sequence, digest, id FROM heads WHERE stack = ? ORDER BY device")
    countHeads = try Statement(database, "SELECT count(*) FROM heads WHERE stack = ?")
    findHead = try Statement(database, "SELECT id, sequence FROM heads WHERE stack = ? AND device = ?")
    findRun = try Statement(
      database, "SELECT offset FROM runs WHERE head = ? AND first <= ? ORDER BY first DESC LIMIT 1")
    findSnapshot = try Statement(
      database, "SELECT fold_version, offset, bytes, checksum FROM snapshots WHERE stack = ?")
    findFact = try Statement(database, "SELECT key, value, checksum FROM facts WHERE key = ?")
    listFacts = try Statement(database, "SELECT key, value, checksum FROM facts WHERE key >= ? ORDER BY key")
  }

  public func info(of stack: StackName) throws(LogError) -> StackInfo? {
    guard let (id, policy) = try find(stack) else { return nil }
    return try info(id, stack, policy)
  }

  public func stacks(in space: Name?) throws(LogError) -> [StackInfo] {
    listStacks.bind(1, space?.description ?? "")
    // Above all that a name may begin with.
    listStacks.bind(2, space?.description ?? "~")
    defer { listStacks.reset() }
    var result: [StackInfo] = []
    while try listStacks.step() {
      let text = "\(listStacks.text(1))/\(listStacks.text(2))"
      guard let stack = try? StackName(text), let policy = Policy(listStacks.text(3)),
        listStacks.int(4) == checksum(of: "\(stack) \(policy)"), Place.stacks.contains(listStacks.int(0))
      else { throw damaged(text, "its row in the table of stacks is broken") }
      result.append(try info(listStacks.int(0), stack, policy))
    }
    return result
  }

  public func heads(of stack: StackName) throws(LogError) -> [StoredHead] {
    guard let (id, _) = try find(stack) else { return [] }
    return try numberedHeads(of: id, stack).map(\.head)
  }

  public func read(_ stack: StackName, after offset: Int, maximumBytes: Int) throws(LogError) -> [StoredBatch] {
    // Whoever asks may name any offset.
    guard offset < Place.maximumOffset, let (id, _) = try find(stack) else { return [] }
    return try read(id, stack, from: max(offset, 0) + 1, maximumBytes: maximumBytes)
  }

  public func offset(in stack: StackName, lackedBy vector: VersionVector) throws(LogError) -> Int {
    guard let (id, policy) = try find(stack) else { return 0 }
    // Heads first: what comes after them has a higher offset.
    let heads = try numberedHeads(of: id, stack)
    var result = try info(id, stack, policy).head
    for (head, number) in heads where vector[head.device] < head.sequence {
      result = min(result, try run(of: number, stack, head.device, at: vector[head.device] + 1) - 1)
    }
    return result
  }

  public func offset(in stack: StackName, storedSince milliseconds: Int) throws(LogError) -> Int {
    guard let (id, policy) = try find(stack) else { return 0 }
    let head = try info(id, stack, policy).head
    // Times of storing don't go back in a stack.
    return try partitionPoint(1..<head + 1) { (offset: Int) throws(LogError) in
      try last(of: id, upTo: offset).map { $0.storedAt >= milliseconds } ?? true
    } - 1
  }

  public func events(
    of device: DeviceID, in stack: StackName, sequences: ClosedRange<Int>
  ) throws(LogError) -> [[UInt8]] {
    guard let (id, _) = try find(stack), let head = try head(of: device, in: id) else { return [] }
    let wanted = sequences.clamped(to: 1...head.sequence)
    guard wanted.overlaps(sequences) else { return [] }
    var result: [[UInt8]] = []
    var next = wanted.lowerBound
    while next <= wanted.upperBound {
      let offset = try run(of: head.id, stack, device, at: next)
      guard let found = try read(id, stack, from: offset, maximumBytes: 0).first else {
        throw damaged("\(stack)", "the batch at offset \(offset) is not there")
      }
      let before = result.count
      found.batch.collect(of: device, next...wanted.upperBound, into: &result)
      guard result.count > before else {
        throw damaged("\(stack)", "the batch at offset \(offset) lacks the event \(device):\(next)")
      }
      next = wanted.lowerBound + result.count
    }
    return result
  }

  public func snapshot(of stack: StackName) throws(LogError) -> StoredSnapshot? {
    guard let (id, _) = try find(stack) else { return nil }
    findSnapshot.bind(1, id)
    defer { findSnapshot.reset() }
    guard try findSnapshot.step() else { return nil }
    let snapshot = StoredSnapshot(
      foldVersion: findSnapshot.int(0), offset: findSnapshot.int(1), bytes: findSnapshot.bytes(2))
    // A broken one is of no use and no loss: it can be made again.
    let sum = checksum(
      of: snapshot.bytes, at: Place(stack: id, offset: snapshot.offset), storedAt: snapshot.foldVersion)
    return sum == findSnapshot.int(3) ? snapshot : nil
  }

  public func fact(_ key: String) throws(LogError) -> [UInt8]? {
    findFact.bind(1, key)
    defer { findFact.reset() }
    return try findFact.step() ? try fact(in: findFact).value : nil
  }

  public func facts(prefixed prefix: String) throws(LogError) -> [(key: String, value: [UInt8])] {
    listFacts.bind(1, prefix)
    defer { listFacts.reset() }
    var result: [(key: String, value: [UInt8])] = []
    while try listFacts.step() {
      guard listFacts.text(0).utf8.starts(with: prefix.utf8) else { break }
      result.append(try fact(in: listFacts))
    }
    return result
  }
}

extension SQLiteReader {
  struct Last {
    var firstOffset: Int
    var head: Int
    var storedAt: Int
    var checksum: Int
  }

  /// A stack's number in this store.
  func find(_ stack: StackName) throws(LogError) -> (id: Int, policy: Policy)? {
    findStack.bind(1, stack.space.description)
    findStack.bind(2, stack.stack.description)
    defer { findStack.reset() }
    guard try findStack.step() else { return nil }
    guard let policy = Policy(findStack.text(1)), findStack.int(2) == checksum(of: "\(stack) \(policy)"),
      Place.stacks.contains(findStack.int(0))
    else {
      throw damaged("\(stack)", "its row in the table of stacks is broken")
    }
    return (findStack.int(0), policy)
  }

  /// The newest batch that begins at or below an offset.
  func last(of id: Int, upTo offset: Int = Place.maximumOffset) throws(LogError) -> Last? {
    lastBatch.bind(1, Place(stack: id, offset: 1).rawValue)
    lastBatch.bind(2, Place(stack: id, offset: offset).rawValue)
    defer { lastBatch.reset() }
    guard try lastBatch.step() else { return nil }
    let first = Place(rawValue: lastBatch.int(0)).offset
    let count = lastBatch.int(1)
    guard (1...Place.maximumOffset).contains(count) else {
      throw damaged("stack number \(id)", "the batch at offset \(first) is broken")
    }
    return Last(
      firstOffset: first, head: first + count - 1, storedAt: lastBatch.int(2), checksum: lastBatch.int(3))
  }

  /// The heads with their numbers in this store.
  func numberedHeads(of id: Int, _ stack: StackName) throws(LogError) -> [(head: StoredHead, id: Int)] {
    listHeads.bind(1, id)
    defer { listHeads.reset() }
    var result: [(head: StoredHead, id: Int)] = []
    while try listHeads.step() {
      guard let device = words(listHeads.bytes(0)), let digest = words(listHeads.bytes(2)),
        (1...Dot.maximumSequence).contains(listHeads.int(1))
      else {
        throw damaged("\(stack)", "a row in the table of heads is broken")
      }
      let head = StoredHead(
        device: DeviceID(high: device.high, low: device.low), sequence: listHeads.int(1),
        digest: Digest(high: digest.high, low: digest.low))
      result.append((head, listHeads.int(3)))
    }
    return result
  }

  /// Where the index says that a device's event is: the offset of the first event of its batch, nil if no event of the
  /// device is stored.
  func indexedOffset(of device: DeviceID, in stack: StackName, at sequence: Int) throws(LogError) -> Int? {
    guard let (id, _) = try find(stack), let head = try head(of: device, in: id) else { return nil }
    return try run(of: head.id, stack, device, at: sequence)
  }

  /// What SQLite finds wrong with its file, nil if nothing. It knows of pages and tables, not of what is in them.
  func fileProblem() throws(LogError) -> String? {
    let check = try Statement(database, "PRAGMA quick_check(1)")
    guard try check.step() else { return nil }
    let text = check.text(0)
    return text == "ok" ? nil : text
  }

  func damaged(_ about: String, _ what: String) -> LogError {
    LogError(.damaged, about: about, "\(what) (in \(database.path)); \(LogError.advice(for: .damaged))")
  }

  private func info(_ id: Int, _ stack: StackName, _ policy: Policy) throws(LogError) -> StackInfo {
    guard let last = try last(of: id) else { throw damaged("\(stack)", "it has no batch") }
    countHeads.bind(1, id)
    defer { countHeads.reset() }
    let devices = try countHeads.step() ? countHeads.int(0) : 0
    return StackInfo(stack: stack, policy: policy, head: last.head, lastStored: last.storedAt, devices: devices)
  }

  private func read(
    _ id: Int, _ stack: StackName, from offset: Int, maximumBytes: Int
  ) throws(LogError) -> [StoredBatch] {
    guard let start = try last(of: id, upTo: offset) else {
      if try last(of: id) == nil { return [] }
      throw damaged("\(stack)", "the events from offset 1 on are not there")
    }
    batches.bind(1, Place(stack: id, offset: start.firstOffset).rawValue)
    batches.bind(2, Place(stack: id, offset: Place.maximumOffset).rawValue)
    defer { batches.reset() }
    var result: [StoredBatch] = []
    var size = 0
    var next = start.firstOffset
    while try batches.step() {
      let place = Place(rawValue: batches.int(0))
      let count = batches.int(1)
      guard place.offset == next, (1...Place.maximumOffset).contains(count) else {
        if !result.isEmpty { return result }
        throw damaged("\(stack)", "the events from offset \(next) on are not there")
      }
      next += count
      // The last batch before what is asked for, when nothing newer is there or a hole follows.
      if next <= offset { continue }
      let bytes = batches.bytes(4)
      size += bytes.count
      if !result.isEmpty, size > maximumBytes { return result }
      let time = batches.int(2)
      guard checksum(of: bytes, at: place, storedAt: time) == batches.int(3), let batch = try? EventBatch(bytes: bytes),
        batch.count == count
      else {
        // What stands before it can still be read.
        if !result.isEmpty { return result }
        throw damaged("\(stack)", "the batch at offset \(place.offset) is broken")
      }
      result.append(StoredBatch(firstOffset: place.offset, batch: batch, storedAt: time))
    }
    return result
  }

  private func fact(in row: Statement) throws(LogError) -> (key: String, value: [UInt8]) {
    let (key, value) = (row.text(0), row.bytes(1))
    guard row.int(2) == checksum(of: key, value) else {
      throw damaged("the fact '\(key)'", "its row in the table of facts is broken")
    }
    return (key, value)
  }

  private func head(of device: DeviceID, in id: Int) throws(LogError) -> (id: Int, sequence: Int)? {
    findHead.bind(1, id)
    findHead.bind(2, bytes(device.high, device.low))
    defer { findHead.reset() }
    guard try findHead.step(), (1...Dot.maximumSequence).contains(findHead.int(1)) else { return nil }
    return (findHead.int(0), findHead.int(1))
  }

  /// The offset of the first event of the batch that holds a device's event.
  private func run(of head: Int, _ stack: StackName, _ device: DeviceID, at sequence: Int) throws(LogError) -> Int {
    findRun.bind(1, head)
    findRun.bind(2, sequence)
    defer { findRun.reset() }
    guard try findRun.step() else { throw damaged("\(stack)", "the index of device \(device) is broken") }
    return findRun.int(0)
  }
}
