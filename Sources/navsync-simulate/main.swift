import Glibc
import Simulation

// Runs simulated worlds: `navsync-simulate FIRST COUNT [STEP]`, or one with its history: `navsync-simulate --trace SEED`.
// What it prints is read by deploy/simulate.

let arguments = Array(CommandLine.arguments.dropFirst())
let isSmall = arguments.contains("--small")
let size: Plan.Size = isSmall ? .small : .full
let numbers = arguments.compactMap { UInt64($0) }

if arguments.contains("--trace"), let seed = numbers.first {
  let run = Simulation(seed: seed, size: size, keepsHistory: true)
  for line in run.history { print(line) }
  print(run.violation.map { "broken: \($0)" } ?? "level after \(run.levelAfter ?? 0) ms")
  exit(run.violation == nil ? 0 : 1)
}

guard numbers.count >= 2 else {
  print("usage: navsync-simulate FIRST COUNT [STEP] [--small], or --trace SEED [--small]")
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
exit(broken == 0 ? 0 : 1)
