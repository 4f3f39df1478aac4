import Simulation
import Testing

/// Worlds of one to three daemons and a few devices in which everything goes wrong that can; `deploy/simulate` runs more
/// of them.
@Suite struct SimulationTests {
  @Test(arguments: 0..<8) func everyLawHolds(_ part: Int) {
    var waits = 0
    for seed in part * 30..<part * 30 + 30 {
      let run = Simulation(seed: UInt64(seed), size: .small)
      waits += run.tally.counts["waits that came true"] ?? 0
      #expect(run.violation == nil, "seed \(seed): deploy/simulate --small --seed \(seed) --trace shows it")
    }
    #expect(waits > 0)
  }

  @Test(arguments: [3, 17, 25] as [UInt64]) func theSameSeedIsTheSameWorld(_ seed: UInt64) {
    let first = Simulation(seed: seed, size: .small)
    let second = Simulation(seed: seed, size: .small)
    #expect(first.fingerprint == second.fingerprint)
    #expect(first.levelAfter == second.levelAfter)
  }

  /// A law that nothing can break shows nothing. Each is broken on purpose: what is looked at is changed before it is
  /// looked at, or the network loses answers, or two who were to meet never do.
  @Test(arguments: Law.allCases) func eachLawCanBeBroken(_ law: Law) {
    let broken = (0..<60 as Range<UInt64>).lazy.compactMap {
      Simulation(Scenario(seed: $0, size: .small), sabotage: law).violation
    }.first
    #expect(broken?.law == law, "\(broken.map { "\($0)" } ?? "nothing")")
  }
}
