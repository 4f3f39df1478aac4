package import ArgumentParsing
package import Commands
import Foundation
import Glibc
import Locking

/// `navsync-chaos soak`.
package struct SoakCommand: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "soak", abstract: "Run a daemon with many devices for a long time, and see whether anything grows.",
    discussion: """
      The devices act once a second, come and go, follow stacks and leave them, are killed and stopped; the wire to half of \
      them is cut; stacks go out of use and come back. The daemon is stopped now and then, and in the first third killed. \
      Over the second half memory, descriptors, threads, processor and the store's bytes an event mustn't grow by more than \
      the summary says, and at the end everything that was acknowledged must be there.
      """,
    examples: [
      CommandExample("navsync-chaos soak --minutes 30", "Half an hour with 50 devices."),
      CommandExample("navsync-chaos soak --minutes 1 --devices 10 --json", "A try, for a program."),
    ],
    exitCodes: [
      ExitCodeDescription(0, "all is flat, and nothing is missing"),
      ExitCodeDescription(1, "something grew, or is missing; it is shown"),
    ])

  @Option(placeholder: "NUMBER", help: "How long.") var minutes = 30.0
  @Option(placeholder: "NUMBER", help: "How many devices, each a process.") var devices = 50
  @Option(placeholder: "SECONDS", help: "From one measurement to the next.") var every = 10.0
  @Option(placeholder: "NUMBER", help: "What happens follows from it.") var seed: Int?
  @Option(placeholder: "PATH", help: "Where the programs are; without it beside this one.") var programs: String?
  @Flag(help: "Keep the folder, also when all held.") var keep: Bool
  @Flag(help: "Write all that was measured as JSON.") var json: Bool

  package init() {}

  private struct Report: Encodable {
    var seed: Int
    var seconds: Double
    var devices: Int
    var acknowledgedByDevices: Int
    var acknowledgedByDaemons: Int
    var happened: [String: Int]
    var trends: [Trend]
    var samples: [SoakSample]
  }

  package func run(on console: Console) async throws {
    let seed = seed ?? Int(UInt32.random(in: 0 ... .max))
    console.say("seed \(seed)")
    let network = Network.obstacle()
    if let network { console.say("the wire is not cut: \(network)") }
    let report = try await Workplace.with(keep: keep, diskBlockBytes: nil, network: network == nil, programs: programs)
    {
      place in
      let fleet = Fleet(in: place, names: (1...max(devices, 1)).map { "device-\($0)" }) { _ in }
      var soak = Soak(fleet, seconds: minutes * 60, sampleSeconds: every, seed: seed) { console.say($0) }
      do { try await soak.run() } catch {
        for line in fleet.history.suffix(20) { console.say(line) }
        for line in fleet.daemonLines().suffix(12) { console.say("  " + line) }
        throw CommandError(.failed, "seed \(seed): \(error); logs and stores are in \(place.folder)")
      }
      let ledger = fleet.ledger.withLock { $0 }
      return Report(
        seed: seed, seconds: minutes * 60, devices: devices, acknowledgedByDevices: ledger.actions,
        acknowledgedByDaemons: ledger.accepted, happened: soak.happened, trends: soak.samples.trends,
        samples: soak.samples)
    }
    if json { try console.print(Line.text(report)) } else { try print(report, on: console) }
    let grown = report.trends.filter { !$0.isFlat }
    guard grown.isEmpty else {
      throw CommandError(.failed, "it grew: " + grown.map(\.name).joined(separator: "; "))
    }
  }

  private func print(_ report: Report, on console: Console) throws {
    for (what, count) in report.happened.sorted(by: { $0.key < $1.key }) {
      try console.print(String(format: "%8d ", count) + what)
    }
    try console.print("over the second half" + String(repeating: " ", count: 17) + "begin      end  may grow by")
    for trend in report.trends {
      let name = trend.name.padding(toLength: 34, withPad: " ", startingAt: 0)
      try console.print(
        name + String(format: "%8.1f %8.1f %8.1f  ", trend.begin, trend.end, trend.allowed)
          + (trend.isFlat ? "flat" : "GREW"))
    }
    try console.print(
      "\(report.acknowledgedByDevices) actions acknowledged by devices, \(report.acknowledgedByDaemons) by the daemon: "
        + "every one is there")
  }
}
