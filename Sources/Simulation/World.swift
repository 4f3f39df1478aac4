import EventLog
import NavigationModel
import WireFormat
import ZeroMQ

/// A daemon, its devices and the people at them, with virtual clocks, network and disks around the real machines.
///
/// One thread; everything follows from the plan. Things happen one after the other on a timeline, so two runs of one
/// plan are the same.
final class World {
  let plan: Plan
  var random: Randomness
  let clock = Clock()
  private var timeline = Timeline()
  private(set) var tally = Tally()
  private(set) var violation: Violation?
  /// What happened, a line each; empty unless asked for.
  private(set) var history: [String] = []
  let keepsHistory: Bool
  /// A number that differs if anything that went over the network did.
  private(set) var fingerprint: UInt64 = 0xcbf2_9ce4_8422_2325

  let daemon: SimulatedDaemon
  private(set) var devices: [SimulatedDevice] = []
  var network = SimulatedNetwork()
  var promises = Promises()
  var shown: [Shown.Key: Shown] = [:]
  /// Nothing goes wrong any more.
  var isHealed = false

  /// In milliseconds.
  var now: Int { clock.now }

  init(_ plan: Plan, keepsHistory: Bool) {
    self.plan = plan
    self.keepsHistory = keepsHistory
    random = plan.random
    daemon = SimulatedDaemon(plan)
    for number in 0..<plan.devices {
      devices.append(SimulatedDevice(number, first: number == 0 ? Plan.firstDevice(of: plan.seed) : nil))
    }
    for device in devices { setUp(device) }
    setUpDaemon()
  }

  // MARK: Time

  func after(_ milliseconds: Int, _ body: @escaping () -> Void) {
    timeline.add(at: now + max(0, milliseconds), body)
  }

  /// Lets things happen until a time, or until a law was broken.
  func run(until end: Int) {
    while violation == nil, let next = timeline.next, next <= end, let entry = timeline.removeFirst() {
      advance(to: entry.at)
      entry.body()
    }
    if violation == nil { advance(to: end) }
  }

  private func advance(to time: Int) {
    clock.now = time
    daemon.clock.now = time
    for device in devices { device.clock.now = time }
  }

  /// Lets go of what refers to this world.
  func end() { timeline.removeAll() }

  // MARK: What is told

  func count(_ what: String, _ count: Int = 1) { tally.add(what, count) }

  func struck(_ fault: String) { tally.addFault(fault) }

  func note(_ line: @autoclosure () -> String) {
    guard keepsHistory else { return }
    let seconds = now / 1000
    let rest = "00\(now % 1000)".suffix(3)
    history.append("\(seconds).\(rest)  \(line())")
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

/// What must hold.
public enum Law: String, CaseIterable, Sendable {
  case sameStack = "the same events show the same stack"
  case specification = "the stack is the specification's"
  case sameConflicts = "conflicts are the same on all replicas"
  case nothingLost = "nothing acknowledged is missing"
  case causalDelivery = "events come in causal order"
  case foldedOnce = "no event is folded twice"
  case asNavigationPath = "an own action shows what NavigationPath would"
  case doneOnce = "an action with an id is done once"
  case bounds = "queues and credit stay in their bounds"
  case timers = "timers don't spin"
  case calm = "nobody asks for the same again and again"
  case answered = "what is sent is answered"
  case level = "everyone is level soon after faults end"
  case settles = "a device doesn't take new ids without end"
  case sound = "no machine finds its own store damaged"
}

/// A law that was broken.
public struct Violation: Sendable, CustomStringConvertible {
  public var law: Law
  public var detail: String
  /// The virtual time, in milliseconds.
  public var at: Int

  public var description: String { "\(law.rawValue), at \(at) ms: \(detail)" }
}

/// What was done in one run or many.
public struct Tally: Sendable {
  public private(set) var counts: [String: Int] = [:]
  public private(set) var faults: [String: Int] = [:]

  public init() {}

  mutating func add(_ what: String, _ count: Int) { counts[what, default: 0] += count }

  mutating func addFault(_ kind: String, _ count: Int = 1) { faults[kind, default: 0] += count }

  public mutating func add(_ other: Tally) {
    counts.merge(other.counts) { $0 + $1 }
    faults.merge(other.faults) { $0 + $1 }
  }
}
