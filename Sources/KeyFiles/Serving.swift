import Access
import Glibc

/// That a process serves with a folder's keys: the lock on its file `serving`, in which stands what others have to know
/// of it. Held until it is let go or the process ends.
public final class Serving: Sendable {
  private let descriptor: Int32
  private let endpoints: [String]

  /// - Parameter endpoints: where it listens.
  /// - Throws: ``KeyFileError``: `.refused` if another process has the lock, naming it.
  public init(_ folder: KeyFolder, endpoints: [String]) throws(KeyFileError) {
    try folder.make()
    // The end of this object empties the file: there is none before the lock is held.
    descriptor = try Self.lock(folder)
    self.endpoints = endpoints
    tell("starting")
  }

  /// The file, open and locked.
  private static func lock(_ folder: KeyFolder) throws(KeyFileError) -> Int32 {
    let path = folder.servingPath
    let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard opened >= 0 else { throw .system(path, "opened") }
    var tries = 0
    while flock(opened, LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      let problem: KeyFileError
      if errno == EWOULDBLOCK {
        // Who only looks whether it is taken has it for a moment.
        tries += 1
        if tries < 20 {
          pauseBriefly()
          continue
        }
        let process = folder.server.map { "process \($0.process)" } ?? "another process"
        problem = KeyFileError(
          .refused, path, "\(process) serves with these keys already; stop it, or name another folder")
      } else {
        problem = .system(path, "locked")
      }
      close(opened)
      throw problem
    }
    return opened
  }

  deinit {
    ftruncate(descriptor, 0)
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Says which rules hold, or what is wrong with those that are in the folder.
  public func tell(_ state: String) {
    let text = Array("\(getpid())\n\(endpoints.joined(separator: " "))\n\(state.prefix(1000))\n".utf8)
    // Whoever reads in between finds these lines, with the end of the ones before behind them. A full disk means that who
    // waits for it is told that nothing came.
    let count = pwrite(descriptor, text, text.count, 0)
    if count > 0 { ftruncate(descriptor, count) }
  }
}

/// What stands in the file of who serves.
public struct Server: Hashable, Sendable {
  public var process: Int32
  public var endpoints: [String]
  /// As ``Serving/tell(_:)`` had it last.
  public var state: String

  /// What is wrong with the files that are in the folder, if that is what it said.
  var problem: String? { state.hasPrefix("problem: ") ? String(state.dropFirst(9)) : nil }
}

extension KeyFolder {
  var servingPath: String { file("serving") }

  /// Who serves with these keys; nil if nobody does.
  public var server: Server? { isServed ? written : nil }

  /// What is written of who serves, which a process that was killed leaves behind.
  private var written: Server? {
    guard let text = try? SmallFile.read(servingPath, limit: 64 << 10) else { return nil }
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 3, let process = Int32(lines[0]), process > 1 else { return nil }
    return Server(
      process: process, endpoints: lines[1].split(separator: " ").map(String.init), state: String(lines[2]))
  }

  /// Whether somebody has the lock.
  private var isServed: Bool {
    let descriptor = open(servingPath, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0
  }

  /// What ``Serving/tell(_:)`` says when the files that are in the folder now are in use: a digest of them.
  public func stamp() throws(KeyFileError) -> String {
    var all: [UInt8] = []
    for path in [rulesPath, publicPath(), publicPath(.next), file("pairing")] {
      let text = try SmallFile.read(path, limit: AccessRules.longestText)
      all += Array("\(text.map { "\($0.count)" } ?? "none")\n".utf8) + (text ?? [])
    }
    return Z85.encode(PairingOffer.digest(of: all))
  }

  /// What became of a change, as far as a daemon that runs is concerned.
  public enum Told: Hashable, Sendable {
    /// None runs with these keys.
    case nobody
    /// It goes by what is in the folder now.
    case applied(process: Int32)
    /// It can't be reached, doesn't answer, or says that something is wrong.
    case failed(process: Int32, String)
  }

  /// Has the daemon that serves with these keys read the folder again (SIGHUP), and waits until it says that it has.
  /// Blocks, for five seconds at most.
  public func tellServer() throws(KeyFileError) -> Told {
    guard let server else { return .nobody }
    let wanted = try stamp()
    guard kill(server.process, SIGHUP) == 0 else {
      return .failed(process: server.process, "it can't be told: \(String(cString: strerror(errno)))")
    }
    var last: Server?
    for _ in 0..<500 {
      last = written
      if last?.state == wanted { return .applied(process: server.process) }
      // One that it said before may be what this change mends.
      if let problem = last?.problem, problem != server.problem { return .failed(process: server.process, problem) }
      pauseBriefly()
    }
    return .failed(
      process: server.process, last?.problem ?? "it doesn't say that it has read \(path); send it a SIGHUP")
  }
}

/// Ten milliseconds.
private func pauseBriefly() {
  var pause = timespec(tv_sec: 0, tv_nsec: 10_000_000)
  nanosleep(&pause, nil)
}
