import Commands
import Foundation
import TestSupport

/// What a command wrote, and how it ended.
struct Captured {
  var code: ExitCode = .ok
  var output = ""
  var error = ""
}

/// Runs a body with a console whose streams are files of a new temporary folder.
func withCapturedConsole(
  input: [UInt8] = [], environment: [String: String] = [:], _ body: (Console, URL) async throws -> ExitCode
) async throws -> Captured {
  try await withTemporaryFolder { folder in
    let streams = folder.appendingPathComponent("streams")
    try FileManager.default.createDirectory(at: streams, withIntermediateDirectories: false)
    let paths = ["in", "out", "err"].map { streams.appendingPathComponent($0).path }
    try Data(input).write(to: URL(fileURLWithPath: paths[0]))
    let descriptors = paths.map { open($0, O_RDWR | O_CREAT | O_APPEND, 0o600) }
    defer { for descriptor in descriptors { close(descriptor) } }
    let console = Console(
      input: descriptors[0], output: descriptors[1], error: descriptors[2], environment: environment)
    var captured = Captured()
    captured.code = try await body(console, folder)
    captured.output = String(decoding: try Data(contentsOf: URL(fileURLWithPath: paths[1])), as: UTF8.self)
    captured.error = String(decoding: try Data(contentsOf: URL(fileURLWithPath: paths[2])), as: UTF8.self)
    return captured
  }
}

/// Runs a `navsync` command line.
func navsync(
  _ words: String..., input: [UInt8] = [], environment: [String: String] = [:]
) async throws -> Captured {
  try await withCapturedConsole(input: input, environment: environment) { console, _ in
    await run(Navsync.self, arguments: words, on: console)
  }
}
