/// The files of a store and what its database looks like.
enum Schema {
  /// "nvsy", in the file's header, so that another program's file is not taken for a store.
  static let applicationID = 0x6e76_7379
  /// The format that this program writes, and the newest that it reads.
  static let format = 1

  static func database(in folder: String) -> String { folder + "/log.sqlite3" }
  static func writeAhead(in folder: String) -> String { folder + "/log.sqlite3-wal" }
  static func heads(in folder: String) -> String { folder + "/heads" }
  static func lock(in folder: String) -> String { folder + "/lock" }

  /// `place` is the stack's number << 40 | the offset of the first event, so a stack's batches stand together, in order.
  /// A row of `runs` says in which batch (by the offset of its first event) a device's events from `first` on stand.
  static let creation = """
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(format);
    CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
    CREATE TABLE facts (key TEXT PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE stacks (
      id INTEGER PRIMARY KEY, space TEXT NOT NULL, name TEXT NOT NULL, policy TEXT NOT NULL,
      checksum INTEGER NOT NULL, UNIQUE (space, name));
    CREATE TABLE batches (
      place INTEGER PRIMARY KEY, count INTEGER NOT NULL, stored_at INTEGER NOT NULL, newest_time INTEGER NOT NULL,
      checksum INTEGER NOT NULL, events BLOB NOT NULL);
    CREATE TABLE heads (
      id INTEGER PRIMARY KEY, stack INTEGER NOT NULL, device BLOB NOT NULL, sequence INTEGER NOT NULL,
      digest BLOB NOT NULL, UNIQUE (stack, device));
    CREATE TABLE runs (
      head INTEGER NOT NULL, first INTEGER NOT NULL, offset INTEGER NOT NULL, PRIMARY KEY (head, first)) WITHOUT ROWID;
    CREATE TABLE snapshots (
      stack INTEGER PRIMARY KEY, fold_version INTEGER NOT NULL, offset INTEGER NOT NULL,
      checksum INTEGER NOT NULL, bytes BLOB NOT NULL);
    CREATE VIEW stored AS
      SELECT s.space || '/' || s.name AS stack, b.place & \(Place.maximumOffset) AS first, b.count,
        datetime(b.stored_at / 1000, 'unixepoch') AS stored, length(b.events) AS bytes
      FROM batches b JOIN stacks s ON s.id = b.place >> 40;
    """

  /// Of every connection that writes. All but the first two only save time or room.
  ///
  /// - `FULL`: each commit is on the disk when it returns.
  /// - The write-ahead log is overwritten, not made anew; this is what is left of a large one.
  static let writing = """
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA journal_size_limit = 33554432;
    PRAGMA secure_delete = OFF;
    PRAGMA temp_store = MEMORY;
    """

  /// Of every connection: pages are read where the system has them.
  static let reading = "PRAGMA mmap_size = 1073741824;"

  /// Throws unless the database is a store that this program can read.
  static func check(_ database: Database) throws(LogError) {
    guard try database.number("PRAGMA application_id") == applicationID else {
      throw LogError(
        .notAStore, about: database.path,
        "this SQLite file was made by another program; nothing in it was touched; name another folder")
    }
    let found = try database.number("PRAGMA user_version") ?? 0
    guard found <= format else {
      throw LogError(
        .newerFormat, about: database.path,
        "it has store format \(found), made by a newer program, and this one reads up to \(format); "
          + "use a program that knows format \(found)")
    }
  }

  /// The epoch in `meta`.
  static func epoch(of database: Database) throws(LogError) -> UInt64 {
    guard let bits = try database.number("SELECT value FROM meta WHERE key = 'epoch'") else {
      throw LogError(.damaged, about: database.path, "it has no epoch; \(LogError.advice(for: .damaged))")
    }
    return UInt64(bitPattern: Int64(bits))
  }

  static func setEpoch(_ epoch: UInt64, in database: Database) throws(LogError) {
    try database.execute("INSERT OR REPLACE INTO meta VALUES ('epoch', \(Int64(bitPattern: epoch)))")
  }
}
