import Dispatch

/// What goes on behind the writer, on a thread of its own: checkpoints, and syncing the file of heads.
///
/// A checkpoint in the committing thread costs tens of milliseconds now and then. Here it copies the write-ahead log
/// into the database while commits go on. As long as they do, the log is never copied whole and so never begun anew;
/// when it has grown to its bound, the rest is copied with commits held back for that moment.
final class Upkeep: Sendable {
  /// Of 4 KiB. A checkpoint begins whenever the log has grown by the first number; from the second on, commits wait for
  /// the end of it.
  static let checkpointPages = 1024
  static let maximumPages = 4096

  /// Held during each commit, and by a checkpoint that begins the write-ahead log anew.
  let gate = Locked(())
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
    let (checkpoint, sync) = pending.withLock { pending in
      // Fewer than before: it was begun anew.
      if pages < pending.pages { pending.next = Upkeep.checkpointPages }
      pending.pages = pages
      let news = (pages >= pending.next && !pending.hasCheckpoint, !pending.hasSync)
      if news.0 {
        pending.next = pages + Upkeep.checkpointPages
        pending.hasCheckpoint = true
      }
      pending.hasSync = true
      return news
    }
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

  private func checkpoint() {
    connection.withLock { database in
      do throws(LogError) {
        let database = try open(&database)
        // Copies what was committed when it begins; whether commits came meanwhile isn't said.
        try database.checkpoint(.passive)
        if pages >= Upkeep.maximumPages {
          // It never waits for a reader (a long one is a backup): commits would wait with it.
          try gate.withLock { (_: inout Void) throws(LogError) in _ = try database.checkpoint(.restart) }
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
