import NavigationModel
import WireFormat

/// A simulated world before it begins: who is in it, how it is set, and what happens when. With the seed, which decides
/// what nobody wrote down (how long a message takes, which of a hundred reads fails), it is always the same world.
public struct Scenario: Hashable, Sendable {
  public var seed: UInt64
  /// Lines at its beginning, for who reads it.
  public var why: [String] = []
  var setting = Setting()
  var steps: [Step] = []
  /// From then on nothing happens and nothing goes wrong any more, in milliseconds.
  var end = 0

  init(seed: UInt64) { self.seed = seed }

  /// How many steps it has.
  public var count: Int { steps.count }

  func has(_ kinds: FaultKind...) -> Bool {
    steps.contains {
      if case .fault(let fault) = $0.what { kinds.contains(fault.kind) } else { false }
    }
  }
}

/// Who is in a world and how it is set. What is left out of a scenario's text is as here.
struct Setting: Hashable, Sendable {
  /// A daemon that follows another.
  struct Link: Hashable, Sendable {
    var from: Int
    var to: Int
  }

  var daemons = 1
  var links: [Link] = []
  /// The daemon that each device is at.
  var homes = [0]
  var stacks = [Setting.stack("main")]
  var policy = ScenarioPolicy.merge
  /// How long a message takes, in milliseconds.
  var latency = 1...1
  /// How long a job of a disk takes at most, in milliseconds.
  var slowestJob = 0
  var credit = Limits().credit
  var eventsAnAppend = Limits().eventsAnAppend
  var batchBytes = 192 << 10
  var commitBytes = 256 << 10
  var maximumBacklog = 16 << 20
  /// How many stacks a daemon keeps that nobody follows.
  var idleStacks = 1024
  /// Messages that a connection holds in one direction.
  var highWaterMark = 256

  var devices: Int { homes.count }

  var limits: Limits {
    var limits = Limits()
    limits.credit = credit
    limits.eventsAnAppend = eventsAnAppend
    return limits
  }

  static func stack(_ name: String) -> StackName {
    do { return StackName(space: try Name("alice"), stack: try Name(name)) } catch { preconditionFailure("\(error)") }
  }
}

/// A stack's policy, before devices have ids.
enum ScenarioPolicy: String, Sendable {
  case merge
  case latest
  /// The first id of device-0 leads.
  case lead

  func policy(seed: UInt64) -> Policy {
    switch self {
    case .merge: .merge
    case .latest: .latest
    case .lead: .lead(Randomness.deviceID(seed: seed, device: 0, number: 0))
    }
  }
}
