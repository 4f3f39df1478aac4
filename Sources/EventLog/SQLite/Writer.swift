import NavigationModel
import WireFormat

/// The connection that writes, with what it remembers of the stacks in use. After a failed call it has forgotten all of
/// that, and no transaction is open.
final class Writer {
  /// The newest batch of a commit: what the file of heads bears witness of.
  struct Newest: Hashable, Sendable {
    var stack: StackName
    var firstOffset: Int
    var checksum: Int
  }

  let database: Database
  let reader: SQLiteReader
  private let begin: Statement
  private let commit: Statement
  private let addStack: Statement
  private let addBatch: Statement
  private let addHead: Statement
  private let moveHead: Statement
  private let addRun: Statement
  private let setSnapshot: Statement
  private let setFact: Statement
  private let removeFact: Statement
  private var remembered: [StackName: Remembered] = [:]
  private var rememberedHeads = 0

  private struct Remembered {
    let id: Int
    var head: Int
    var lastStored: Int
    var heads: [DeviceID: (id: Int, sequence: Int)]
  }

  init(_ database: Database) throws(LogError) {
    self.database = database
    reader = try SQLiteReader(database)
    begin = try Statement(database, "BEGIN IMMEDIATE")
    commit = try Statement(database, "COMMIT")
    addStack = try Statement(database, "INSERT INTO stacks (space, name, policy, checksum) VALUES (?, ?, ?, ?)")
    addBatch = try Statement(
      database,
      "INSERT INTO batches (place, count, stored_at, newest_time, checksum, events) VALUES (?, ?, ?, ?, ?, ?)")
    addHead = try Statement(database, "INSERT INTO heads (stack, device, sequence, digest) VALUES (?, ?, ?, ?)")
    moveHead = try Statement(database, "UPDATE heads SET sequence = ?, digest = ? WHERE id = ?")
    addRun = try Statement(database, "INSERT INTO runs (head, first, offset) VALUES (?, ?, ?)")
    setSnapshot = try Statement(
      database, "INSERT OR REPLACE INTO snapshots (stack, fold_version, offset, bytes, checksum) VALUES (?, ?, ?, ?, ?)"
    )
    setFact = try Statement(database, "INSERT OR REPLACE INTO facts (key, value, checksum) VALUES (?, ?, ?)")
    removeFact = try Statement(database, "DELETE FROM facts WHERE key = ?")
  }

  /// One transaction for all of it.
  func append(_ appends: [LogAppend], at now: Int) throws(LogError) -> (offsets: [Int], newest: Newest?) {
    var newest: Newest?
    var offsets: [Int] = []
    offsets.reserveCapacity(appends.count)
    try transaction { () throws(LogError) in
      for append in appends {
        if append.batch.count == 0 {
          offsets.append(try head(of: append.stack) + 1)
        } else {
          newest = try add(append, at: now)
          offsets.append(newest!.firstOffset)
        }
      }
    }
    return (offsets, newest)
  }

  func keep(_ snapshot: StoredSnapshot, of stack: StackName) throws(LogError) {
    guard let (id, _) = try reader.find(stack) else { return }
    // Can be made again, so it needn't be on the disk when this returns: the next commit takes it there.
    try database.execute("PRAGMA synchronous = NORMAL")
    var failure: LogError?
    do throws(LogError) {
      try transaction { () throws(LogError) in
        setSnapshot.bind(1, id)
        setSnapshot.bind(2, snapshot.foldVersion)
        setSnapshot.bind(3, snapshot.offset)
        setSnapshot.bind(4, snapshot.bytes)
        let place = Place(stack: id, offset: snapshot.offset)
        setSnapshot.bind(5, checksum(of: snapshot.bytes, at: place, storedAt: snapshot.foldVersion))
        try setSnapshot.run()
      }
    } catch { failure = error }
    try database.execute("PRAGMA synchronous = FULL")
    if let failure { throw failure }
  }

  /// In one transaction; nil removes a fact.
  func setFacts(_ facts: [(key: String, value: [UInt8]?)]) throws(LogError) {
    try transaction { () throws(LogError) in
      for (key, value) in facts {
        guard let value else {
          removeFact.bind(1, key)
          try removeFact.run()
          continue
        }
        setFact.bind(1, key)
        setFact.bind(2, value)
        setFact.bind(3, checksum(of: key, value))
        try setFact.run()
      }
    }
  }

