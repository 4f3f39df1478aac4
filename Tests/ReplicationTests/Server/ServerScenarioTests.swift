import Foundation
import Testing

/// The scenario files of the daemon's half of a session: commands, `----`, what comes of them. After a change that is
/// meant, `NAVSYNC_REWRITE_SCENARIOS=1 swift test --filter ServerScenarioTests` writes them anew; review the difference.
@Suite struct ServerScenarioTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Scenarios/server")

  private static let files =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.hasSuffix(".txt") }.sorted()

  @Test func thereAreScenarios() { #expect(Self.files.count >= 12) }

  @Test(arguments: files) func scenario(_ file: String) throws {
    let path = Self.folder.appendingPathComponent(file)
    let text = try String(contentsOf: path, encoding: .utf8)
    #expect(text.hasPrefix("# "), "a scenario opens with why it exists")
    let result = try Self.run(text)
    if ProcessInfo.processInfo.environment["NAVSYNC_REWRITE_SCENARIOS"] != nil {
      try result.write(to: path, atomically: true, encoding: .utf8)
    } else {
      #expect(result == text)
    }
  }

  /// The file with the outputs as they are.
  private static func run(_ text: String) throws -> String {
    var script = ServerScript()
    var result: [String] = []
    var commands: [String] = []
    var isOutput = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if isOutput {
        isOutput = !line.isEmpty
        if !isOutput { result.append(line) }
      } else if line == "----" {
        result += [line, try script.run(commands)]
        commands = []
        isOutput = true
      } else {
        result.append(line)
        if !line.isEmpty, !line.hasPrefix("#") { commands.append(line) }
      }
    }
    return result.joined(separator: "\n")
  }
}
