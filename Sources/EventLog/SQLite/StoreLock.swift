import Glibc

/// The lock of a store's writer: `flock` on a file beside the database, which says who holds it. It ends with the
/// process, however that ends.
final class StoreLock {
  private let descriptor: Int32

  /// Takes the lock, or throws `.busy` naming the holder after waiting that long.
  init(_ path: String, in folder: String, program: String, waitMilliseconds: Int) throws(LogError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(errno, "opening the lock", path) }
    var left = waitMilliseconds
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let number = errno
      guard number == EWOULDBLOCK || number == EINTR, left > 0 else {
        let error: LogError =
          number == EWOULDBLOCK
          ? LogError(
            .busy, about: folder,
            "held by \(StoreLock.holder(descriptor)); wait for it, stop it, or name another folder")
          : .system(number, "locking", path)
        Glibc.close(descriptor)
        throw error
      }
      // There is no waiting for a lock with a limit of time but asking again.
      usleep(20_000)
      left -= 20
    }
    self.descriptor = descriptor
    let text = Array("\(getpid()) \(program)\n".utf8)
    ftruncate(descriptor, 0)
    // Only for people: the lock holds without it.
    _ = pwrite(descriptor, text, text.count, 0)
  }

  /// Unlocks before it closes: a process that is being started elsewhere in this one has a copy of the descriptor for a
  /// moment, and closing alone would leave the lock with it.
  deinit {
    flock(descriptor, LOCK_UN)
    Glibc.close(descriptor)
  }

  /// "process 1234 (navsyncd)", as the holder wrote it.
  private static func holder(_ descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    let words = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split { $0 == " " || $0 == "\n" }
    guard words.count == 2 else { return "another process" }
    return "process \(words[0]) (\(words[1]))"
  }
}
