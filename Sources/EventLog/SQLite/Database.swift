import CSQLite
import Glibc

/// The owner of one connection of SQLite. It and its statements are used by one thread at a time: it is opened without
/// SQLite's own mutexes (sqlite.org/threadsafe.html, "multi-thread").
final class Database {
  enum Access {
    case reading
    /// Reads a file that nobody can change, without locks and shared memory.
    case readingFixed
    case writing
    /// Writes, and makes the file.
    case creating
  }

  let path: String
  /// Whether a call failed in reading or writing: what the connection believes about the file may then be wrong.
  private(set) var isSuspect = false
  fileprivate let handle: OpaquePointer
  /// Written by the hook of commits: how many pages stand in the write-ahead log.
  private let pages: UnsafeMutablePointer<Int32>

  init(_ path: String, _ access: Access) throws(LogError) {
    self.path = path
    let flags =
      switch access {
      case .reading: SQLITE_OPEN_READONLY
      case .readingFixed: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      case .writing: SQLITE_OPEN_READWRITE
      case .creating: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      }
    if access == .creating { Database.makePrivate(path) }
    var opened: OpaquePointer?
    let name = access == .readingFixed ? Database.fixedName(path) : path
    let result = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard let opened, result == SQLITE_OK else {
      let error = Database.error(ResultCode(rawValue: result), opened, path)
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    pages = .allocate(capacity: 1)
    pages.initialize(to: 0)
    // Only short waits are expected: a reader of another process that recovers, or a checkpoint.
    waitForOthers(milliseconds: 5000)
    navsync_sqlite3_checkpoint_on_close(handle, 0)
  }

  deinit {
    // The "v2" waits for statements that are still to be finalized.
    sqlite3_close_v2(handle)
    pages.deallocate()
  }

  /// The path as a URI (sqlite.org/uri.html): what has a meaning there is escaped.
  private static func fixedName(_ path: String) -> String {
    let marks: [Character: String] = ["%": "%25", "?": "%3f", "#": "%23"]
    return "file:" + path.map { marks[$0] ?? String($0) }.joined() + "?immutable=1"
  }

  /// Makes the file, if it isn't there, for its owner alone: SQLite lets everybody read what it makes, and gives the files
  /// beside it the same mode. What goes wrong shows when it is opened.
  static func makePrivate(_ path: String) {
    // Exclusive: closing a file that a connection has open would drop that one's locks.
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

  /// How long a call waits for another connection before it gives up as busy.
  func waitForOthers(milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

  /// Lets the closing of the last connection copy the write-ahead log and remove it. Not before it is known that the file
  /// is a store: what is refused isn't touched.
  func checkpointOnClose() { navsync_sqlite3_checkpoint_on_close(handle, 1) }

  /// Pages in the write-ahead log after this connection's last commit.
  var writeAheadPages: Int { Int(pages.pointee) }

  /// Counts the write-ahead log's pages after each commit; no checkpoint is made by itself from now on, because
  /// SQLite's own comes by the same hook (sqlite.org/c3ref/wal_hook.html).
  func countWriteAheadPages() {
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        context!.assumingMemoryBound(to: Int32.self).pointee = pages
        return SQLITE_OK
      }, pages)
  }

  /// Whether a transaction is open.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// The row id of the last insert.
  var lastInsertedRow: Int { Int(sqlite3_last_insert_rowid(handle)) }

  /// Runs statements that give no rows.
  func execute(_ sql: String) throws(LogError) { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

  /// The number that a statement gives first, nil for no row.
  func number(_ sql: String) throws(LogError) -> Int? {
    let statement = try Statement(self, sql)
    return try statement.step() ? statement.int(0) : nil
  }

  enum Checkpoint {
    /// Copies what it can without waiting for anybody.
    case passive
    /// Copies all, so that the next commit begins the write-ahead log anew; no commit may be under way.
    case restart
    /// As `restart`, and cuts the file to nothing.
    case truncate
  }

  /// Copies the write-ahead log into the database. Returns whether all of it was copied.
  @discardableResult
  func checkpoint(_ mode: Checkpoint) throws(LogError) -> Bool {
    let flag =
      switch mode {
      case .passive: SQLITE_CHECKPOINT_PASSIVE
      case .restart: SQLITE_CHECKPOINT_RESTART
      case .truncate: SQLITE_CHECKPOINT_TRUNCATE
      }
    var total: Int32 = 0
    var copied: Int32 = 0
    let result = sqlite3_wal_checkpoint_v2(handle, nil, flag, &total, &copied)
    if ResultCode(rawValue: result).primary == .busy { return false }
    try check(result)
    return total == copied
  }

  /// Throws if a call failed.
  func check(_ result: Int32) throws(LogError) {
    if result != SQLITE_OK { throw failure(result) }
  }

  /// The error for a result that is one.
  fileprivate func failure(_ result: Int32) -> LogError {
    let code = ResultCode(rawValue: result)
    let error = Database.error(code, handle, path)
    // A write for which there was no room has left nothing behind; a failed sync may have, whatever its reason.
    if code.primary == .inputOutput, error.code != .full || code == .failedSync { isSuspect = true }
    return error
  }

  private static func error(_ result: ResultCode, _ handle: OpaquePointer?, _ path: String) -> LogError {
    var system = handle.map { sqlite3_system_errno($0) } ?? 0
    if system == 0, result.primary == .inputOutput, let handle { system = navsync_sqlite3_journal_errno(handle) }
    let text = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(result.rawValue))
    let code = result.logCode(systemError: system)
    return LogError(code, about: path, "\(text) (SQLite \(result.rawValue)); \(LogError.advice(for: code))")
  }
}

/// The owner of one prepared statement, to be run again and again. Places of parameters begin at 1, of columns at 0.
final class Statement {
  private let database: Database
  private let handle: OpaquePointer

