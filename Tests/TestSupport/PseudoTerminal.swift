public import Foundation
import Glibc

/// A program on a terminal of its own, which it has as its controlling one, and a test at the other end.
///
/// Used on one thread. What it waits for must come within ten seconds.
public final class PseudoTerminal {
  public let process: pid_t
  /// All that the program wrote so far.
  public private(set) var output: [UInt8] = []

  private let master: Int32
  /// Keeps the terminal when the program has ended, so that its settings can be looked at.
  private let slave: Int32
  private var status: Int32?

  /// - Parameters:
  ///   - arguments: of the program, without its name.
  ///   - environment: nothing of this process's own is inherited but what a sanitizer is to pass over.
  public init(
    _ program: URL, _ arguments: [String] = [], columns: Int = 80, rows: Int = 24,
    environment: [String: String] = ["TERM": "xterm-256color", "LANG": "C.UTF-8"]
  ) throws {
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    // TIOCSPTLCK and TIOCGPTN of ioctl_tty(2), which Swift doesn't import: unlock the other end, and ask its number.
    var lock: Int32 = 0
    var number: Int32 = 0
    guard master >= 0, ioctl(master, 0x4004_5431, &lock) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
      throw Failure("no pseudo-terminal", errno)
    }
    let path = "/dev/pts/\(number)"
    slave = open(path, O_RDWR | O_NOCTTY)
    for descriptor in [master, slave] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // The first terminal that the leader of a session opens is its controlling one.
    posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, 0, 1)
    posix_spawn_file_actions_adddup2(&actions, 0, 2)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    sigemptyset(&all)
    posix_spawnattr_setsigmask(&attributes, &all)
    // POSIX_SPAWN_SETSID is a macro that Swift doesn't import.
    let newSession: Int16 = 0x80
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK) | newSession)

    var process: pid_t = 0
    let words = [program.path] + arguments
    let argv = words.map { strdup($0) } + [nil]
    let own = ProcessInfo.processInfo.environment.filter { $0.key == "LSAN_OPTIONS" }
    let envp = environment.merging(own) { given, _ in given }.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { (argv + envp).forEach { free($0) } }
    let result = posix_spawn(&process, program.path, &actions, &attributes, argv, envp)
    guard result == 0 else { throw Failure("\(program.path) can't be started", result) }
    self.process = process
  }

  deinit {
    if status == nil {
      kill(process, SIGKILL)
      var status: Int32 = 0
      waitpid(process, &status, 0)
    }
    close(master)
    close(slave)
  }

  public struct Failure: Error, CustomStringConvertible {
    public let description: String

    init(_ what: String, _ number: Int32) { description = "\(what): \(String(cString: strerror(number)))" }
    public init(_ description: String) { self.description = description }
  }

  /// What the program wrote, as text.
  public var text: String { String(decoding: output, as: UTF8.self) }

  /// Forgets what was written so far.
  public func clearOutput() { output = [] }

  /// Types: writes to the terminal what a keyboard would send.
  public func type(_ text: String) throws {
    let bytes = Array(text.utf8)
    guard write(master, bytes, bytes.count) == bytes.count else { throw Failure("typing", errno) }
  }

  /// Gives the terminal another size; the system tells the program.
  public func resize(columns: Int, rows: Int) {
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
  }

  public func signal(_ number: Int32) { kill(process, number) }

  /// The terminal's settings, as `stty` shows them.
  public var settings: Settings {
    var settings = termios()
    tcgetattr(slave, &settings)
    return Settings(
      flags: [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag],
      characters: withUnsafeBytes(of: settings.c_cc) { Array($0) })
  }

  public struct Settings: Hashable, Sendable {
    public let flags: [UInt32]
    public let characters: [UInt8]
  }

  /// Reads until what was written since `clearOutput` holds the text.
  public func wait(for text: String) throws {
    let wanted = Array(text.utf8)
    try wait("'\(text)'") { output.contains(wanted) }
  }

  /// Reads until the condition holds.
  public func wait(_ what: String, until condition: () -> Bool) throws {
    while !condition() {
      guard try read() else { throw Failure("ended before \(what) was written: \(self.text.debugDescription)") }
    }
  }

  /// Reads nothing until the terminal holds all that it can.
  public func waitUntilFull() throws {
    let end = Date(timeIntervalSinceNow: 10)
    var held: Int32 = -1
    var since = Date()
    while since > Date(timeIntervalSinceNow: -0.1) || held <= 0 {
      var now: Int32 = 0
      _ = ioctl(master, UInt(FIONREAD), &now)
      if now != held { (held, since) = (now, Date()) }
      guard end > Date() else { throw Failure("the terminal is never full") }
    }
  }

  /// Waits for the end of the program; its status as `waitpid` gives it.
  ///
  /// - Parameter isReading: false for a terminal that takes no more than it can hold.
  public func waitForEnd(isReading: Bool = true) throws -> Int32 {
    if let status { return status }
    let end = Date(timeIntervalSinceNow: 10)
    var result: Int32 = 0
    while waitpid(process, &result, WNOHANG) == 0 {
      guard end > Date() else { throw Failure("it doesn't end: \(text.debugDescription)") }
      if isReading { _ = try? read(milliseconds: 10) }
    }
    status = result
    while (try? read(milliseconds: 0)) == true {}
    return result
  }

  /// False at the end of what is written, which can't come while this holds the terminal open.
  private func read(milliseconds: Int32 = 10_000) throws -> Bool {
    var ready = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    guard poll(&ready, 1, milliseconds) > 0 else {
      throw Failure("nothing is written any more: \(text.debugDescription)")
    }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = Glibc.read(master, &bytes, bytes.count)
    guard count > 0 else { return false }
    output += bytes[..<count]
    return true
  }
}
