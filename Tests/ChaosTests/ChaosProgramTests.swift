import Foundation
import TestSupport
import Testing

/// The program behind `deploy/chaos`, on the programs of this build; a few of its rounds, of kinds that any machine allows.
@Suite(.timeLimit(.minutes(5))) struct ChaosProgramTests {
  private struct Summary: Decodable {
    var rounds: [String: Int]
    var acknowledgedByDevices: Int
    var acknowledgedByDaemons: Int
  }

  private func chaos(_ words: String...) throws -> (code: Int32, output: Data, error: String) {
    let process = Process()
    let (output, error) = (Pipe(), FileManager.default.temporaryDirectory.appendingPathComponent("chaos-\(UUID())"))
    try Data().write(to: error)
    defer { try? FileManager.default.removeItem(at: error) }
    process.executableURL = try BuiltProgram.url("navsync-chaos")
    process.arguments = words
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: error)
    try process.run()
    try output.fileHandleForWriting.close()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, data, try String(contentsOf: error, encoding: .utf8))
  }

  @Test(arguments: ["kill-daemon", "truncate"]) func nothingAcknowledgedIsLost(_ kind: String) throws {
    let (code, output, error) = try chaos("rounds", "--rounds", "2", "--only", kind, "--seed", "1", "--json")
    #expect(code == 0, "\(error)")
    let summary = try JSONDecoder().decode(Summary.self, from: output)
    #expect(summary.rounds == [kind: 2])
    #expect(summary.acknowledgedByDaemons > 0)
    #expect(summary.acknowledgedByDaemons <= summary.acknowledgedByDevices)
    #expect(error.contains("round    2  \(kind)"))
  }

  private struct Soak: Decodable {
    struct Sample: Decodable { var residentBytes, descriptors, threads, storeBytes, devices: Int }
    var acknowledgedByDevices: Int
    var acknowledgedByDaemons: Int
    var samples: [Sample]
  }

  /// Far too short to say whether anything grows, which is all that it may find.
  @Test func aSoakMeasuresAndLosesNothing() throws {
    let (code, output, error) = try chaos(
      "soak", "--minutes", "0.1", "--devices", "4", "--every", "1", "--seed", "1", "--json")
    #expect(code == 0 || code == 1 && error.contains("it grew"), "\(error)")
    let soak = try JSONDecoder().decode(Soak.self, from: output)
    #expect(soak.samples.count >= 3)
    #expect(soak.samples.allSatisfy { $0.residentBytes > 1 << 20 && $0.descriptors > 3 && $0.threads > 1 })
    #expect(soak.acknowledgedByDevices > 0)
  }

  @Test func anUnknownKindIsRefused() throws {
    let (code, _, error) = try chaos("rounds", "--only", "meteor")
    #expect(code == 2)
    #expect(error.contains("kill-daemon"))
  }
}
