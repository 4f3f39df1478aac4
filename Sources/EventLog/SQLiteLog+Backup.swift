import Glibc

extension SQLiteLog {
  /// Copies the log while it is in use; see ``SQLiteReader/backup(to:)``. Holds up appends for as long: a daemon rather
  /// hands a reader to another thread.
  public func backup(to folder: String) throws(LogError) {
    try using { (writer) throws(LogError) in try writer.reader.backup(to: folder) }
  }
}

extension SQLiteReader {
  /// Copies the log as it is at this moment into a folder, which is made and mustn't have a store. The writer goes on
  /// meanwhile, but its write-ahead log grows until the copy is done.
  ///
  /// To restore it, end the program and put `log.sqlite3` into an empty folder of a store, or name the backup's folder
  /// as the store. A copy has no file of heads, so it opens with a new epoch and the notice ``OpenReport/Notice/withoutHeads``:
  /// a daemon's clients then follow anew, by vector, and bring back what the copy lacks; a device whose log was restored
  /// takes a new id.
  public func backup(to folder: String) throws(LogError) {
    let path = Schema.database(in: folder)
    try Opening.makeFolder(folder)
    guard access(path, F_OK) != 0 else {
      throw LogError(.readOnly, about: folder, "a store is there already; name an empty folder for the backup")
    }
    let part = path + ".part"
    // What a backup that was cut short left.
    unlink(part)
    Database.makePrivate(part)
    // One transaction, unlike SQLite's stepwise backup, which begins anew whenever the writer commits.
    let copy = try Statement(database, "VACUUM INTO ?")
    copy.bind(1, part)
    try copy.run()
    guard rename(part, path) == 0 else { throw .system(errno, "naming the backup", path) }
    try Opening.syncFolder(folder)
  }
}
