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
  if path == "-" { return try console.withBufferedOutput(body) }
  var status = stat()
  let isThere = stat(path, &status) == 0
  if isThere, status.st_mode & S_IFMT != S_IFREG { return try writeThrough(path: path, body) }
  let exists = CommandError(.refused, "'\(path)' is there already; --force overwrites it")
  if !overwrites, isThere { throw exists }
  func failed(_ what: String) -> CommandError {
    CommandError(errno == ENOENT ? .notFound : .failed, "\(what) '\(path)': \(systemMessage())")
  }

  let folder = (path as NSString).deletingLastPathComponent
  let name = (path as NSString).lastPathComponent
  let temporary = (folder.isEmpty ? "" : folder + "/") + ".\(name).\(String(UInt32.random(in: 0 ... .max), radix: 36))"
  let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
  guard descriptor >= 0 else { throw failed("can't write") }
  var isOpen = true
  defer {
    if isOpen { close(descriptor) }
    unlink(temporary)
  }
  let output = BufferedOutput(descriptor: descriptor, name: "'\(path)'")
  try body(output)
  try output.flush()
  guard fsync(descriptor) == 0 else { throw failed("can't make durable") }
  isOpen = false
  guard close(descriptor) == 0 else { throw failed("can't write") }
  if overwrites {
    guard rename(temporary, path) == 0 else { throw failed("can't replace") }
  } else if link(temporary, path) != 0 {
    // A link, unlike a rename, refuses to replace a file that came in the meantime.
    throw errno == EEXIST ? exists : failed("can't write")
  }
  let folderDescriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  if folderDescriptor >= 0 {
    fsync(folderDescriptor)
    close(folderDescriptor)
  }
}

/// Writes to what isn't a regular file, such as a pipe or `/dev/null`: renaming would put a file in its place.
private func writeThrough(path: String, _ body: (BufferedOutput) throws -> Void) throws {
  let descriptor = open(path, O_WRONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw CommandError(.failed, "can't write '\(path)': \(systemMessage())") }
  defer { close(descriptor) }
  let output = BufferedOutput(descriptor: descriptor, name: "'\(path)'")
  try body(output)
  try output.flush()
}
