import Commands
import Foundation
import Locking
import Simulation

/// Rounds with one fleet.
struct FleetRun {
  let kinds: [Fault]
  let seed: Int
  let stopMilliseconds: Int?
  let verbose: Bool
  let console: Console

  /// Nil without a fault that needs a disk. Small disks have small blocks, which are not all the same to SQLite.
  func diskBlockBytes(from number: Int) -> Int? {
    guard kinds.contains(where: { $0.obstacle(Means(diskObstacle: "")) != nil }) else { return nil }
    var random = Randomness(seed: UInt64(seed), "disk", number)
    return random.pick([1024, 4096])
  }
  var needsNetwork: Bool { kinds.contains { $0.obstacle(Means(networkObstacle: "")) != nil } }

  func run(_ numbers: ClosedRange<Int>, in place: Place, _ summary: inout Summary) async throws {
    let started = ContinuousClock.now
    let fleet = Fleet(in: place) { [verbose, console] in if verbose { console.say($0) } }
    var at = numbers.lowerBound
    do {
      try await fleet.start()
      for number in numbers {
        at = number
        try await round(number, fleet, &summary)
      }
      try await fleet.stop()
      try await fleet.checkStores(within: .seconds(10))
    } catch {
      if !verbose { for line in fleet.history { console.say(line) } }
      console.say("the last of the daemon's log:")
      for line in fleet.daemonLines().suffix(12) { console.say("  " + line) }
      throw CommandError(.failed, "round \(at) of seed \(seed): \(error); logs and stores are in \(place.folder)")
    }
    let ledger = fleet.ledger.withLock { $0 }
    summary.acknowledgedByDevices += ledger.actions
    summary.acknowledgedByDaemons += ledger.accepted
    summary.seconds += Int((ContinuousClock.now - started) / .seconds(1))
  }

  private func round(_ number: Int, _ fleet: Fleet, _ summary: inout Summary) async throws {
    var random = Randomness(seed: UInt64(seed), "round", number)
    let fault = random.pick(kinds)
    let before = fleet.ledger.withLock { $0.actions }
    let start = ContinuousClock.now
    var round = Round(fleet: fleet, fault: fault, random: random, stopMilliseconds: stopMilliseconds)
    try await round.run()
    summary.rounds[fault.rawValue, default: 0] += 1
    let actions = fleet.ledger.withLock { $0.actions } - before
    let name = fault.rawValue.padding(toLength: 14, withPad: " ", startingAt: 0)
    console.say(
      String(
        format: "round %4d  \(name) %6d actions %6.1f s", number, actions, (ContinuousClock.now - start) / .seconds(1)))
  }
}
