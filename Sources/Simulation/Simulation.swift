import NavigationModel

/// One simulated world from its beginning to its end: real daemon and devices, everything else virtual.
public struct Simulation: Sendable {
  public var seed: UInt64
  /// The law that was broken first; nil if none was.
  public var violation: Violation?
  public var tally: Tally
  /// How long after all faults ended everyone was level, in virtual milliseconds; nil if not.
  public var levelAfter: Int?
  /// Of all that went over the network: equal for two runs of one plan.
  public var fingerprint: UInt64
  /// A line for each thing that happened; empty unless it was asked for.
  public var history: [String]

  /// Runs a plan.
  public init(_ plan: Plan, keepsHistory: Bool = false) {
    seed = plan.seed
    let world = World(plan, keepsHistory: keepsHistory)
    world.planFaults()
    world.run(until: plan.duration)
    world.heal()
    let healed = world.now
    let limit = Plan.levelWithin + world.waitForClocks()
    while world.violation == nil {
      world.run(until: world.now + 500)
      guard let reason = world.unlevel() else {
        levelAfter = world.now - healed
        break
      }
      if world.now - healed >= limit {
        world.violated(.level, "\(limit / 1000) s after the last fault \(reason)")
      }
    }
    if world.violation == nil { world.checkAll() }
    world.endDaemon()
    world.count("virtual seconds", world.now / 1000)
    world.end()
    violation = world.violation
    tally = world.tally
    fingerprint = world.fingerprint
    history = world.history
  }

  public init(seed: UInt64, size: Plan.Size, keepsHistory: Bool = false) {
    self.init(Plan(seed: seed, size: size), keepsHistory: keepsHistory)
  }
}
