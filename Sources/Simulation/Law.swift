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
  case waits = "who waits is told in the turn in which it came true"
  case level = "everyone is level soon after faults end"
  case settles = "a device doesn't take new ids without end"
  case forgetting = "forgetting changes nothing"
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
  /// How many runs were in each state at least once.
  public private(set) var states: [CoveredState: Int] = [:]

  public init() {}

  mutating func add(_ what: String, _ count: Int) { counts[what, default: 0] += count }

  mutating func addFault(_ kind: String, _ count: Int = 1) { faults[kind, default: 0] += count }

  mutating func reach(_ state: CoveredState) { states[state] = 1 }

  public mutating func add(_ other: Tally) {
    states.merge(other.states) { $0 + $1 }
    counts.merge(other.counts) { $0 + $1 }
    faults.merge(other.faults) { $0 + $1 }
  }
}