  private func transaction(_ body: () throws(LogError) -> Void) throws(LogError) {
    do throws(LogError) {
      try begin.run()
      try body()
      try commit.run()
    } catch {
      remembered = [:]
      rememberedHeads = 0
      // After some failures SQLite has rolled back by itself (sqlite.org/lang_transaction.html).
      if database.isInTransaction { try? database.execute("ROLLBACK") }
      throw error
    }
  }

  private func head(of stack: StackName) throws(LogError) -> Int {
    if let known = remembered[stack] { return known.head }
    guard let (id, _) = try reader.find(stack) else { return 0 }
    return try reader.last(of: id)?.head ?? 0
  }

  private func add(_ append: LogAppend, at now: Int) throws(LogError) -> Newest {
    try remember(append.stack)
    let old = remembered[append.stack]
    try append.check { old?.heads[$0]?.sequence ?? 0 }
    let id = if let old { old.id } else { try make(append.stack, append.policy) }
    let first = (old?.head ?? 0) + 1
    // Times of storing don't go back in a stack, whatever the clock does, so that they can be searched.
    let time = max(now, old?.lastStored ?? now)
    let place = Place(stack: id, offset: first)
    let sum = checksum(of: append.batch.bytes, at: place, storedAt: time)
    addBatch.bind(1, place.rawValue)
    addBatch.bind(2, append.batch.count)
    addBatch.bind(3, time)
    addBatch.bind(4, append.newestTime)
    addBatch.bind(5, sum)
    addBatch.bind(6, append.batch.bytes)
    try addBatch.run()
    for author in append.batch.authors {
      let head = try move(append.head(of: author.device)!, from: old?.heads[author.device]?.id, in: id)
      addRun.bind(1, head)
      addRun.bind(2, author.firstSequence)
      addRun.bind(3, first)
      try addRun.run()
      if remembered[append.stack]!.heads.updateValue((head, author.lastSequence), forKey: author.device) == nil {
        rememberedHeads += 1
      }
    }
    remembered[append.stack]!.head += append.batch.count
    remembered[append.stack]!.lastStored = time
    return Newest(stack: append.stack, firstOffset: first, checksum: sum)
  }

  /// Puts a device's head to its new place, and gives its number.
  private func move(_ head: StoredHead, from id: Int?, in stack: Int) throws(LogError) -> Int {
    let digest = bytes(head.digest.high, head.digest.low)
    if let id {
      moveHead.bind(1, head.sequence)
      moveHead.bind(2, digest)
      moveHead.bind(3, id)
      try moveHead.run()
      return id
    }
    addHead.bind(1, stack)
    addHead.bind(2, bytes(head.device.high, head.device.low))
    addHead.bind(3, head.sequence)
    addHead.bind(4, digest)
    try addHead.run()
    return database.lastInsertedRow
  }

  private func make(_ stack: StackName, _ policy: Policy) throws(LogError) -> Int {
    addStack.bind(1, stack.space.description)
    addStack.bind(2, stack.stack.description)
    addStack.bind(3, policy.description)
    addStack.bind(4, checksum(of: "\(stack) \(policy)"))
    try addStack.run()
    let id = database.lastInsertedRow
    guard Place.stacks.contains(id) else {
      throw LogError(
        .full, about: database.path, "a store holds at most \(Place.stacks.count) stacks; use a second one")
    }
    remembered[stack] = Remembered(id: id, head: 0, lastStored: 0, heads: [:])
    return id
  }

  /// Reads what is stored of a stack, if anything is and it isn't known. What is remembered is bounded: a stack out of
  /// use costs nothing.
  private func remember(_ stack: StackName) throws(LogError) {
    guard remembered[stack] == nil, let (id, _) = try reader.find(stack) else { return }
    if remembered.count >= 4096 || rememberedHeads >= 65536 {
      remembered = [:]
      rememberedHeads = 0
    }
    let last = try reader.last(of: id)
    var heads: [DeviceID: (id: Int, sequence: Int)] = [:]
    for (head, number) in try reader.numberedHeads(of: id, stack) { heads[head.device] = (number, head.sequence) }
    remembered[stack] = Remembered(id: id, head: last?.head ?? 0, lastStored: last?.storedAt ?? 0, heads: heads)
    rememberedHeads += heads.count
  }
}
