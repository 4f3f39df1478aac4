import Foundation

/// A `navsyncd` in a process of its own, watched from outside.
final class RunningDaemon {
  private let process = Process()
  private let log: String
  /// Where its sockets are.
  private(set) var tcp = ""
  private(set) var local = ""
  private var port = ""
  private var feedPort = ""

  init(_ path: String, in folder: URL) throws {
    log = folder.appendingPathComponent("log").path
    _ = FileManager.default.createFile(atPath: log, contents: nil)
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: path)
    local = "ipc://\(folder.path)/sync"
    process.arguments = [
      "--store", folder.path + "/store", "--listen", local, "--listen", "tcp://127.0.0.1:0", "--feed",
      "tcp://127.0.0.1:0", "--log-format", "human",
    ]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle(forWritingAtPath: log)
    try process.run()
    try output.fileHandleForWriting.close()
    var ready = ""
    while !ready.hasSuffix("\n"), let more = try output.fileHandleForReading.read(upToCount: 1) {
      ready += String(decoding: more, as: UTF8.self)
    }
    for word in ready.split(whereSeparator: \.isWhitespace) {
      guard let colon = word.lastIndex(of: ":") else { continue }
      let number = String(word[word.index(after: colon)...])
      if word.hasPrefix("tcp://") { (tcp, port) = (String(word), number) }
      if word.hasPrefix("feed=tcp://") { feedPort = number }
    }
    guard !port.isEmpty, !feedPort.isEmpty else { throw Failure("the daemon doesn't serve: \(ready)") }
  }

  func end() {
    guard process.isRunning else { return }
    process.terminate()
    process.waitUntilExit()
  }

  // MARK: From outside

  private var folder: String { "/proc/\(process.processIdentifier)" }

  /// Its resident memory now, or the most since it began anew, in MiB.
  func memory(most: Bool) -> Int {
    let status = (try? String(contentsOfFile: folder + "/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(most ? "VmHWM:" : "VmRSS:") }
    return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) / 1024
  }

  /// The most memory is that from now on (proc(5), clear_refs).
  func beginsAnew() { try? "5".write(toFile: folder + "/clear_refs", atomically: false, encoding: .utf8) }

  func files() -> Int { (try? FileManager.default.contentsOfDirectory(atPath: folder + "/fd").count) ?? 0 }

  func cpuSeconds() -> Double {
    let fields = ((try? String(contentsOfFile: folder + "/stat", encoding: .utf8)) ?? "").split(separator: " ")
    guard fields.count > 15, let user = Double(fields[13]), let system = Double(fields[14]) else { return 0 }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// The kinds of lines that it logged, without their times and fields.
  func logLines() -> Set<String> {
    let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
    return Set(
      text.split(separator: "\n").map { line in
        let words = line.split(separator: " ", omittingEmptySubsequences: true).dropFirst()
        return words.prefix { !$0.contains("=") }.joined(separator: " ")
      })
  }

  /// Starts an attack, in a process that gives way to all others: peers have processors of their own.
  func attacker(_ name: String, _ stack: String, _ seconds: Double) throws -> Attacker {
    try Attacker(["attack", name, port, feedPort, stack, "\(seconds)"])
  }
}

/// An attack under way.
final class Attacker {
  private let process = Process()
  private let output = Pipe()

  init(_ words: [String]) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/nice")
    process.arguments = ["-n", "19", CommandLine.arguments[0]] + words
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    try process.run()
    try output.fileHandleForWriting.close()
  }

  /// Waits for its end; gives what it printed.
  @discardableResult
  func finish() throws -> String {
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure("the attack failed") }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
