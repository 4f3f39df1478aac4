public import Foundation

/// The files that tests compare with.
public enum Fixtures {
  /// `Tests/Fixtures`.
  public static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fixtures", isDirectory: true)

  /// The lines of a gzipped text.
  public static func lines(ofGzipped name: String) throws -> [String] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/gzip")
    process.arguments = ["-dc", folder.appendingPathComponent(name).path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.fileReadCorruptFile) }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
