import Foundation
import TestSupport
import Testing

/// The built programs with a state folder and a socket of their own.
final class Programs {
  let state: String
  let socket: String
  private var started: [Process] = []
  /// The line that the newest daemon said it is ready by.
  private var ready = ""
  private var others: [Programs] = []

  struct Result: Equatable {
    var code: Int32
    var output: String
    var error: String
  }

  fileprivate init(_ folder: URL) {
    state = folder.appendingPathComponent("state").path
    socket = folder.appendingPathComponent("run/sync").path
  }

  var endpoint: String { "ipc://\(socket)" }

  private var environment: [String: String] {
    ["PATH": "/usr/bin:/bin", "HOME": state, "XDG_STATE_HOME": state, "NAVSYNC_DAEMON": endpoint]
  }

  func navsync(_ words: String...) throws -> Result { try navsync(words) }

  func navsync(_ words: [String]) throws -> Result { try run(try BuiltProgram.url("navsync").path, words) }

  /// Another machine's; ended with this one.
  func beside(_ name: String) throws -> Programs {
    let other = Programs(URL(fileURLWithPath: state).deletingLastPathComponent().appendingPathComponent(name))
    others.append(other)
    return other
  }

  /// Starts a command that goes on until it is ended.
  func start(_ words: String..., program: String = "navsync") throws -> RunningProgram {
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    let running = try RunningProgram(try BuiltProgram.url(program).path, words, environment)
    started.append(running.process)
    return running
  }

  /// Runs `navsync` as on a machine that no daemon runs on, and that none is named for.
  func machine(_ words: String..., input: String = "") throws -> Result { try machine(words, input: input) }

  func machine(_ words: [String], input: String = "") throws -> Result {
    try run(try BuiltProgram.url("navsync").path, words, input: input, named: false)
  }

  /// Runs a program to its end.
  ///
  /// - Parameter named: whether this folder's daemon is named in the environment.
  func run(_ path: String, _ words: [String], input: String = "", named: Bool = true) throws -> Result {
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = words
    process.environment = environment
    if !named {
      process.environment?["NAVSYNC_DAEMON"] = nil
      process.environment?["XDG_RUNTIME_DIR"] = state + "/none"
    }
    let inputFile = URL(fileURLWithPath: "\(state)/input-\(UUID().uuidString)")
    try Data(input.utf8).write(to: inputFile)
    process.standardInput = try FileHandle(forReadingFrom: inputFile)
    let files = ["output", "error"].map { URL(fileURLWithPath: "\(state)/\($0)-\(UUID().uuidString)") }
    for file in files { try Data().write(to: file) }
    process.standardOutput = try FileHandle(forWritingTo: files[0])
    process.standardError = try FileHandle(forWritingTo: files[1])
    try process.run()
    process.waitUntilExit()
    let texts = try files.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
    return Result(
      code: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
      output: texts[0], error: texts[1])
  }

  /// Starts a daemon on this state folder, and waits until it serves.
  ///
  /// - Parameters:
  ///   - endpoints: where it listens beside its own socket.
  ///   - peers: other daemons that it follows.
  ///   - through: a program that becomes the one that its arguments name, such as `env` or `nohup`. The first makes
  ///     sure that no signal is ignored because the tests ignore it.
  func startDaemon(
    through wrapper: String? = nil, listening endpoints: [String] = [], peers: [String] = []
  ) throws -> Process {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: wrapper ?? "/usr/bin/env")
    process.arguments =
      (wrapper == nil ? ["--default-signal=HUP"] : [])
      + [try BuiltProgram.url("navsyncd").path, "--listen", endpoint, "--log-level", "info"]
      + endpoints.flatMap { ["--listen", $0] } + peers.flatMap { ["--peer", $0] }
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    _ = FileManager.default.createFile(atPath: logPath, contents: nil)
    process.standardError = FileHandle(forWritingAtPath: logPath)
    try process.run()
    started.append(process)
    try output.fileHandleForWriting.close()
    ready = ""
    while !ready.hasSuffix("\n"), let more = try output.fileHandleForReading.read(upToCount: 1) {
      ready += String(decoding: more, as: UTF8.self)
    }
    try #require(ready.hasPrefix("ready:"), "\(daemonLog())")
    return process
  }

  private var logPath: String { state + "/daemon.log" }

  /// What the newest daemon wrote so far.
  func daemonLog() -> String { (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? "" }

  /// Where the newest daemon listens to others.
  func daemonEndpoint() -> String? { ready.split(separator: " ").first { $0.hasPrefix("tcp://") }.map(String.init) }

  fileprivate func end() {
    for other in others { other.end() }
    for process in started {
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
      process.waitUntilExit()
    }
  }
}

/// A program that is under way. Used on one thread; what it waits for must come within half a minute.
final class RunningProgram {
  let process = Process()
  private let pipes = [Pipe(), Pipe()]
  private var texts: [[UInt8]] = [[], []]

  fileprivate init(_ path: String, _ words: [String], _ environment: [String: String]) throws {
    // Signals that the tests ignore are not ignored there.
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["--default-signal", path] + words
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipes[0]
    process.standardError = pipes[1]
    try process.run()
    for pipe in pipes { try pipe.fileHandleForWriting.close() }
  }

  var output: String { String(decoding: texts[0], as: UTF8.self) }
  var error: String { String(decoding: texts[1], as: UTF8.self) }

  struct Late: Error { var text: String }

  /// Reads until the output has a text.
  func wait(for text: String) throws { while !output.contains(text) { try read(until: text) } }

  /// Reads until the error side has a text.
  func wait(forError text: String) throws { while !error.contains(text) { try read(until: text) } }

  /// Waits for its end, and says how it ended: the exit code, or the signal's number below zero.
  func waitForEnd() -> Int32 {
    process.waitUntilExit()
    while (try? read(until: "")) != nil {}
    return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }

  private func read(until text: String) throws {
    var ready = pipes.map { pollfd(fd: $0.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0) }
    guard poll(&ready, 2, 30_000) > 0 else { throw Late(text: "no \(text): \(output)\(error)") }
    var isOpen = false
    for place in 0..<2 where ready[place].revents & Int16(POLLIN) != 0 {
      let data = pipes[place].fileHandleForReading.availableData
      texts[place] += data
      isOpen = isOpen || !data.isEmpty
    }
    guard isOpen else { throw Late(text: "it ended before \(text): \(output)\(error)") }
  }
}

/// Two state folders, as of two machines.
func withTwoPrograms(_ body: (Programs, Programs) throws -> Void) async throws {
  try await withTemporaryFolder { folder in
    let both = ["one", "two"].map { Programs(folder.appendingPathComponent($0)) }
    defer { for programs in both { programs.end() } }
    try body(both[0], both[1])
  }
}

func withPrograms(_ body: (Programs) throws -> Void) async throws {
  try await withTemporaryFolder { folder in
    let programs = Programs(folder)
    defer { programs.end() }
    try body(programs)
  }
}
