import Foundation

/// A file without a name in the folder for temporary files (`TMPDIR`): it is gone when nobody holds it any more.
final class TemporaryFile {
  let descriptor: Int32
  /// What is written goes to its end, and can be read when it is flushed.
  let output: BufferedOutput

  /// - Parameter what: what it is for, for messages.
  init(for what: String) throws {
    var path = Array("\(FileManager.default.temporaryDirectory.path)/navsync-XXXXXX".utf8CString)
    descriptor = mkstemp(&path)
    guard descriptor >= 0 else {
      throw CommandError(.ofSystem(errno), "no temporary file for \(what): \(systemMessage())")
    }
    unlink(path)
    output = BufferedOutput(descriptor: descriptor, name: "a temporary file for \(what)")
  }

  deinit { close(descriptor) }

  /// Just so many bytes from there on, which must have been written and flushed.
  func read(_ count: Int, at offset: Int) throws -> [UInt8] {
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let read = pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(offset + filled))
        if read < 0, errno == EINTR { continue }
        guard read > 0 else {
          failure = read < 0 ? errno : EIO
          return
        }
        filled += read
      }
    }
    guard failure == 0 else {
      throw CommandError(.failed, "reading a temporary file failed: \(systemMessage(failure))")
    }
    return bytes
  }
}