  init(_ database: Database, _ sql: String) throws(LogError) {
    self.database = database
    var prepared: OpaquePointer?
    let result = sqlite3_prepare_v3(
      database.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard result == SQLITE_OK else { throw database.failure(result) }
    handle = prepared!
  }

  deinit { sqlite3_finalize(handle) }

  /// Runs it to the next row; false at its end, when it is reset.
  func step() throws(LogError) -> Bool {
    let result = sqlite3_step(handle)
    switch ResultCode(rawValue: result) {
    case .row: return true
    case .done:
      reset()
      return false
    case _:
      let error = database.failure(result)
      reset()
      throw error
    }
  }

  /// Runs a statement that gives no rows.
  func run() throws(LogError) { while try step() {} }

  /// Ends the run, and with it a reading transaction; bound values stay.
  func reset() { sqlite3_reset(handle) }

  // MARK: Parameters

  func bind(_ place: Int32, _ number: Int) { bound(sqlite3_bind_int64(handle, place, Int64(number))) }

  func bind(_ place: Int32, _ text: String) {
    let count = Int32(text.utf8.count)
    text.withCString { bound(navsync_sqlite3_bind_text_copy(handle, place, $0, count)) }
  }

  func bind(_ place: Int32, _ bytes: [UInt8]) {
    bytes.withUnsafeBufferPointer {
      if $0.isEmpty {
        bound(sqlite3_bind_zeroblob(handle, place, 0))
      } else {
        bound(navsync_sqlite3_bind_blob_copy(handle, place, $0.baseAddress, Int32($0.count)))
      }
    }
  }

  private func bound(_ result: Int32) { precondition(result == SQLITE_OK, "binding a parameter: \(result)") }

  // MARK: Columns of the row

  func int(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

  func text(_ column: Int32) -> String {
    guard let text = sqlite3_column_text(handle, column) else { return "" }
    return String(decoding: UnsafeBufferPointer(start: text, count: length(column)), as: UTF8.self)
  }

  func bytes(_ column: Int32) -> [UInt8] {
    // The length is asked after the bytes, which may have been converted (sqlite.org/c3ref/column_blob.html).
    guard let blob = sqlite3_column_blob(handle, column) else { return [] }
    return Array(UnsafeRawBufferPointer(start: blob, count: length(column)))
  }

  private func length(_ column: Int32) -> Int { Int(sqlite3_column_bytes(handle, column)) }
}
