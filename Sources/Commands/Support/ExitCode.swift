import Foundation

/// How a program of this package ends. The numbers are part of the interface.
package struct ExitCode: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }

  package static let ok = ExitCode(rawValue: 0)
  /// The command failed, or what it checks doesn't hold.
  package static let failed = ExitCode(rawValue: 1)
  /// The command line makes no sense.
  package static let usage = ExitCode(rawValue: 2)
  /// The stack, device or file that was named isn't there.
  package static let notFound = ExitCode(rawValue: 3)
  /// The daemon, the log or a file refused the action; nothing was changed.
  package static let refused = ExitCode(rawValue: 4)
  /// Stored or received data is damaged.
  package static let damage = ExitCode(rawValue: 5)
  /// No daemon answers: `EX_UNAVAILABLE` of sysexits.h.
  package static let unreachable = ExitCode(rawValue: 69)
  /// The daemon knows the caller and doesn't let it: `EX_NOPERM` of sysexits.h.
  package static let notAuthorised = ExitCode(rawValue: 77)

  /// What a failed call of the system comes to, by its `errno`: not there, not allowed or no room, or another failure.
  package static func ofSystem(_ number: Int32) -> ExitCode {
    switch number {
    case ENOENT, ENOTDIR: .notFound
    case EACCES, EPERM, EROFS, ENOSPC, EDQUOT: .refused
    case _: .failed
    }
  }
}

/// Why a command ends without having done what it was told.
package struct CommandError: Error, Hashable, CustomStringConvertible {
  package var code: ExitCode
  /// What happened, to what, and what to do next; no name of the program before it, no full stop after it.
  package var message: String

  package init(_ code: ExitCode, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}

/// Who reads the standard output has gone, as in `navsync log … | head`: the command ends, and nobody is told.
package struct OutputClosed: Error, Hashable {
  package init() {}
}
