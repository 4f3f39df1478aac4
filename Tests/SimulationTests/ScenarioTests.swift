import Foundation
import Simulation
import Testing

/// Worlds as text: the short ones of `Scenarios`, each of which broke a law once, and what makes long ones short.
@Suite struct ScenarioTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Scenarios")

  static let files =
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.filter { $0.hasSuffix(".txt") }.sorted() ?? []

  @Test func thereAreScenarios() { #expect(Self.files.count >= 4) }

  @Test(arguments: files) func scenario(_ file: String) throws {
    let text = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
    let scenario = try Scenario(text)
    #expect(!scenario.why.isEmpty, "\(file) doesn't say why it exists")
    #expect(Simulation(scenario).violation == nil, "deploy/simulate --scenario \(file) --trace shows it")
  }

  @Test(arguments: 0..<50 as Range<UInt64>) func aTextIsTheScenario(_ seed: UInt64) throws {
    let scenario = Scenario(seed: seed, size: .small)
    #expect(try Scenario("\(scenario)") == scenario)
  }

  @Test(arguments: [
    "seed 1", "seed x\n1.000 end", "devices at 1\n1.000 end", "devices at 0\n1.000 device-1 main: push 1\n2.000 end",
    "devices at 0\n1.000 device-0 other: push 1\n2.000 end", "devices at 0\n1.000 device-0 main: jump\n2.000 end",
    "devices at 0\n1.000 storm: device-0\n2.000 end", "devices at 0\n1.000 disk full: for 1.000\n2.000 end",
    "devices at 0\n2.000 device-0 main: push 1\n1.000 end", "daemons 2\ndevices at 0 1\n1.000 end",
    "1.000 end\n2.000 end",
  ])
  func whatIsNoScenario(_ text: String) {
    #expect(throws: Scenario.Malformed.self) { try Scenario(text) }
  }

  /// What fails becomes short: of a world in which nothing gets level only the one is left who can't be reached.
  @Test func aFailureIsMadeShort() throws {
    let long = Scenario(seed: 5, size: .small)
    #expect(Shrinker(long) == nil)
    let shrunk = try #require(Shrinker(long, most: 300, sabotage: .nothingLost))
    #expect(shrunk.law == .nothingLost)
    #expect(shrunk.before == long.count)
    #expect(shrunk.scenario.count == 1, "\(shrunk.scenario)")
    #expect(Simulation(shrunk.scenario, sabotage: .nothingLost).violation?.law == .nothingLost)
    #expect(Simulation(shrunk.scenario).violation == nil)
  }
}
