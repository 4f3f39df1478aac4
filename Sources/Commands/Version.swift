package import ArgumentParsing
import CSQLite
import CSodium
import CZeroMQ
import CZlib

/// `navsync version`.
package struct Version: RunnableCommand {
  /// The version of this package.
  package static let number = "0.1.0"

  package static let configuration = CommandConfiguration(
    name: "version", abstract: "Show the versions of navsync and of what it is built on.",
    examples: [CommandExample("navsync version", "What to put into a bug report.")])

  package init() {}

  package func run(on console: Console) async throws {
    for (name, version) in Version.versions() { try console.print("\(name) \(version)") }
  }

  /// Names and versions: navsync's own, then the compiler's and the libraries' that run now.
  package static func versions() -> [(name: String, version: String)] {
    var major: Int32 = 0
    var minor: Int32 = 0
    var patch: Int32 = 0
    zmq_version(&major, &minor, &patch)
    return [
      ("navsync", number), ("Swift", swiftVersion), ("libzmq", "\(major).\(minor).\(patch)"),
      ("SQLite", String(cString: sqlite3_libversion())), ("libsodium", String(cString: sodium_version_string())),
      ("zlib", String(cString: zlibVersion())),
    ]
  }

  /// The compiler tells its version only by conditions, so this is as fine as they are.
  private static var swiftVersion: String {
    #if compiler(>=6.4)
      "6.4 or later"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }
}
