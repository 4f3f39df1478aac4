import Foundation

/// Writes a file so that it is there as a whole or not at all: into a new file beside it, made durable, then renamed.
///
/// - Parameters:
///   - path: `-` is the console's output.
///   - overwrites: whether a file that is there is replaced; if not, it stands, and the error says `--force`.
///   - mode: who may read it.
package func writeFile(
  path: String, on console: Console, overwrites: Bool, mode: UInt32 = 0o644,
  _ body: (BufferedOutput) throws -> Void
) throws {
  let file = try NewFile(path: path, on: console, overwrites: overwrites, mode: mode)
  try body(file.output)
  try file.finish()
}

/// A file on its way: it takes its name at ``finish()``, and is gone if that isn't reached.
package final class NewFile {
  /// What is written goes there.
  package let output: BufferedOutput
  private let path: String
  private let overwrites: Bool
  /// Nil for what is written through: the output, a pipe, a device.
  private let temporary: String?
  /// -1 if there is none to close.
  private var descriptor: Int32

  /// Parameters as of ``writeFile(path:on:overwrites:mode:_:)``.
  package init(path: String, on console: Console, overwrites: Bool, mode: UInt32 = 0o644) throws {
    self.path = path
    self.overwrites = overwrites
    var status = stat()
    let isThere = path != "-" && stat(path, &status) == 0
    if path == "-" {
      (temporary, descriptor) = (nil, -1)
      output = BufferedOutput(descriptor: console.output, name: "the standard output")
      return
    }
    if isThere, status.st_mode & S_IFMT != S_IFREG {
      // Renaming would put a file in the place of a pipe or of /dev/null.
      (temporary, descriptor) = (nil, open(path, O_WRONLY | O_CLOEXEC))
    } else {
      if !overwrites, isThere { throw NewFile.exists(path) }
      let name = (path as NSString).lastPathComponent
      let random = String(UInt32.random(in: 0 ... .max), radix: 36)
      let temporary = NewFile.folder(of: path).map { $0 + "/" } ?? ""
      self.temporary = temporary + ".\(name).\(random)"
      descriptor = open(temporary + ".\(name).\(random)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    }
    guard descriptor >= 0 else { throw NewFile.failed("can't write", path) }
    output = BufferedOutput(descriptor: descriptor, name: "'\(path)'")
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    if let temporary { unlink(temporary) }
  }

  /// Makes what was written durable, and gives it its name.
  package func finish() throws {
    try output.flush()
    guard let temporary else { return }
    guard fsync(descriptor) == 0 else { throw NewFile.failed("can't make durable", path) }
    let descriptor = self.descriptor
    self.descriptor = -1
    guard close(descriptor) == 0 else { throw NewFile.failed("can't write", path) }
    if overwrites {
      guard rename(temporary, path) == 0 else { throw NewFile.failed("can't replace", path) }
    } else if link(temporary, path) != 0 {
      // A link, unlike a rename, refuses to replace a file that came in the meantime.
      throw errno == EEXIST ? NewFile.exists(path) : NewFile.failed("can't write", path)
    }
    let folder = open(NewFile.folder(of: path) ?? ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
  }

  private static func folder(of path: String) -> String? {
    let folder = (path as NSString).deletingLastPathComponent
    return folder.isEmpty ? nil : folder
  }

  private static func exists(_ path: String) -> CommandError {
    CommandError(.refused, "'\(path)' is there already; --force overwrites it")
  }

  private static func failed(_ what: String, _ path: String) -> CommandError {
    CommandError(.ofSystem(errno), "\(what) '\(path)': \(systemMessage())")
  }
}
