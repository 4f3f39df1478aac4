import Foundation
import Glibc
import Locking

/// A process that this one started, in a group of its own, so that Ctrl-C reaches the driver alone. Made by one thread
/// at a time, lest one inherits another's pipes; used by any.
final class Child: Sendable {
  struct Start {
    var program: String
    var arguments: [String]
    var environment: [String: String] = [:]
    /// Where its standard error goes; added to what is there.
    var log: String
    /// The line that it becomes ready by.
    var ready: String?
    /// Where its standard output is kept too; added to what is there.
    var copy: String?
  }

  let identifier: pid_t
  let name: String
  private let input: Locked<Int32?>
  private let state = Locked(State())

  private struct State: Sendable {
    /// The exit code, or the number of the signal that ended it as a negative one.
    var ending: Int32?
    var isRead = false
    var isReady = false
  }

  /// - Parameter line: called for each line of its standard output, in order, on a thread of its own.
  init(_ start: Start, name: String, line: @escaping @Sendable (String) -> Void = { _ in }) throws {
    self.name = name
    var ends: (input: [Int32], output: [Int32]) = ([0, 0], [0, 0])
    guard pipe(&ends.input) == 0, pipe(&ends.output) == 0 else {
      throw Failure("no pipe for \(name): \(systemMessage())")
    }
    for descriptor in ends.input + ends.output { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    let log = open(start.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard log >= 0 else { throw Failure("\(start.log) can't be written: \(systemMessage())") }
    let (code, process) = spawn(start, input: ends.input[0], output: ends.output[1], error: log)
    for descriptor in [ends.input[0], ends.output[1], log] { close(descriptor) }
    guard code == 0 else {
      close(ends.input[1])
      close(ends.output[0])
      throw Failure("\(start.program) can't be started: \(systemMessage(code))")
    }
    identifier = process
    input = Locked(ends.input[1])
    let (state, output, ready) = (state, ends.output[0], start.ready)
    let copy = start.copy.map { open($0, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) } ?? -1
    Thread {
      Lines.read(output) { text in
        if copy >= 0 {
          let bytes = Array((text + "\n").utf8)
          _ = Glibc.write(copy, bytes, bytes.count)
        }
        if let ready, text.hasPrefix(ready) { state.change { $0.isReady = true } }
        line(text)
      }
      close(output)
      if copy >= 0 { close(copy) }
      state.change { $0.isRead = true }
    }.start()
    Thread {
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      let ending = status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
      state.change { $0.ending = ending }
    }.start()
  }

  deinit { closeInput() }

  /// How it ended; nil while it runs.
  var ending: Int32? { state.withLock { $0.ending } }

  var isReady: Bool { state.withLock { $0.isReady } }

  func signal(_ number: Int32) {
    state.withLock { state in if state.ending == nil { _ = kill(identifier, number) } }
  }

  /// Writes a line to its standard input; false if nobody reads it any more.
  @discardableResult
  func write(_ line: String) -> Bool {
    let bytes = Array((line + "\n").utf8)
    return input.withLock { $0.map { Glibc.write($0, bytes, bytes.count) == bytes.count } ?? false }
  }

  /// Nothing more is written to it.
  func closeInput() {
    input.withLock { input in
      if let input { close(input) }
      input = nil
    }
  }

  /// Waits until it has ended and all that it wrote is read.
  func ended(within limit: Duration = .seconds(30)) async throws -> Int32 {
    try await waiting(limit, "\(name) to end") {
      self.state.withLock { $0.isRead ? $0.ending : nil }
    }
  }

  /// Blocks this thread until it has ended.
  func waitForEnd() { _ = state.wait { $0.ending } }

  /// Kills it, whatever it is about, and waits for its end.
  func end() async throws {
    signal(SIGKILL)
    _ = try await ended()
  }
}

/// Why a run can't go on, or what it found.
struct Failure: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}

/// Asks until there is an answer.
func waiting<Answer>(
  _ limit: Duration, _ what: @autoclosure () -> String, _ ask: () async throws -> Answer?
) async throws -> Answer {
  let end = ContinuousClock.now + limit
  var pause = 1
  while true {
    if let answer = try await ask() { return answer }
    guard ContinuousClock.now < end else {
      throw Failure("waited \(limit.components.seconds) s for \(what())")
    }
    try await Task.sleep(for: .milliseconds(pause))
    pause = min(2 * pause, 50)
  }
}

/// Runs a program to its end.
///
/// - Returns: what it wrote to both sides.
@discardableResult
func command(
  _ words: [String], environment: [String: String] = [:], in folder: String
) async throws -> String {
  let said = Locked("")
  let log = "\(folder)/command-\(UInt64.random(in: 0 ... .max)).log"
  defer { unlink(log) }
  let child = try Child(
    Child.Start(
      program: "/usr/bin/env", arguments: words, environment: environment, log: log), name: words[0]
  ) { line in said.withLock { $0 += line + "\n" } }
  let ending = try await child.ended(within: .seconds(120))
  let text = said.withLock { $0 } + ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")
  guard ending == 0 else {
    throw Failure("'\(words.joined(separator: " "))' ended with \(ending): \(text)")
  }
  return text
}

func systemMessage(_ number: Int32 = errno) -> String { String(cString: strerror(number)) }

private enum Lines {
  /// Reads until the end; a last line that was cut short is none.
  static func read(_ descriptor: Int32, _ line: (String) -> Void) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var rest: [UInt8] = []
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      var start = 0
      for place in 0..<count where buffer[place] == UInt8(ascii: "\n") {
        line(String(decoding: rest + buffer[start..<place], as: UTF8.self))
        rest = []
        start = place + 1
      }
      rest += buffer[start..<count]
    }
  }
}

private func spawn(
  _ start: Child.Start, input: Int32, output: Int32, error: Int32
) -> (code: Int32, process: pid_t) {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  for (from, to) in [(input, 0), (output, 1), (error, 2)] {
    posix_spawn_file_actions_adddup2(&actions, from, Int32(to))
  }
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  var all = sigset_t()
  sigfillset(&all)
  var none = sigset_t()
  sigemptyset(&none)
  posix_spawnattr_setsigdefault(&attributes, &all)
  posix_spawnattr_setsigmask(&attributes, &none)
  posix_spawnattr_setpgroup(&attributes, 0)
  posix_spawnattr_setflags(
    &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
  var environment = start.environment
  environment["PATH"] = environment["PATH"] ?? "/usr/sbin:/usr/bin:/sbin:/bin"
  var words = ([start.program] + start.arguments).map { strdup($0) } + [nil]
  var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
  defer { for text in words + variables { free(text) } }
  var process: pid_t = 0
  let code = posix_spawn(&process, start.program, &actions, &attributes, &words, &variables)
  return (code, process)
}
