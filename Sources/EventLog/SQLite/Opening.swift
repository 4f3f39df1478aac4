import Glibc

/// The steps of opening a store, and what they give. Nothing is changed before it is clear that it is a store that this
/// program knows, and nothing is ever deleted.
struct Opening {
  let folder: String
  let lock: StoreLock
  let database: Database
  let heads: HeadsFile
  let report: OpenReport

  init(_ folder: String, program: String, create: Bool, waitMilliseconds: Int) throws(LogError) {
    self.folder = folder
    if create { try Opening.makeFolder(folder) }
    try Opening.checkRoom(folder)
    let path = Schema.database(in: folder)
    if !create { try Opening.checkThere(path, in: folder) }
    lock = try StoreLock(
      Schema.lock(in: folder), in: folder, program: program, waitMilliseconds: waitMilliseconds)

    database = try Database(path, create ? .creating : .writing)
    // No page: nothing was there, or making it was cut short.
    let isNew = try database.number("PRAGMA page_count") == 0
    guard !isNew || create else { throw Opening.notFound(folder) }
    if isNew { try Opening.makeStore(in: database) } else { try Schema.check(database) }

    let left = try WriteAheadFile.examine(Schema.writeAhead(in: folder))
    var notices: [OpenReport.Notice] = isNew ? [.created] : []
    if left.droppedCommits > 1 {
      notices.append(try Opening.keepDamaged(left, in: folder))
    } else if left.droppedBytes > 0 {
      notices.append(.cutTail(bytes: left.droppedBytes))
    }

    try Opening.configure(database)
    let reader = try SQLiteReader(database)
    let witness = try HeadsFile.read(Schema.heads(in: folder))
    if let witness {
      if let newest = witness.newest, try !Opening.holds(newest, reader) {
        notices.append(.wentBackwards(stack: "\(newest.stack)", offset: newest.firstOffset))
      } else if witness.epoch != reader.epoch {
        notices.append(.withoutHeads)
      }
    } else if !isNew {
      notices.append(.withoutHeads)
    }
    let isNewEpoch = notices.contains(where: \.isAlarm)
    let epoch = isNewEpoch ? .random(in: 1...UInt64.max) : reader.epoch
    if isNewEpoch { try Schema.setEpoch(epoch, in: database) }
    heads = try HeadsFile(
      Schema.heads(in: folder),
      HeadsFile.Content(epoch: epoch, number: witness?.number ?? 0, newest: isNewEpoch ? nil : witness?.newest))
    try Opening.syncFolder(folder)
    // Says nothing about the history.
    if let open = Opening.openToOthers(folder) { notices.append(open) }
    report = OpenReport(epoch: epoch, isNewEpoch: isNewEpoch, notices: notices)
  }

  /// A connection of its own, for reading.
  static func reader(of folder: String) throws(LogError) -> sending SQLiteReader {
    let path = Schema.database(in: folder)
    try checkThere(path, in: folder)
    // SQLite needs shared memory beside the file, and can't make it on a disk that is only read. Nothing changes the file
    // there, and without a write-ahead log all is in it (sqlite.org/wal.html, "Read-Only Databases").
    let isFixed = access(path + "-wal", F_OK) != 0 && access(folder, W_OK) != 0 && errno == EROFS
    let database = try Database(path, isFixed ? .readingFixed : .reading)
    guard try database.number("PRAGMA page_count") != 0 else { throw notFound(folder) }
    try Schema.check(database)
    return try SQLiteReader(database)
  }

  /// A connection that writes to a store that was opened before.
  static func connect(_ folder: String) throws(LogError) -> Database {
    let database = try Database(Schema.database(in: folder), .writing)
    try Schema.check(database)
    try configure(database)
    return database
  }

  private static func configure(_ database: Database) throws(LogError) {
    try database.execute("PRAGMA journal_mode = WAL;" + Schema.writing)
    database.countWriteAheadPages()
    database.checkpointOnClose()
  }

  private static func makeStore(in database: Database) throws(LogError) {
    let epoch = Int64(bitPattern: .random(in: 1...UInt64.max))
    // In one transaction of a rollback journal, so that the file has all of it or nothing, in itself.
    try database.execute(
      "PRAGMA page_size = 4096; BEGIN IMMEDIATE;" + Schema.creation
        + "INSERT INTO meta VALUES ('epoch', \(epoch)); COMMIT;")
  }

