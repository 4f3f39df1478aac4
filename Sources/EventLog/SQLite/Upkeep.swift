import Dispatch
import Glibc
import Locking

/// What goes on behind the writer, on a thread of its own: checkpoints, room for the write-ahead log, and the file of
/// heads.
///
/// A checkpoint in the committing thread costs tens of milliseconds now and then. Here it copies the write-ahead log
/// into the database while commits go on. As long as they do, the log is never copied whole and so never begun anew;
/// when it has grown to its bound, the rest is copied with commits held back for that moment.
final class Upkeep: Sendable {
  /// Of 4 KiB. A checkpoint begins whenever the log has grown by the first number; from the second on, commits wait for
  /// the end of it.
  static let checkpointPages = 1024
  static let maximumPages = 4096
  /// A process that has written so many pages stays, so the write-ahead log is given its room at once: a commit that
  /// makes the file longer waits for the file system's journal too, about as long again as for its own bytes.
  static let pagesBeforeGrowth = 32
  private static let room = (checkpointPages + 256) * WriteAheadFile.bytesAPage

  /// Held during each commit, while the write-ahead log is given room, and by a checkpoint that begins it anew. The number
  /// means nothing: ThreadSanitizer takes an access to a value without a size for one to what stands behind it.
  let gate = Locked(0)
  private let queue = DispatchQueue(label: "navsync.log.upkeep")
  private let heads: HeadsFile
  /// The connection of the checkpoints, nil when it has to be opened (again).
  private let connection = Locked<Database?>(nil)
  private let path: String
  private let pending = Locked(Pending())

  private struct Pending: Sendable {
    var pages = 0
    /// Where the next checkpoint begins.
    var next = Upkeep.checkpointPages
    var hasCheckpoint = false
    var hasRoom = false
    var hasSync = false
  }

  init(path: String, heads: HeadsFile) {
    self.path = path
    self.heads = heads
  }

  /// Pages in the write-ahead log after the last commit.
  var pages: Int { pending.withLock { $0.pages } }

  /// After each commit.
  func committed(pages: Int) {
    let (checkpoint, growth, sync) = pending.withLock { pending in
      // Fewer than before: it was begun anew.
      if pages < pending.pages { pending.next = Upkeep.checkpointPages }
      pending.pages = pages
      let news = (
        pages >= pending.next && !pending.hasCheckpoint, pages >= Upkeep.pagesBeforeGrowth && !pending.hasRoom,
        !pending.hasSync
      )
      if news.1 { pending.hasRoom = true }
      if news.0 {
        pending.next = pages + Upkeep.checkpointPages
        pending.hasCheckpoint = true
      }
      pending.hasSync = true
      return news
    }
    if growth { queue.async { self.makeRoom() } }
    if checkpoint { queue.async { self.checkpoint() } }
    if sync { queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.syncHeads() } }
  }

  /// Ends it, with the write-ahead log copied whole if no reader is in the way.
  func finish() throws(LogError) {
    // What was begun is ended first; what comes later finds a closed file and does nothing.
    queue.sync {}
    try connection.withLock { (database: inout Database?) throws(LogError) in
      defer { database = nil }
      try open(&database).checkpoint(.truncate)
    }
    try heads.close()
  }

  private func syncHeads() {
    pending.withLock { $0.hasSync = false }
    // A failure shows at the next opening at worst, as an alarm.
    try? heads.sync()
  }

  /// Makes the write-ahead log as long as it will be, with zeros: blocks that were only reserved cost the journal as much
  /// as new ones. On a disk that is nearly full, or fails, nothing is done.
  private func makeRoom() {
    let file = Glibc.open(path + "-wal", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { Glibc.close(file) }
    var disk = statvfs()
    guard fstatvfs(file, &disk) == 0, Int(disk.f_bavail) * Int(disk.f_frsize) > 64 * Upkeep.room else { return }
    let zeros = [UInt8](repeating: 0, count: 256 * 1024)
    var isDone = false
    while !isDone {
      // Commits wait for one piece at a time, so that none is written over.
      isDone = gate.withLock { _ in
        let end = lseek(file, 0, SEEK_END)
        return end < 0 || end >= Upkeep.room || pwrite(file, zeros, zeros.count, end) != zeros.count
      }
    }
    fdatasync(file)
  }

  private func checkpoint() {
    connection.withLock { database in
      do throws(LogError) {
        let database = try open(&database)
        // Copies what was committed when it begins; whether commits came meanwhile isn't said.
        try database.checkpoint(.passive)
        if pages >= Upkeep.maximumPages {
          // It never waits for a reader (a long one is a backup): commits would wait with it.
          try gate.withLock { (_: inout Int) throws(LogError) in _ = try database.checkpoint(.restart) }
        }
      } catch {
        // Nothing is lost: all of it is in the write-ahead log, and what failed is written again by the next
        // checkpoint, by a new connection that believes nothing of the old one's.
        database = nil
      }
    }
    pending.withLock { $0.hasCheckpoint = false }
  }

  private func open(_ database: inout Database?) throws(LogError) -> Database {
    if let database { return database }
    let opened = try Database(path, .writing)
    try opened.execute(Schema.writing)
    opened.checkpointOnClose()
    opened.waitForOthers(milliseconds: 0)
    database = opened
    return opened
  }
}
