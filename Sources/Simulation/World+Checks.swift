import EventLog
import NavigationClient
import NavigationModel
import Replication
import Specification
import WireFormat

extension World {
  // MARK: All the time

  /// Each fault that makes a device a new incarnation does so a few times at most.
  private static let idsAllowed = 60

  /// After each turn of a daemon.
  func checkBounds(_ daemon: SimulatedDaemon) {
    guard let core = daemon.core else { return }
    cover(daemon)
    if core.backlogBytes > setting.maximumBacklog || core.backlogBytes < 0 {
      violated(.bounds, "\(core.backlogBytes) bytes wait at \(daemon.name)")
    }
    if isSabotaged(.bounds) || core.mostReplies > ServerCore.repliesAllowed {
      violated(.bounds, "\(core.mostReplies) replies wait at \(daemon.name) for one device")
    }
    if let credits = core.credits {
      if credits.upperBound > setting.credit { violated(.bounds, "a credit of \(credits.upperBound)") }
      if credits.lowerBound < -Message.maximumSize { violated(.bounds, "a credit of \(credits.lowerBound)") }
    }
  }

  /// Each message that a client sends.
  func checkCalm(_ bytes: [UInt8], on connection: Connection) {
    guard case .follow(let follow) = try? Message(decoding: bytes) else { return }
    let second = now / 1000
    var asked = connection.follows[follow.stack] ?? (second, 0)
    asked = asked.second == second ? (second, asked.count + 1) : (second, 1)
    connection.follows[follow.stack] = asked
    if asked.count > (isSabotaged(.calm) ? 0 : Self.followsASecond) {
      violated(.calm, "\(connection.port.owner.description) follows \(follow.stack) \(asked.count) times in a second")
    }
  }

  private static let followsASecond = 8

  /// The last time until which anybody was stuck.
  private var stuckUntil: Int { (devices.map(\.stuckUntil) + daemons.map(\.stuckUntil)).max() ?? 0 }

  /// After each turn of a device.
  func check(_ device: SimulatedDevice) {
    guard let machine = device.machine else { return }
    cover(machine)
    if device.ids.count > (isSabotaged(.settles) ? 0 : Self.idsAllowed) {
      violated(.settles, "\(device.name) had \(device.ids.count) ids")
    }
    if machine.unansweredWaits > (isSabotaged(.waits) ? -1 : 0) {
      violated(.waits, "\(device.name) leaves \(machine.unansweredWaits) without an answer")
    }
    let core = machine.core
    if core.answersMissed != device.answersMissed {
      device.answersMissed = core.answersMissed
      if now > stuckUntil + 60_000 {
        violated(.answered, "\(device.name) waits for an answer that doesn't come")
      }
    }
    if core.mostBytesInFlight > ClientCore.bytesInFlightAllowed {
      violated(.bounds, "\(device.name) has \(core.mostBytesInFlight) bytes in flight")
    }
    if core.mostBytesHeld > ClientCore.bytesHeldAllowed {
      violated(.bounds, "\(device.name) holds back \(core.mostBytesHeld) bytes")
    }
    for stack in setting.stacks {
      guard let state = machine.state(of: stack), state.eventCount != device.checked[stack] else { continue }
      device.checked[stack] = state.eventCount
      let count = state.eventCount + (isSabotaged(.foldedOnce) ? 1 : 0)
      if count != state.vector.total {
        violated(.foldedOnce, "\(device.name) \(stack): \(count) events, \(state.vector.total) dots")
      }
      if let heads = machine.heads(of: stack) { compare(state, heads, by: device) }
    }
  }

  /// With what another replica showed that held the same events.
  private func compare(_ state: StackState, _ heads: [DeviceHead], by device: SimulatedDevice) {
    let key = Shown.Key(stack: state.stack, heads: heads)
    guard let other = shown[key] else {
      shown[key] = Shown(by: device.name, entries: state.entries, conflicts: state.conflicts)
      return
    }
    count("states compared")
    let entries = isSabotaged(.sameStack) ? state.entries.dropLast() : state.entries[...]
    if other.entries != Array(entries) {
      violated(
        .sameStack,
        "\(state.stack): \(other.by) showed \(Self.shortened(other.entries)), \(device.name) shows "
          + "\(Self.shortened(state.entries))")
    }
    if other.conflicts != state.conflicts {
      violated(.sameConflicts, "\(state.stack): \(other.by) had \(other.conflicts), \(device.name) \(state.conflicts)")
    }
  }

  /// What was shown of a set of events.
  struct Shown {
    struct Key: Hashable {
      var stack: StackName
      var heads: [DeviceHead]
    }

    var by: String
    var entries: [Entry]
    var conflicts: [Conflict]
  }
}
