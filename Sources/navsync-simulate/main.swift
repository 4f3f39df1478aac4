import Glibc
import Simulation

// Runs simulated worlds; what it prints is read by deploy/simulate.
//   navsync-simulate FIRST COUNT [STEP] [--small]     so many seeds
//   navsync-simulate --trace SEED [--small]           one of them, with its history
//   navsync-simulate --shrink SEED [--small] FILE     one that fails, as a short scenario
//   navsync-simulate --show SEED [--small]            one of them as a scenario
//   navsync-simulate --scenario FILE [--trace]        a scenario

func report(_ run: Simulation) -> Never {
  for line in run.history { print(line) }
  print(run.violation.map { "broken: \($0)" } ?? "level after \(run.levelAfter ?? 0) ms")
  exit(run.violation == nil ? 0 : 1)
}

func read(_ path: String) throws -> String {
  guard let file = fopen(path, "r") else { throw Scenario.Malformed(description: "\(path) can't be read") }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  while case let byte = fgetc(file), byte >= 0 { bytes.append(UInt8(byte)) }
  return String(decoding: bytes, as: UTF8.self)
}

func write(_ text: String, to path: String) throws {
  guard let file = fopen(path, "w") else { throw Scenario.Malformed(description: "\(path) can't be written") }
  defer { fclose(file) }
  fputs(text, file)
}

let arguments = Array(CommandLine.arguments.dropFirst())
let size: ScenarioSize = arguments.contains("--small") ? .small : .full
let numbers = arguments.compactMap { UInt64($0) }
let paths = arguments.filter { !$0.hasPrefix("--") && UInt64($0) == nil }

do {
  if arguments.contains("--scenario"), let path = paths.first {
    report(Simulation(try Scenario(try read(path)), keepsHistory: arguments.contains("--trace")))
  }
  if arguments.contains("--trace"), let seed = numbers.first {
    report(Simulation(seed: seed, size: size, keepsHistory: true))
  }
  if arguments.contains("--show"), let seed = numbers.first {
    print(Scenario(seed: seed, size: size), terminator: "")
    exit(0)
  }
  if arguments.contains("--shrink"), let seed = numbers.first, let path = paths.first {
    guard let shrunk = Shrinker(Scenario(seed: seed, size: size)) else {
      print("seed \(seed) breaks no law")
      exit(0)
    }
    try write("\(shrunk.scenario)", to: path)
    print(
      "shrunk seed \(seed) from \(shrunk.before) steps to \(shrunk.scenario.count), in \(shrunk.runs) runs: \(path)")
    exit(1)
  }
} catch {
  print(error)
  exit(2)
}

guard numbers.count >= 2 else {
  print(
    "usage: navsync-simulate FIRST COUNT [STEP] [--small], or --trace, --show or --shrink SEED [FILE], or --scenario FILE"
  )
  exit(2)
}

var tally = Tally()
var broken = 0
let step = numbers.count > 2 ? numbers[2] : 1
var seed = numbers[0]
while seed < numbers[0] + numbers[1] {
  let run = Simulation(seed: seed, size: size)
  tally.add(run.tally)
  if let violation = run.violation {
    broken += 1
    print("broken seed \(seed): \(violation)")
  }
  print("done \(seed) \(run.levelAfter ?? -1) \(String(run.fingerprint, radix: 16))")
  fflush(nil)
  seed += step
}
for (what, count) in tally.counts.sorted(by: { $0.key < $1.key }) { print("count \(count) \(what)") }
for (what, count) in tally.faults.sorted(by: { $0.key < $1.key }) { print("fault \(count) \(what)") }
for state in CoveredState.all { print("state \(tally.states[state] ?? 0) \(state)") }
exit(broken == 0 ? 0 : 1)
