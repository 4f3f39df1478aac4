import Foundation
import Glibc

/// A program in a terminal that draws: tmux's, which a test reads as text.
///
/// Used on one thread. What it waits for must come within a minute, on any machine.
public final class TmuxSession {
  /// Whether tmux is installed.
  public static let isAvailable = FileManager.default.isExecutableFile(atPath: "/usr/bin/tmux")

  /// Where the server's socket lies; its path is short.
  private let folder: URL

  /// - Parameters:
  ///   - command: for the shell.
  ///   - tellsEnd: whether `ended with` and its exit code are shown when it has ended. tmux 3.3a doesn't always know.
  public init(columns: Int = 80, rows: Int = 24, _ command: String, tellsEnd: Bool = false) throws {
    let command = tellsEnd ? command + "; echo ended with $?; read line" : command
    folder = URL(fileURLWithPath: "/tmp/navsync-tmux-\(UUID().uuidString.prefix(13))", isDirectory: true)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let configuration = folder.appendingPathComponent("tmux.conf")
    // Without a status line all rows are the program's; what has ended stays to be looked at.
    let settings = "set -g status off\nset -g remain-on-exit on\nset -g default-terminal tmux-256color\n"
    try Data(settings.utf8).write(to: configuration)
    try run(
      ["-f", configuration.path, "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", command])
  }

  deinit {
    _ = try? run(["kill-server"])
    try? FileManager.default.removeItem(at: folder)
  }

  /// The screen, without the blanks at the ends of its lines and the empty lines at its bottom.
  public func screen() throws -> String {
    var lines = try run(["capture-pane", "-p"]).components(separatedBy: "\n").map { line in
      String(line.reversed().drop { $0 == " " }.reversed())
    }
    while lines.last == "" { lines.removeLast() }
    return lines.joined(separator: "\n")
  }

  /// Presses keys by tmux's names: `Up`, `Enter`, `BTab`, `C-z`, or text.
  public func press(_ keys: String...) throws { try run(["send-keys"] + keys) }

  public func resize(columns: Int, rows: Int) throws {
    try run(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
  }

  /// A value by tmux's name for it, such as `alternate_on` or `pane_dead`.
  public func value(_ name: String) throws -> String {
    try run(["display-message", "-p", "#{\(name)}"]).trimmingCharacters(in: .newlines)
  }

  /// Looks until the screen is as wanted; gives it.
  @discardableResult
  public func wait(_ what: String, until condition: (String) throws -> Bool) throws -> String {
    let end = Date(timeIntervalSinceNow: 60)
    while true {
      let screen = try screen()
      if try condition(screen) { return screen }
      guard end > Date() else { throw PseudoTerminal.Failure("\(what) is never shown:\n\(screen)") }
    }
  }

  @discardableResult
  public func wait(for text: String) throws -> String { try wait("'\(text)'") { $0.contains(text) } }

  /// Not by Foundation's `Process`, which waits for the server too when the server was started by what it ran.
  @discardableResult
  private func run(_ arguments: [String]) throws -> String {
    let quoted = (["-u", "-S", folder.appendingPathComponent("tmux").path] + arguments).map { argument in
      "'" + argument.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
    let command = "LANG=C.UTF-8 SHELL=/bin/sh /usr/bin/tmux \(quoted.joined(separator: " ")) </dev/null"
    guard let stream = popen(command, "r") else { throw PseudoTerminal.Failure("there is no shell") }
    var text: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = fread(&bytes, 1, bytes.count, stream)
      guard count > 0 else { break }
      text += bytes[..<count]
    }
    guard pclose(stream) == 0 else {
      throw PseudoTerminal.Failure("tmux \(arguments.joined(separator: " ")) fails")
    }
    return String(decoding: text, as: UTF8.self)
  }
}
