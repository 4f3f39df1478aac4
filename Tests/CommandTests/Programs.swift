import Foundation
import TestSupport
import Testing

/// The built programs with a state folder and a socket of their own.
final class Programs {
  let state: String
  let socket: String
  private var daemons: [Process] = []

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

  /// Runs a program to its end.
  func run(_ path: String, _ words: [String]) throws -> Result {
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = words
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
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
  ///   - peers: other daemons that it follows.
  ///   - through: a program that becomes the one that its arguments name, such as `env` or `nohup`. The first makes
  ///     sure that no signal is ignored because the tests ignore it.
  func startDaemon(through wrapper: String? = nil, peers: [String] = []) throws -> Process {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: wrapper ?? "/usr/bin/env")
    process.arguments =
      (wrapper == nil ? ["--default-signal=HUP"] : [])
      + [try BuiltProgram.url("navsyncd").path, "--listen", endpoint, "--log-level", "error"]
      + peers.flatMap { ["--peer", $0] }
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    daemons.append(process)
    try output.fileHandleForWriting.close()
    try #require(try output.fileHandleForReading.read(upToCount: 6) == Data("ready:".utf8))
    return process
  }

  fileprivate func end() {
    for daemon in daemons {
      if daemon.isRunning { kill(daemon.processIdentifier, SIGKILL) }
      daemon.waitUntilExit()
    }
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
