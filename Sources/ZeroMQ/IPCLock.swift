import Glibc

/// The right to bind a path: a lock on `<path>.lock`, held until it is let go or the process ends, and so never
/// left behind by a process that died.
///
/// libzmq removes whatever lies at the path and binds, so without it a second daemon takes the path over in silence.
struct IPCLock: ~Copyable {
  private let descriptor: Int32

  /// Takes the lock and removes a socket that a dead process left.
  /// - Throws: `EADDRINUSE` naming the process that holds the path; `EEXIST` if something else than a socket is there.
  init(path: String) throws(ZeroMQError) {
    let lock = path + ".lock"
    descriptor = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw .system("open", about: lock, detail: "the lock can't be opened: \(String(cString: strerror(errno)))")
    }
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      if errno == EWOULDBLOCK {
        throw ZeroMQError(
          EADDRINUSE, call: "flock", about: "ipc://" + path,
          detail: "\(Self.holder(of: descriptor)) listens there already; stop it or choose another path")
      }
      throw .system("flock", about: lock)
    }
    var status = stat()
    if lstat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFSOCK else {
        throw ZeroMQError(
          EEXIST, call: "bind", about: "ipc://" + path,
          detail: "something that is not a socket is there; move it away or choose another path")
      }
      unlink(path)
    }
    let text = Array("\(getpid())\n".utf8)
    // Who holds the path is for messages only, so a full disk doesn't matter.
    if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
  }

  /// Unlocks before it closes: a process that is being started elsewhere in this one has a copy of the descriptor for a
  /// moment, and closing alone would leave the lock with it.
  deinit {
    guard descriptor >= 0 else { return }
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// The process that wrote its number into the lock, for a person.
  private static func holder(of descriptor: Int32) -> String {
    let text = read(from: descriptor)
    guard let number = Int(text.prefix { $0.isNumber }) else { return "another process" }
    if number == Int(getpid()) { return "this very process (\(number))" }
    let file = open("/proc/\(number)/comm", O_RDONLY | O_CLOEXEC)
    defer { if file >= 0 { close(file) } }
    let name = file < 0 ? "" : read(from: file).filter { !$0.isNewline }
    return name.isEmpty ? "process \(number)" : "process \(number) (\(name))"
  }

  private static func read(from descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }
}
