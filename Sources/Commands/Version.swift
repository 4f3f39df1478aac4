package import ArgumentParsing
import CNCurses
import CSQLite
import CSodium
import CZeroMQ
import CZlib
import EventLog
import Foundation
import NavigationModel
import WireFormat

/// `navsync version`.
package struct Version: RunnableCommand {
  /// The version of this package.
  package static let number = "0.1.0"

  package static let configuration = CommandConfiguration(
    name: "version", abstract: "Show the versions of navsync and of what it is built on.",
    examples: [
      CommandExample("navsync version", "What to put into a bug report."),
      CommandExample("navsync version --full --json", "For an audit: its formats, and every library that it loads."),
    ])

  @OptionGroup var options: VersionOptions

  package init() {}

  package func run(on console: Console) async throws { try options.show(on: console) }

  /// One of the things that have a version.
  package struct Item: Encodable {
    var name: String
    var version: String
    /// What it is: `part` of what runs, a `format` that it speaks or writes, or a library's `file`.
    var kind: String
  }

  /// Navsync's own, then the compiler's and the libraries' that run now.
  package static func parts() -> [Item] {
    var major: Int32 = 0
    var minor: Int32 = 0
    var patch: Int32 = 0
    zmq_version(&major, &minor, &patch)
    return [
      ("navsync", number), ("Swift", swiftVersion), ("libzmq", "\(major).\(minor).\(patch)"),
      ("SQLite", String(cString: sqlite3_libversion())), ("libsodium", String(cString: sodium_version_string())),
      ("zlib", String(cString: zlibVersion())),
    ].map { Item(name: $0.0, version: $0.1, kind: "part") }
  }

  /// The rest of what an audit asks for.
  fileprivate static func more() -> [Item] {
    let ncurses = String(cString: curses_version()).split(separator: " ").last.map(String.init) ?? ""
    let parts = [
      ("ncurses", ncurses), ("glibc", libraryVersion), ("Linux", kernelVersion),
    ].map { Item(name: $0.0, version: $0.1, kind: "part") }
    let formats = [
      ("protocol", Hello.version), ("feed", Int(FeedTopic.version)), ("store", SQLiteLog.format),
      ("fold", StackFold.version), ("export", Int(BinaryExport.magic[BinaryExport.versionPlace])),
    ].map { Item(name: "\($0.0) format", version: "\($0.1)", kind: "format") }
    return parts + formats + loadedFiles().map { Item(name: $0.name, version: $0.file, kind: "file") }
  }

  private static var libraryVersion: String {
    var text = [CChar](repeating: 0, count: 64)
    _ = confstr(Int32(_CS_GNU_LIBC_VERSION), &text, text.count)
    // `glibc 2.36`.
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      .split(separator: " ").last.map(String.init) ?? "unknown"
  }

  private static var kernelVersion: String {
    var system = utsname()
    guard uname(&system) == 0 else { return "unknown" }
    return withUnsafeBytes(of: system.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// The libraries that are in memory, by name: the file of each, whose own name often has the version.
  private static func loadedFiles() -> [(name: String, file: String)] {
    // A file whose size the system doesn't know: read to its end.
    let maps = (try? FileHandle(forReadingAtPath: "/proc/self/maps")?.readToEnd()) ?? Data()
    var files: Set<String> = []
    for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
      guard let start = line.firstIndex(of: "/") else { continue }
      let path = String(line[start...])
      if path.contains(".so") { files.insert(path) }
    }
    return files.map { ("\($0.split(separator: "/").last?.split(separator: ".").first ?? "")", $0) }
      .sorted { $0 < $1 }
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

/// `navsyncd version`.
package struct DaemonVersion: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "version", abstract: "Show the versions of the daemon and of what it is built on.",
    examples: [
      CommandExample("navsyncd version --full", "For an audit: its formats, and every library that it loads.")
    ])

  @OptionGroup var options: VersionOptions

  package init() {}

  package func run(on console: Console) async throws { try options.show(on: console) }
}

/// How much of the versions, and how.
package struct VersionOptions: ParsableOptions {
  @Flag(help: "Also the system's, those of protocol and files, and the file of each library.") var full: Bool
  @OptionGroup var output: OutputOptions

  package init() {}

  func show(on console: Console) throws {
    let items = Version.parts() + (full ? Version.more() : [])
    if output.json { return try printJSON(items, on: console) }
    for item in items { try console.print("\(item.name) \(item.version)") }
  }
}
