import CSQLite
import Glibc

/// What a call of SQLite gave: the extended code, whose low byte is the primary one (sqlite.org/rescode.html).
struct ResultCode: RawRepresentable, Hashable {
  let rawValue: Int32

  static let ok = ResultCode(rawValue: SQLITE_OK)
  static let row = ResultCode(rawValue: SQLITE_ROW)
  static let done = ResultCode(rawValue: SQLITE_DONE)
  static let busy = ResultCode(rawValue: SQLITE_BUSY)
  static let locked = ResultCode(rawValue: SQLITE_LOCKED)
  static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
  static let inputOutput = ResultCode(rawValue: SQLITE_IOERR)
  /// `SQLITE_IOERR_FSYNC`, an expression that Swift doesn't import.
  static let failedSync = ResultCode(rawValue: SQLITE_IOERR | 4 << 8)
  static let full = ResultCode(rawValue: SQLITE_FULL)
  static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
  static let outOfMemory = ResultCode(rawValue: SQLITE_NOMEM)

  var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

  /// What it means for the log, with the system's own error number, 0 for none.
  ///
  /// SQLite calls a write failed by `ENOSPC` full, but not one failed by a quota or a limit of the file's size.
  func logCode(systemError: Int32) -> LogError.Code {
    switch primary {
    case .full: .full
    case .busy, .locked: .busy
    case .readOnly: .readOnly
    case .notADatabase: .notAStore
    case .inputOutput, .cannotOpen, .outOfMemory:
      switch systemError {
      case ENOSPC, EDQUOT, EFBIG: .full
      case EROFS, EACCES, EPERM: .readOnly
      case _: .inputOutput
      }
    // A constraint that doesn't hold or a table that isn't there: not as this program writes it.
    case _: .damaged
    }
  }
}

extension LogError {
  /// What to do about it, as the end of a sentence.
  static func advice(for code: Code) -> String {
    switch code {
    case .full: "make room on the disk, then try again; nothing that was stored is lost"
    case .readOnly: "give this user the right to read and write there, then try again"
    case .inputOutput: "look at the disk (the system's log says more), then try again"
    case .busy: "try again when the other process is done"
    case .newerFormat: "use a newer program"
    case .notAStore: "name another folder"
    case .notFound: "name a folder that holds a store"
    case .damaged: "run verify to see what is whole, and restore a backup"
    case .notNext: "read the heads again"
    }
  }

  /// Of a call of the system that failed.
  static func system(_ number: Int32, _ doing: String, _ path: String) -> LogError {
    let code: Code =
      switch number {
      case ENOSPC, EDQUOT, EFBIG: .full
      case EROFS, EACCES, EPERM: .readOnly
      case ENOENT, ENOTDIR: .notFound
      case _: .inputOutput
      }
    return LogError(code, about: path, "\(doing) failed: \(String(cString: strerror(number))); \(advice(for: code))")
  }
}
