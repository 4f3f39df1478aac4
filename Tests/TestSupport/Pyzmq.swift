import Foundation
import Testing

/// A Python that has pyzmq: the one that `NAVSYNC_PYTHON` names, or the system's.
package enum Pyzmq {
  package static let python: String? = {
    let names = [ProcessInfo.processInfo.environment["NAVSYNC_PYTHON"], "/usr/bin/python3"].compactMap(\.self)
    return names.first { (try? run($0, "import zmq, zmq.auth; assert zmq.has('curve')")) != nil }
  }()

  /// What a program prints; it has to end well.
  @discardableResult
  package static func run(_ python: String, _ program: String, _ arguments: [String] = []) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = ["-c", program] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(python) failed: \(program)")
    return String(decoding: text, as: UTF8.self)
  }
}
