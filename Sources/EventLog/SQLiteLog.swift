import Locking
public import NavigationModel
import WireFormat

/// The log in SQLite, the embedded default: a folder with the database `log.sqlite3`, the file of `heads` outside it,
/// and a `lock` for the one writer.
///
/// Used by one thread at a time, as every ``EventLog``. Commits are on stable storage when `append` returns; checkpoints
/// go on behind it, on a thread of its own.
///
/// After a failed read or write of the file the connection is closed, and the next call opens it again and first copies
/// the whole write-ahead log into the database: what a failed `fsync` left in the system's memory counts as written
/// there and never would be (PostgreSQL's lesson). Whether the failed batch is stored is open then: read the heads.
/// Until that has succeeded the log's own reading throws too; other readers go on. A full disk only refuses appends.
public final class SQLiteLog: EventLog {
  /// The format of stores that this package writes, and the newest that it reads.
  public static var format: Int { Schema.format }

  /// What opening found; to be logged.
  public let report: OpenReport
  public var epoch: UInt64 { report.epoch }

  private let folder: String
  private let clock: () -> Int
  private let heads: HeadsFile
  private let upkeep: Upkeep
  private var lock: StoreLock?
  /// Nil after a failure and after closing.
  private var writer: Writer?

  /// Opens a store for writing.
  ///
  /// - Parameters:
  ///   - folder: of the store; made, with the folders above it, if `create` says so.
  ///   - program: the kind of process that holds it, one word, for the message to whom it is refused.
  ///   - create: whether a store may be made where there is none; `.notFound` is thrown otherwise.
  ///   - waitMilliseconds: how long to wait for another holder before `.busy` is thrown, naming it.
  ///   - clock: milliseconds since 1970, asked once a commit; the system's if not given.
  public static func open(
    at folder: String, program: String, create: Bool = true, waitMilliseconds: Int = 0, clock: (() -> Int)? = nil
  ) throws(LogError) -> SQLiteLog {
    try SQLiteLog(try Opening(folder, program: program, create: create, waitMilliseconds: waitMilliseconds), clock)
  }

  /// Opens a store for reading, also beside a running writer. Makes and locks nothing.
  public static func openReader(at folder: String) throws(LogError) -> SQLiteReader { try Opening.reader(of: folder) }

  private init(_ opening: Opening, _ clock: (() -> Int)?) throws(LogError) {
    folder = opening.folder
    report = opening.report
    heads = opening.heads
    lock = opening.lock
    writer = try Writer(opening.database)
    upkeep = Upkeep(path: Schema.database(in: folder), heads: heads)
    self.clock = clock ?? { wallClockMilliseconds() }
  }

  /// The size of the write-ahead log after the last commit, in bytes: bounded, and worth a metric.
  public var writeAheadBytes: Int { upkeep.pages * 4096 }

  public func append(_ appends: [LogAppend]) throws(LogError) -> [Int] {
    guard appends.contains(where: { $0.batch.count > 0 }) else {
      return try appends.map { (append) throws(LogError) in (try info(of: append.stack)?.head ?? 0) + 1 }
    }
    let now = clock()
    return try writing { (writer) throws(LogError) in
      let (offsets, newest) = try writer.append(appends, at: now)
      if let newest { heads.note(newest) }
      return offsets
    }
  }

  public func keep(_ snapshot: StoredSnapshot, of stack: StackName) throws(LogError) {
    try writing { (writer) throws(LogError) in try writer.keep(snapshot, of: stack) }
  }

  public func setFact(_ key: String, _ value: [UInt8]?) throws(LogError) {
    try writing { (writer) throws(LogError) in try writer.setFacts([(key, value)]) }
  }

  public func setFacts(_ facts: [(key: String, value: [UInt8])]) throws(LogError) {
    try writing { (writer) throws(LogError) in try writer.setFacts(facts.map { ($0.key, $0.value) }) }
  }

  public func makeReader() throws(LogError) -> sending any EventLogReader { try Opening.reader(of: folder) }

  public func close() throws(LogError) {
    precondition(lock != nil, "the log of \(folder) was closed")
    writer = nil
    defer { lock = nil }
    try upkeep.finish()
  }

  /// Puts the file of heads on the disk now, and not within a second.
  func bearWitness() throws(LogError) { try heads.sync() }

  /// The reader on the writer's connection, nil after a failure.
  var reader: SQLiteReader? { writer?.reader }

  private func writing<Result: Sendable>(
    _ body: (Writer) throws(LogError) -> Result
  ) throws(LogError) -> Result {
    let result = try using { (writer) throws(LogError) in
      try upkeep.gate.withLock { (_: inout Int) throws(LogError) in try body(writer) }
    }
    if let writer { upkeep.committed(pages: writer.database.writeAheadPages) }
    return result
  }

  func using<Result>(_ body: (Writer) throws(LogError) -> Result) throws(LogError) -> Result {
    let writer = if let open = self.writer { open } else { try reopened() }
    self.writer = writer
    defer { if writer.database.isSuspect { self.writer = nil } }
    return try body(writer)
  }

  private func reopened() throws(LogError) -> Writer {
    precondition(lock != nil, "the log of \(folder) was closed")
    let database = try Opening.connect(folder)
    guard try database.checkpoint(.truncate) else {
      throw LogError(.busy, about: folder, "it can't be opened again while somebody reads it; try again")
    }
    return try Writer(database)
  }
}

extension SQLiteLog {
  public func info(of stack: StackName) throws(LogError) -> StackInfo? {
    try using { (writer) throws(LogError) in try writer.reader.info(of: stack) }
  }

  public func stacks(in space: Name?) throws(LogError) -> [StackInfo] {
    try using { (writer) throws(LogError) in try writer.reader.stacks(in: space) }
  }

  public func heads(of stack: StackName) throws(LogError) -> [StoredHead] {
    try using { (writer) throws(LogError) in try writer.reader.heads(of: stack) }
  }

  public func read(_ stack: StackName, after offset: Int, maximumBytes: Int) throws(LogError) -> [StoredBatch] {
    try using { (writer) throws(LogError) in
      try writer.reader.read(stack, after: offset, maximumBytes: maximumBytes)
    }
  }

  public func offset(in stack: StackName, lackedBy vector: VersionVector) throws(LogError) -> Int {
    try using { (writer) throws(LogError) in try writer.reader.offset(in: stack, lackedBy: vector) }
  }

  public func offset(in stack: StackName, storedSince milliseconds: Int) throws(LogError) -> Int {
    try using { (writer) throws(LogError) in try writer.reader.offset(in: stack, storedSince: milliseconds) }
  }

  public func events(
    of device: DeviceID, in stack: StackName, sequences: ClosedRange<Int>
  ) throws(LogError) -> [[UInt8]] {
    try using { (writer) throws(LogError) in
      try writer.reader.events(of: device, in: stack, sequences: sequences)
    }
  }

  public func snapshot(of stack: StackName) throws(LogError) -> StoredSnapshot? {
    try using { (writer) throws(LogError) in try writer.reader.snapshot(of: stack) }
  }

  public func fact(_ key: String) throws(LogError) -> [UInt8]? {
    try using { (writer) throws(LogError) in try writer.reader.fact(key) }
  }

  public func facts(prefixed prefix: String) throws(LogError) -> [(key: String, value: [UInt8])] {
    try using { (writer) throws(LogError) in try writer.reader.facts(prefixed: prefix) }
  }
}
