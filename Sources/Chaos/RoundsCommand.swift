package import ArgumentParsing
package import Commands
import Foundation

/// `navsync-chaos rounds`.
package struct RoundsCommand: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "rounds", abstract: "Break real daemons and devices, and check that nothing acknowledged is lost.",
    discussion: """
      Each round lets four devices act at random, does something terrible to one of the processes, their disks, clocks or \
      network, puts it right, and waits until all are level. Then every action that a device or the daemon acknowledged \
      must be on the disk of every replica, all must hold and show the same, and the daemon must have said what happened. \
      Some rounds begin with a new fleet in a new folder. A round that fails is shown with its history, and its folder is \
      kept.
      """,
    examples: [
      CommandExample("navsync-chaos rounds --rounds 300", "All that this machine allows."),
      CommandExample("navsync-chaos rounds --only kill-daemon --only power --seed 7", "Two kinds, as another time."),
    ],
    exitCodes: [
      ExitCodeDescription(0, "all held"), ExitCodeDescription(1, "something didn't; it is shown"),
    ])

  @Option(placeholder: "NUMBER", help: "How many.") var rounds = 50
  @Option(placeholder: "NUMBER", help: "What is done follows from it; when which process is at what does not.")
  var seed: Int?
  @Option(placeholder: "KIND", help: "Only this kind of fault. May be given again.") var only: [Fault] = []
  @Option(placeholder: "NUMBER", help: "Rounds with the same fleet.") var fleet = 20
  @Option(placeholder: "SECONDS", help: "How long a process is stopped; without it up to 6 s.") var stopSeconds: Int?
  @Option(placeholder: "PATH", help: "Where the programs are; without it beside this one.") var programs: String?
  @Flag(help: "Keep the folders, also when all held.") var keep: Bool
  @Flag(help: "Tell each step.") var verbose: Bool
  @Flag(help: "Write the summary as JSON.") var json: Bool

  package init() {}

  package func run(on console: Console) async throws {
    let seed = seed ?? Int(UInt32.random(in: 0 ... .max))
    let means = Means.found()
    let wanted = only.isEmpty ? Fault.allCases : Fault.allCases.filter(only.contains)
    var skipped: [String: String] = [:]
    for fault in wanted { skipped[fault.rawValue] = fault.obstacle(means) }
    for (fault, why) in skipped.sorted(by: { $0.key < $1.key }) { console.say("skipped: \(fault): \(why)") }
    let faults = wanted.filter { skipped[$0.rawValue] == nil }
    guard !faults.isEmpty else { throw CommandError(.failed, "none of these faults is possible here") }
    let kinds = only.isEmpty ? faults.flatMap { Array(repeating: $0, count: $0.weight) } : faults
    console.say("seed \(seed)")

    var summary = Summary(seed: seed, skipped: skipped)
    var done = 0
    while done < rounds {
      let numbers = done + 1...min(done + fleet, rounds)
      let run = FleetRun(
        kinds: kinds, seed: seed, stopMilliseconds: stopSeconds.map { $0 * 1000 }, verbose: verbose, console: console)
      try await Workplace.with(
        keep: keep, diskBlockBytes: run.diskBlockBytes(from: numbers.lowerBound), network: run.needsNetwork,
        programs: programs
      ) {
        try await run.run(numbers, in: $0, &summary)
      }
      done = numbers.upperBound
    }
    try summary.print(json: json, on: console)
  }
}

/// What came of the rounds.
struct Summary: Encodable {
  var seed: Int
  /// By kind, why it wasn't done.
  var skipped: [String: String]
  var rounds: [String: Int] = [:]
  /// Actions on a device's disk.
  var acknowledgedByDevices = 0
  /// Of those, what a daemon said that it has.
  var acknowledgedByDaemons = 0
  var seconds = 0

  init(seed: Int, skipped: [String: String]) {
    self.seed = seed
    self.skipped = skipped
  }

  func print(json: Bool, on console: Console) throws {
    if json { return try console.print(Line.text(self)) }
    for (kind, count) in rounds.sorted(by: { $0.key < $1.key }) { try console.print("\(pad(count)) \(kind)") }
    let all = rounds.values.reduce(0, +)
    try console.print(
      "\(pad(all)) rounds in \(seconds) s; \(acknowledgedByDevices) actions acknowledged by devices, "
        + "\(acknowledgedByDaemons) by daemons: every one is on every replica")
    for (kind, why) in skipped.sorted(by: { $0.key < $1.key }) { try console.print("  skipped \(kind): \(why)") }
  }

  private func pad(_ number: Int) -> String {
    String(repeating: " ", count: max(0, 8 - "\(number)".count)) + "\(number)"
  }
}
