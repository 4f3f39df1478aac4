import Glibc

/// Why a terminal can't be used.
package struct TerminalError: Error, CustomStringConvertible, Sendable {
  package let description: String

  init(_ what: String, _ number: Int32) {
    description = "\(what): \(String(cString: strerror(number)))"
  }

  init(_ description: String) { self.description = description }
}
