import Foundation
import TestSupport
import Testing
import ZeroMQ

/// A `navsyncd` in a process of its own, as it was built beside the tests.
final class DaemonProcess {
  private let process = Process()
  private let output = Pipe()
  private let errorPath: String
  /// The line that begins with `ready:`, empty if it ended without one.
  private(set) var ready = ""

  /// Starts it, and waits until it serves or has ended.
  ///
  /// - Parameter files: how many files it may have open.
  init(
    _ arguments: [String], in folder: URL, files: Int? = nil, environment: [String: String] = [:]
  ) throws {
    errorPath = folder.appendingPathComponent("log-\(UUID().uuidString)").path
    let program = try BuiltProgram.url("navsyncd").path
    try #require(FileManager.default.isExecutableFile(atPath: program), "navsyncd is built beside the tests")
    _ = FileManager.default.createFile(atPath: errorPath, contents: nil)
    process.executableURL = URL(fileURLWithPath: files == nil ? program : "/usr/bin/prlimit")
    process.arguments = (files.map { ["--nofile=\($0):\($0)", program] } ?? []) + arguments
    process.environment = environment.merging(["PATH": "/usr/bin:/bin", "HOME": folder.path]) { one, _ in one }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle(forWritingAtPath: errorPath)
    try process.run()
    try output.fileHandleForWriting.close()
    var line: [UInt8] = []
    while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
      line.append(byte)
    }
    ready = String(decoding: line, as: UTF8.self)
  }

  deinit { end() }

  var identifier: Int32 { process.processIdentifier }

  /// Where it listens, by the place among its arguments.
  func endpoint(_ place: Int) throws -> Endpoint {
    let words = ready.split(separator: " ").dropFirst().filter { !$0.contains("=") }
    try #require(place < words.count, "it doesn't serve: \(log)")
    return try Endpoint(String(words[words.startIndex + place]))
  }

  /// What it logged so far.
  var log: String { (try? String(contentsOfFile: errorPath, encoding: .utf8)) ?? "" }

  func signal(_ number: Int32) { kill(process.processIdentifier, number) }

  /// Lets its files grow to so many bytes and no further, as a full disk would; nil takes the limit back.
  func limitFiles(to bytes: Int?) throws { try limit("--fsize=\(bytes.map(String.init) ?? "unlimited"):unlimited") }

  /// Lets it have so many open files.
  func limitDescriptors(to count: Int) throws { try limit("--nofile=\(count):") }

  private func limit(_ option: String) throws {
    let prlimit = try Process.run(
      URL(fileURLWithPath: "/usr/bin/prlimit"), arguments: [option, "--pid", "\(identifier)"])
    prlimit.waitUntilExit()
    try #require(prlimit.terminationStatus == 0)
  }

  /// Waits for its end.
  ///
  /// - Returns: its exit code, or the number of the signal that ended it as a negative one.
  func wait() -> Int32 {
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }

  /// Kills it if it still runs.
  func end() {
    if process.isRunning { signal(SIGKILL) }
    process.waitUntilExit()
  }
}
