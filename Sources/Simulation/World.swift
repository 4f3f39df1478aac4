import EventLog
import NavigationModel
import WireFormat
import ZeroMQ

/// Daemons, their devices and the people at them, with virtual clocks, network and disks around the real machines.
///
/// One thread; everything follows from the scenario. Things happen one after the other on a timeline, so two runs of one
/// scenario are the same.
final class World {
  let scenario: Scenario
  let setting: Setting
  let policy: Policy
  private let time = Time()
  private var timeline = Timeline()
  private(set) var tally = Tally()
  private(set) var violation: Violation?
  /// What happened, a line each; empty unless asked for.
  private(set) var history: [String] = []
  let keepsHistory: Bool
  /// A law that is broken on purpose, to show that this is noticed.
  let sabotage: Law?
  /// A number that differs if anything that went over the network did.
  private(set) var fingerprint: UInt64 = 0xcbf2_9ce4_8422_2325

  let daemons: [SimulatedDaemon]
  let devices: [SimulatedDevice]
  var network = SimulatedNetwork()
  var promises = Promises()
  /// What was waited for: whether it came.
  let waits = Answers<Bool>()
  var shown: [Shown.Key: Shown] = [:]
  /// Who speaks a newer version, until when.
  var newerUntil: [Place: Int] = [:]
  /// Who greets with another version of the protocol, and until when.
  var otherVersionUntil: [Place: Int] = [:]
  /// Nothing goes wrong any more.
  var isHealed = false

  /// In milliseconds.
  var now: Int { time.now }

  init(_ scenario: Scenario, keepsHistory: Bool, sabotage: Law?) {
    self.scenario = scenario
    self.keepsHistory = keepsHistory
    self.sabotage = sabotage
    setting = scenario.setting
    policy = setting.policy.policy(seed: scenario.seed)
    let time = time
    daemons = (0..<setting.daemons).map { SimulatedDaemon($0, scenario.seed, Clock(time)) }
    devices = (0..<setting.devices).map { SimulatedDevice($0, scenario.seed, Clock(time)) }
    for daemon in daemons { giveDisk(daemon) }
    for daemon in daemons { startDaemon(daemon) }
    for device in devices { setUp(device) }
    for step in scenario.steps { after(step.at) { [self] in if !isHealed { happen(step.what) } } }
  }

  private func happen(_ what: Step.What) {
    switch what {
    case .act(let device, let stack, let doing, let id): act(doing, on: setting.stacks[stack], id, of: devices[device])
    case .again(let device, let id): again(id, on: devices[device])
    case .fault(let fault): happen(fault)
    }
  }

  func isSabotaged(_ law: Law) -> Bool { sabotage == law }

  // MARK: Time

  func after(_ milliseconds: Int, _ body: @escaping () -> Void) {
    timeline.add(at: now + max(0, milliseconds), body)
  }

  /// Lets things happen until a time, or until a law was broken.
  func run(until end: Int) {
    while violation == nil, let next = timeline.next, next <= end, let entry = timeline.removeFirst() {
      time.now = entry.at
      entry.body()
    }
    if violation == nil { time.now = end }
  }

  /// Lets go of what refers to this world.
  func end() { timeline.removeAll() }

  // MARK: What is told

  func count(_ what: String, _ count: Int = 1) { tally.add(what, count) }

  func reach(_ state: CoveredState) { tally.reach(state) }

  func struck(_ fault: String) { tally.addFault(fault) }

  func note(_ line: @autoclosure () -> String) {
    guard keepsHistory else { return }
    history.append("\(Scenario.seconds(now))  \(line())")
  }

  /// A law is broken: the run ends.
  func violated(_ law: Law, _ detail: String) {
    guard violation == nil else { return }
    violation = Violation(law: law, detail: detail, at: now)
    note("BROKEN \(law.rawValue): \(detail)")
  }

  func mark(_ bytes: [UInt8], _ number: UInt64) {
    var hash = fingerprint ^ number
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    fingerprint = (hash ^ UInt64(now)) &* 0x100_0000_01b3
  }
}