  /// Whether a batch that was acknowledged is there.
  private static func holds(_ newest: Writer.Newest, _ reader: SQLiteReader) throws(LogError) -> Bool {
    guard let (id, _) = try reader.find(newest.stack), let last = try reader.last(of: id, upTo: newest.firstOffset)
    else { return false }
    return last.firstOffset == newest.firstOffset && last.checksum == newest.checksum
  }

  /// Copies a broken write-ahead log beside itself, before SQLite writes over what it doesn't take.
  private static func keepDamaged(
    _ left: WriteAheadFile, in folder: String
  ) throws(LogError) -> OpenReport.Notice {
    let path = Schema.writeAhead(in: folder)
    let copy = "\(path).damaged-\(wallClockMilliseconds())"
    try copyFile(path, to: copy)
    return .damagedInTheMiddle(at: left.wholeBytes, commits: left.droppedCommits, keptAs: copy)
  }

  private static func copyFile(_ path: String, to copy: String) throws(LogError) {
    let source = open(path, O_RDONLY | O_CLOEXEC)
    guard source >= 0 else { throw .system(errno, "opening", path) }
    defer { close(source) }
    let target = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard target >= 0 else { throw .system(errno, "making", copy) }
    defer { close(target) }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(source, &buffer, buffer.count)
      guard count >= 0 else { throw .system(errno, "reading", path) }
      if count == 0 { break }
      guard write(target, buffer, count) == count else { throw .system(errno, "writing", copy) }
    }
    guard fsync(target) == 0 else { throw .system(errno, "syncing", copy) }
  }

  /// SQLite makes sure of room for the index of its write-ahead log by a byte in every 4 KiB. Where blocks are smaller the
  /// rest of them may find none, and on a full disk that ends the process (SIGBUS), not the call.
  private static func checkRoom(_ folder: String) throws(LogError) {
    var disk = statvfs()
    guard statvfs(folder, &disk) == 0, disk.f_frsize < 4096, Int(disk.f_bavail) * Int(disk.f_frsize) < 1 << 20 else {
      return
    }
    throw LogError(
      .full, about: folder,
      "the disk is full, and its blocks are so small that a store can't be opened then; make room, then try again")
  }

  /// Makes a folder and those above it, for its owner alone.
  static func makeFolder(_ folder: String) throws(LogError) {
    var at = ""
    for part in folder.split(separator: "/", omittingEmptySubsequences: true) {
      at += at.isEmpty && !folder.hasPrefix("/") ? String(part) : "/" + part
      guard mkdir(at, 0o700) != 0 else { continue }
      guard errno == EEXIST else { throw .system(errno, "making the folder", at) }
      var status = stat()
      guard stat(at, &status) != 0 || status.st_mode & S_IFMT == S_IFDIR else {
        throw LogError(.notAStore, about: at, "it is a file, and not a folder; \(LogError.advice(for: .notAStore))")
      }
    }
  }

  /// What of a store other users can get at. In a folder that only its owner can enter, nothing.
  private static func openToOthers(_ folder: String) -> OpenReport.Notice? {
    func mode(_ path: String) -> UInt32 {
      var status = stat()
      return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }
    let entered = mode(folder)
    guard entered & 0o011 != 0 else { return nil }
    if entered & 0o022 != 0 { return .openToOthers(path: folder, mode: entered) }
    let path = Schema.database(in: folder)
    let read = mode(path)
    return read & 0o066 != 0 ? .openToOthers(path: path, mode: read) : nil
  }

  /// Puts the names of a folder's files on the disk.
  static func syncFolder(_ folder: String) throws(LogError) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno, "opening", folder) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .system(errno, "syncing", folder) }
  }

  private static func checkThere(_ path: String, in folder: String) throws(LogError) {
    guard access(path, F_OK) != 0 else { return }
    throw errno == ENOENT || errno == ENOTDIR ? notFound(folder) : .system(errno, "looking into the folder", folder)
  }

  private static func notFound(_ folder: String) -> LogError {
    LogError(.notFound, about: folder, "no store is there; name the folder of one")
  }
}
