import Commands
import Foundation
import Locking
import Simulation

/// Rounds with one fleet, in a folder of its own.
struct FleetRun {
  private let kinds: [Fault]
  private let seed: Int
  private let folder: String
  private let place: Place
  private let own: Cleanup
  private let cleanup: Cleanup
  private let step: Int
  private let keeps: Locked<Bool>
  private let verbose: Bool

  init(_ kinds: [Fault], seed: Int, programs: String, keep: Bool, verbose: Bool, _ cleanup: Cleanup) throws {
    self.kinds = kinds
    self.seed = seed
    self.verbose = verbose
    self.cleanup = cleanup
    let folder = NSTemporaryDirectory() + "navsync-chaos-" + UUID().uuidString.prefix(8).lowercased()
    let (own, keeps) = (Cleanup(), Locked(keep))
    (self.folder, self.own, self.keeps) = (folder, own, keeps)
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    step = cleanup.add { own.undoAll() }
    _ = own.add { if !keeps.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: folder) } }
    let needsDisk = kinds.contains { $0.obstacle(Means(diskObstacle: "")) != nil }
    let needsNetwork = kinds.contains { $0.obstacle(Means(networkObstacle: "")) != nil }
    place = try Place(
      folder: folder, programs: programs,
      disk: needsDisk ? try Disk(image: folder + "/disk.ext4", folder: folder + "/disk", own) : nil,
      network: needsNetwork ? try Network(own) : nil, own)
  }

  func run(
    _ numbers: ClosedRange<Int>, stopMilliseconds: Int?, _ console: Console, _ summary: inout Summary
  ) async throws {
    defer { cleanup.undo(step) }
    let started = ContinuousClock.now
    let fleet = Fleet(in: place, tell: verbose ? { console.say($0) } : { _ in })
    var at = numbers.lowerBound
    do {
      try await fleet.start()
      for number in numbers {
        at = number
        var random = Randomness(seed: UInt64(seed), "round", number)
        let fault = random.pick(kinds)
        let before = fleet.ledger.withLock { $0.actions }
        let start = ContinuousClock.now
        var round = Round(fleet: fleet, fault: fault, random: random, stopMilliseconds: stopMilliseconds)
        try await round.run()
        summary.rounds[fault.rawValue, default: 0] += 1
        let name = fault.rawValue.padding(toLength: 14, withPad: " ", startingAt: 0)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        console.say(
          String(
            format: "round %4d  \(name) %6d actions %6.1f s", number, fleet.ledger.withLock { $0.actions } - before,
            seconds))
      }
      try await fleet.stop()
      try fleet.checkStores()
    } catch {
      if !verbose { for line in fleet.history { console.say(line) } }
      console.say("the last of the daemon's log:")
      for line in fleet.daemonLines().suffix(12) { console.say("  " + line) }
      keeps.withLock { $0 = true }
      // As it is now; the image may be repaired when it is mounted again.
      if let disk = place.disk { system(["cp", "-a", disk.folder, folder + "/disk-as-it-was"]) }
      throw CommandError(.failed, "round \(at) of seed \(seed): \(error); logs and stores are in \(folder)")
    }
    let ledger = fleet.ledger.withLock { $0 }
    summary.acknowledgedByDevices += ledger.actions
    summary.acknowledgedByDaemons += ledger.accepted
    summary.seconds += Int((ContinuousClock.now - started) / .seconds(1))
  }
}
