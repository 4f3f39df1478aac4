import Foundation

/// A program that shows long output page by page: `NAVSYNC_PAGER`, or else `PAGER`, or else `less`.
///
/// Only on a terminal, and only if it can be started; an empty name or `cat` means none. `less` is told, unless `LESS`
/// says otherwise, to end at once if it all fits, to pass colours on, and to leave the screen as it is (as git does).
final class Pager {
  /// The console whose output the pager shows; the caller's own if there is none.
  let console: Console
  private var process: Process?
  private var pipe: Pipe?

  init(_ console: Console, wanted: Bool) {
    let name = console.environment["NAVSYNC_PAGER"] ?? console.environment["PAGER"] ?? "less"
    guard wanted, console.isTerminal, console.environment["TERM"] != "dumb", !name.isEmpty, name != "cat" else {
      self.console = console
      return
    }
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "command -v \(name) >/dev/null 2>&1 && exec \(name) || exec cat"]
    process.environment = console.environment.merging(["LESS": "FRX"]) { own, _ in own }
    process.standardInput = pipe
    process.standardOutput = FileHandle(fileDescriptor: console.output, closeOnDealloc: false)
    process.standardError = FileHandle(fileDescriptor: console.error, closeOnDealloc: false)
    do { try process.run() } catch {
      self.console = console
      return
    }
    self.process = process
    self.pipe = pipe
    self.console = console.showing(through: pipe.fileHandleForWriting.fileDescriptor)
  }

  /// Runs a body with a console that pages, and waits until the person has seen enough.
  static func paging(_ console: Console, wanted: Bool, _ body: (Console) async throws -> Void) async throws {
    let pager = Pager(console, wanted: wanted)
    var failure: (any Error)?
    do { try await body(pager.console) } catch { failure = error }
    pager.end()
    if let failure { throw failure }
  }

  private func end() {
    guard let process, let pipe else { return }
    try? pipe.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
