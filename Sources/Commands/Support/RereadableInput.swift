import Foundation

/// A file that can be read more than once. The standard input, or a pipe, is kept in a temporary file for that.
final class RereadableInput {
  let name: String
  private let file: Source

  private enum Source {
    /// Owned.
    case named(Int32)
    case temporary(TemporaryFile)
  }

  /// Throws a ``CommandError``.
  init(path: String, on console: Console) throws {
    name = path == "-" ? "the standard input" : path
    let given = path == "-" ? dup(console.input) : open(path, O_RDONLY | O_CLOEXEC)
    guard given >= 0 else {
      throw CommandError(.ofSystem(errno), "can't open '\(path)': \(systemMessage())")
    }
    var status = stat()
    // The input's own place in a file may not be its beginning.
    let kind = fstat(given, &status) == 0 ? status.st_mode & S_IFMT : 0
    if kind == S_IFDIR {
      close(given)
      let isStore = isThere(path + "/log.sqlite3")
      throw CommandError(
        .usage,
        isStore
          ? "'\(path)' is a store; name it with --store, and a stack as space/stack"
          : "'\(path)' is a folder, and not a store's; name a file")
    }
    if path != "-", kind == S_IFREG {
      file = .named(given)
      return
    }
    defer { close(given) }
    file = .temporary(try Self.copy(given, name))
  }

  /// What was made of something that a person calls so; written and flushed.
  init(_ file: TemporaryFile, name: String) {
    self.name = name
    self.file = .temporary(file)
  }

  deinit { if case .named(let descriptor) = file { close(descriptor) } }

  /// A reader from the beginning on; one at a time.
  func lines() throws -> LineReader {
    switch file {
    case .named(let descriptor): try LineReader(descriptor: descriptor, name: name)
    case .temporary(let file): try LineReader(descriptor: file.descriptor, name: name)
    }
  }

  private static func copy(_ source: Int32, _ name: String) throws -> TemporaryFile {
    let copy = try TemporaryFile(for: name)
    var block = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let count = read(source, &block, block.count)
      if count < 0 {
        if errno == EINTR { continue }
        throw CommandError(.failed, "reading \(name) failed: \(systemMessage())")
      }
      guard count > 0 else {
        try copy.output.flush()
        return copy
      }
      try copy.output.write(block[..<count])
    }
  }
}
