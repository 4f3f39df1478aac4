import Glibc

/// The paths at which a daemon and its clients meet, and the folder around them.
public enum IPCPath {
  /// The folder of the system's service.
  public static let serviceFolder = "/run/navsync"

  /// Where clients look for a daemon's sync socket, in order: `$XDG_RUNTIME_DIR/navsync/sync`, the service's, and that
  /// of the user without a runtime folder.
  /// - Parameters:
  ///   - runtimeFolder: the value of `XDG_RUNTIME_DIR`; the environment's, if not given.
  public static func candidates(
    runtimeFolder: String? = environment("XDG_RUNTIME_DIR"), user: UInt32 = currentUser
  ) -> [String] {
    var result: [String] = []
    if let runtimeFolder, runtimeFolder.hasPrefix("/") { result.append(runtimeFolder + "/navsync/sync") }
    return result + [serviceFolder + "/sync", "/tmp/navsync-\(user)/sync"]
  }

  /// Where a daemon listens that was told nothing: the first of ``candidates(runtimeFolder:user:)`` that it may use. The
  /// service's counts if this user owns its folder, or may make it.
  public static func forDaemon(
    runtimeFolder: String? = environment("XDG_RUNTIME_DIR"), user: UInt32 = currentUser
  ) throws(ZeroMQError) -> Endpoint {
    for path in candidates(runtimeFolder: runtimeFolder, user: user) {
      let folder = folder(of: path)
      if folder == serviceFolder {
        var status = stat()
        guard lstat(folder, &status) == 0 ? status.st_uid == user : access("/run", W_OK) == 0 else { continue }
      }
      return try Endpoint(path: path)
    }
    preconditionFailure("the last candidate always fits")
  }

  /// The first candidate at which a socket lies, in a folder that only its owner, this user or the system's service, can
  /// change; where this user's own daemon would listen if there is none, so that a client can wait for it.
  public static func forClient(
    runtimeFolder: String? = environment("XDG_RUNTIME_DIR"), user: UInt32 = currentUser
  ) throws(ZeroMQError) -> Endpoint {
    let paths = candidates(runtimeFolder: runtimeFolder, user: user)
    let found = paths.first { path in
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return false }
      return folder(of: path) == serviceFolder || (try? checkFolder(folder(of: path), user: user)) != nil
    }
    guard let found else { return try forDaemon(runtimeFolder: runtimeFolder, user: user) }
    return try Endpoint(path: found)
  }

  /// The feed's endpoint beside a sync socket: the same folder, the name `feed`, or `<name>-feed` if the sync socket has
  /// a name other than `sync`.
  public static func feed(beside sync: Endpoint) throws(ZeroMQError) -> Endpoint? {
    guard let path = sync.path else { return nil }
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    return try Endpoint(path: folder(of: path) + "/" + (name == "sync" ? "feed" : name + "-feed"))
  }

  /// Makes the folder of a path with its parents, for its owner alone (0700), and checks it if it was there.
  /// - Throws: `EPERM` if another user owns it or may write into it.
  public static func prepareFolder(of path: String, user: UInt32 = currentUser) throws(ZeroMQError) {
    let folder = folder(of: path)
    var made = ""
    for part in folder.split(separator: "/") {
      made += "/" + part
      guard mkdir(made, 0o700) != 0 else { continue }
      let failure = errno
      if failure != EEXIST, access(made, F_OK) != 0 {
        throw ZeroMQError(
          failure, call: "mkdir", about: made,
          detail: "the folder can't be made: \(String(cString: strerror(failure)))")
      }
    }
    try checkFolder(folder, user: user)
  }

  private static func checkFolder(_ folder: String, user: UInt32) throws(ZeroMQError) {
    var status = stat()
    // In a folder that all may write into, another user could place a link to one of ours.
    if lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, status.st_uid != user, status.st_uid != 0 {
      throw ZeroMQError(
        EPERM, call: "lstat", about: folder,
        detail: "it is a link that user \(status.st_uid) made; remove it or choose another")
    }
    guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw ZeroMQError(ENOTDIR, call: "stat", about: folder, detail: "it is not a folder")
    }
    guard status.st_uid == user else {
      throw ZeroMQError(
        EPERM, call: "stat", about: folder,
        detail: "user \(status.st_uid) owns the folder, this program runs as \(user); remove it or choose another")
    }
    guard status.st_mode & 0o022 == 0 else {
      throw ZeroMQError(
        EPERM, call: "stat", about: folder, detail: "other users may write into the folder; run chmod go-w on it")
    }
  }

  /// Whether a process has the socket at a path. A daemon that was killed leaves one behind that nobody has.
  ///
  /// Asks with a datagram socket: to connect it fails with `ECONNREFUSED` where no process has the path, with `EPROTOTYPE`
  /// where one listens for streams, and the one that listens isn't troubled (`unix_find_other` in Linux).
  public static func isListening(_ path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return code == 0 || (errno != ECONNREFUSED && errno != ENOENT && errno != ENOTDIR)
  }

  /// Whether this user may use the socket at a path, if there is one.
  public static func isAllowed(_ path: String) -> Bool { access(path, R_OK | W_OK) == 0 || errno != EACCES }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// The user that this process acts as.
  public static var currentUser: UInt32 { geteuid() }

  /// A variable of the environment that is set and not empty.
  public static func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}
