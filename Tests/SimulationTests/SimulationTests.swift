import Simulation
import Testing

/// Worlds of one daemon and a few devices in which everything goes wrong that can; `deploy/simulate` runs more of them.
@Suite struct SimulationTests {
  @Test(arguments: 0..<5) func everyLawHolds(_ part: Int) {
    for seed in part * 40..<part * 40 + 40 {
      let run = Simulation(seed: UInt64(seed), size: .small)
      #expect(run.violation == nil, "seed \(seed): deploy/simulate --small --seed \(seed) --trace shows it")
    }
  }

  @Test func theSameSeedIsTheSameWorld() {
    for seed in [3, 17, 25] as [UInt64] {
      let first = Simulation(seed: seed, size: .small)
      let second = Simulation(seed: seed, size: .small)
      #expect(first.fingerprint == second.fingerprint)
      #expect(first.levelAfter == second.levelAfter)
    }
  }
}
