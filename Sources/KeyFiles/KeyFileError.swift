import Access
import Glibc

/// What is wrong with a file of keys or rules.
public struct KeyFileError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Code: Hashable, Sendable {
    /// The file isn't there.
    case notFound
    /// It is there, and was to be made.
    case exists
    /// Others than its owner can read or change it.
    case exposed
    /// It can't be read as what it should be.
    case damaged
    /// What was asked for makes no sense here, or isn't to be had now; or the system doesn't let this user do it, or has
    /// no room.
    case refused
    /// A call of the system failed otherwise.
    case failed

    /// What an `errno` comes to.
    static func ofSystem(_ number: Int32) -> Code {
      [EACCES, EPERM, EROFS, ENOSPC, EDQUOT].contains(number) ? .refused : .failed
    }
  }

  public var code: Code
  /// The file or folder.
  public var path: String
  /// What happened and what to do, in words that follow a colon.
  public var detail: String

  public init(_ code: Code, _ path: String, _ detail: String) {
    self.code = code
    self.path = path
    self.detail = detail
  }

  init(_ error: TextError, in path: String) { self.init(.damaged, path, "\(error)") }

  /// Of the system call that failed last on this thread.
  static func system(_ path: String, _ what: String) -> KeyFileError {
    KeyFileError(.ofSystem(errno), path, "it can't be \(what): \(String(cString: strerror(errno)))")
  }

  public var description: String { "\(path): \(detail)" }
}
