import Glibc

/// Reading and writing of files that are read whole.
enum SmallFile {
  /// What a file has, nil if there is none.
  ///
  /// - Parameters:
  ///   - limit: more bytes are an error.
  ///   - isSecret: whether nobody but its owner, who is this user or root, may read it.
  static func read(_ path: String, limit: Int, isSecret: Bool = false) throws(KeyFileError) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .system(path, "opened")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(path, "examined") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw KeyFileError(.damaged, path, "it is no file") }
    guard status.st_uid == owner(ofFolderOf: path) || status.st_uid == 0 else {
      throw KeyFileError(
        .exposed, path, "it belongs to user \(status.st_uid), and this program runs as \(geteuid()); run chown")
    }
    let open = status.st_mode & (isSecret ? 0o077 : 0o022)
    guard open == 0 else {
      throw KeyFileError(
        .exposed, path,
        isSecret
          ? "other users can read the secret key (mode \(octal(status.st_mode))); run chmod 600 on it, or make new keys if "
            + "somebody may have read it"
          : "other users can change it (mode \(octal(status.st_mode))); run chmod go-w on it")
    }
    guard status.st_size <= limit else {
      throw KeyFileError(.damaged, path, "\(status.st_size) bytes; at most \(limit) are read")
    }
    // It may grow meanwhile: no more than the limit is read all the same.
    var failure: KeyFileError?
    let bytes = [UInt8](unsafeUninitializedCapacity: limit + 1) { buffer, count in
      while count < limit + 1 {
        let read = Glibc.read(descriptor, buffer.baseAddress! + count, limit + 1 - count)
        if read < 0, errno == EINTR { continue }
        if read < 0 { failure = .system(path, "read") }
        guard read > 0 else { return }
        count += read
      }
    }
    if let failure { throw failure }
    guard bytes.count <= limit else { throw KeyFileError(.damaged, path, "more than \(limit) bytes") }
    return bytes
  }

  /// Writes a file whole, or leaves what was there: into a new one beside it, made durable, then renamed.
  ///
  /// - Parameter replaces: whether one that is there gives way.
  static func write(
    _ path: String, _ text: String, mode: mode_t = 0o600, replaces: Bool = true
  ) throws(KeyFileError) {
    let temporary = path + ".new"
    unlink(temporary)
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw .system(path, "written") }
    defer { unlink(temporary) }
    var isGood = fchmod(descriptor, mode) == 0
    if geteuid() == 0 { isGood = isGood && fchown(descriptor, owner(ofFolderOf: path), gid_t.max) == 0 }
    var rest = Array(text.utf8)[...]
    while isGood, !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { isGood = false }
    }
    isGood = isGood && fsync(descriptor) == 0
    let failure = errno
    isGood = close(descriptor) == 0 && isGood
    guard isGood else {
      errno = failure
      throw .system(path, "written")
    }
    if replaces {
      guard rename(temporary, path) == 0 else { throw .system(path, "written") }
    } else {
      // A link, unlike a rename, doesn't take the place of what is there.
      guard link(temporary, path) == 0 else {
        if errno == EEXIST { throw KeyFileError(.exists, path, "it is there already") }
        throw .system(path, "written")
      }
    }
    syncFolder(of: path)
  }

  static func remove(_ path: String) {
    unlink(path)
    syncFolder(of: path)
  }

  /// Who uses the files of a folder: this user; but root, who looks after a service, acts for the folder's owner.
  static func owner(ofFolderOf path: String) -> uid_t {
    var status = stat()
    guard geteuid() == 0, stat(folder(of: path), &status) == 0 else { return geteuid() }
    return status.st_uid
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func syncFolder(of path: String) {
    let folder = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  private static func octal(_ mode: mode_t) -> String { String(mode & 0o7777, radix: 8) }
}

/// Runs a body while nobody else runs one with the same file; waits for whoever does.
func withFileLock(_ path: String, _ body: () throws(KeyFileError) -> Void) throws(KeyFileError) {
  let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
  guard descriptor >= 0 else { throw .system(path, "opened") }
  // Closing unlocks.
  defer { close(descriptor) }
  var status = stat()
  // Another name of some file of root's is none that was made here.
  if geteuid() == 0, fstat(descriptor, &status) == 0, status.st_nlink == 1 {
    _ = fchown(descriptor, SmallFile.owner(ofFolderOf: path), gid_t.max)
  }
  while flock(descriptor, LOCK_EX) != 0 {
    guard errno == EINTR else { throw .system(path, "locked") }
  }
  try body()
}
