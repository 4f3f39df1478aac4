import Access
import CSodium
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
    let path = folder.servingPath
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    self.endpoints = endpoints
    guard descriptor >= 0 else { throw .system(path, "opened") }
    var tries = 0
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      guard errno == EWOULDBLOCK else { throw .system(path, "locked") }
      // Who only looks whether it is taken has it for a moment.
      tries += 1
      if tries < 20 {
        pauseBriefly()
        continue
      }
      let process = folder.server.map { "process \($0.process)" } ?? "another process"
      throw KeyFileError(.refused, path, "\(process) serves with these keys already; stop it, or name another folder")
    }
    tell("starting")
  }

  deinit {
    guard descriptor >= 0 else { return }
    ftruncate(descriptor, 0)
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Says which rules hold, or what is wrong with those that are in the folder.
  public func tell(_ state: String) {
    let text = Array("\(getpid())\n\(endpoints.joined(separator: " "))\n\(state.prefix(1000))\n".utf8)
    ftruncate(descriptor, 0)
    // A full disk means that who waits for it is told that nothing came.
    _ = pwrite(descriptor, text, text.count, 0)
  }
}

/// What stands in the file of who serves.
public struct Server: Hashable, Sendable {
  public var process: Int32
  public var endpoints: [String]
  /// As ``Serving/tell(_:)`` had it last.
  public var state: String
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
    var digest = [UInt8](repeating: 0, count: 16)
    let code = crypto_generichash(&digest, digest.count, all, UInt64(all.count), nil, 0)
    precondition(code == 0, "libsodium refuses a BLAKE2b of 16 bytes")
    return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
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
    for _ in 0..<500 {
      switch written?.state {
      case wanted?: return .applied(process: server.process)
      case let state? where state.hasPrefix("problem: "):
        return .failed(process: server.process, String(state.dropFirst(9)))
      case _: break
      }
      pauseBriefly()
    }
    return .failed(process: server.process, "it doesn't say that it has read \(path); send it a SIGHUP")
  }
}

/// Ten milliseconds.
private func pauseBriefly() {
  var pause = timespec(tv_sec: 0, tv_nsec: 10_000_000)
  nanosleep(&pause, nil)
}
