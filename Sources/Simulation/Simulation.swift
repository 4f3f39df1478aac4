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

  /// Runs a scenario.
  ///
  /// - Parameter sabotage: a law that is broken on purpose, to show that it would be noticed.
  public init(_ scenario: Scenario, keepsHistory: Bool = false, sabotage: Law? = nil) {
    seed = scenario.seed
    let world = World(scenario, keepsHistory: keepsHistory, sabotage: sabotage)
    world.run(until: scenario.end)
    world.heal()
    let healed = world.now
    let limit = Self.levelWithin + world.waitForClocks()
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
    for daemon in world.daemons { world.endDaemon(daemon) }
    world.count("virtual seconds", world.now / 1000)
    world.count("waits that came true", world.waits.all.count { $0 })
    world.end()
    violation = world.violation
    tally = world.tally
    fingerprint = world.fingerprint
    history = world.history
  }

  public init(seed: UInt64, size: ScenarioSize, keepsHistory: Bool = false) {
    self.init(Scenario(seed: seed, size: size), keepsHistory: keepsHistory)
  }

  /// At most so long after all faults ended everyone shows the same, in milliseconds.
  static let levelWithin = 240_000
}
