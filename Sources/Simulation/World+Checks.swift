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

  func checkDaemonBounds() {
    guard let core = daemon.core else { return }
    if core.backlogBytes > plan.maximumBacklog || core.backlogBytes < 0 {
      violated(.bounds, "\(core.backlogBytes) bytes wait at the daemon")
    }
    if core.mostReplies > ServerCore.repliesAllowed {
      violated(.bounds, "\(core.mostReplies) replies wait for one device")
    }
    if let credits = core.credits {
      if credits.upperBound > plan.limits.credit { violated(.bounds, "a credit of \(credits.upperBound)") }
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
    if asked.count > Self.followsASecond {
      violated(.calm, "\(connection.device.name) follows \(follow.stack) \(asked.count) times in a second")
    }
  }

  private static let followsASecond = 8

  /// After each turn of a device.
  func check(_ device: SimulatedDevice) {
    guard let machine = device.machine else { return }
    if device.ids.count > Self.idsAllowed { violated(.settles, "\(device.name) had \(device.ids.count) ids") }
    let core = machine.core
    if core.answersMissed != device.answersMissed {
      device.answersMissed = core.answersMissed
      if now > max(device.stuckUntil, daemon.stuckUntil) + 60_000 {
        violated(.answered, "\(device.name) waits for an answer that doesn't come")
      }
    }
    if core.mostBytesInFlight > ClientCore.bytesInFlightAllowed {
      violated(.bounds, "\(device.name) has \(core.mostBytesInFlight) bytes in flight")
    }
    if core.mostBytesHeld > ClientCore.bytesHeldAllowed {
      violated(.bounds, "\(device.name) holds back \(core.mostBytesHeld) bytes")
    }
    for stack in plan.stacks {
      guard let state = machine.state(of: stack), state.eventCount != device.checked[stack] else { continue }
      device.checked[stack] = state.eventCount
      if state.eventCount != state.vector.total {
        violated(.foldedOnce, "\(device.name) \(stack): \(state.eventCount) events, \(state.vector.total) dots")
      }
      compare(state, by: device)
    }
  }

  /// With what another replica showed that held the same events. After a loss one dot may stand for two events.
  private func compare(_ state: StackState, by device: SimulatedDevice) {
    guard plan.faults[.backupRestored] == nil, plan.faults[.daemonLostStore] == nil,
      plan.faults[.daemonLostSeconds] == nil
    else { return }
    let key = Shown.Key(stack: state.stack, vector: state.vector)
    guard let other = shown[key] else {
      shown[key] = Shown(by: device.name, entries: state.entries, conflicts: state.conflicts)
      return
    }
    count("states compared")
    if other.entries != state.entries {
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
      var vector: VersionVector
    }

    var by: String
    var entries: [Entry]
    var conflicts: [Conflict]
  }

  // MARK: At the end

  /// What is not level yet; nil if everything is.
  func unlevel() -> String? {
    guard let core = daemon.core else { return "the daemon doesn't run" }
    for stack in plan.stacks {
      let stored = daemon.disk.map { World.vector(of: stack, $0) } ?? VersionVector()
      for device in devices {
        guard let state = device.machine?.state(of: stack) else { return "\(device.name) doesn't run" }
        if state.connection != .connected { return "\(device.name) is \(state.connection)" }
        if let problem = state.problem { return "\(device.name) \(stack): \(problem)" }
        if !state.isLive { return "\(device.name) \(stack) isn't live" }
        if state.waiting > 0 { return "\(device.name) \(stack): \(state.waiting) events wait" }
        if state.vector != stored {
          let differing = stored.joined(with: state.vector).elements.filter {
            state.vector[$0.device] != stored[$0.device]
          }
          return "\(device.name) \(stack) holds \(state.vector.total) events of \(stored.total): "
            + differing.map { Self.shortened(Dot($0.device, state.vector[$0.device])) + " of \(stored[$0.device])" }
            .joined(separator: ", ")
        }
      }
    }
    return core.isQuiet ? nil : "the daemon has something to do"
  }

  private static func vector(of stack: StackName, _ disk: SimulatedDisk) -> VersionVector {
    Holding(of: stack, on: disk).vector
  }

  /// Everything is level: now everything must be right.
  func checkAll() {
    guard let disk = daemon.disk else { return }
    for stack in plan.stacks {
      let holding = checkOrder(of: stack, disk, "the daemon")
      let (events, heads) = (holding.events, holding.heads)
      var specification = SpecificationFold(policy: disk.contents.info(of: stack)?.policy ?? plan.policy)
      for event in events { specification.apply(event) }
      let conflicts = (specification.conflicts + holding.forks.map(Conflict.fork)).sorted()
      for device in devices {
        guard let state = device.machine?.state(of: stack), let present = device.folder?.present?.disk else { continue }
        let own = checkOrder(of: stack, present, device.name).heads
        if own != heads {
          violated(
            .sameStack,
            "\(device.name) \(stack) holds other events than the daemon: " + World.difference(own, heads))
        }
        if state.eventCount != events.count {
          violated(.foldedOnce, "\(device.name) \(stack): \(state.eventCount) events of \(events.count)")
        }
        if state.entries != specification.entries {
          violated(
            .specification,
            "\(device.name) \(stack) shows \(Self.shortened(state.entries)) and not "
              + Self.shortened(specification.entries))
        }
        if state.conflicts != conflicts {
          violated(.sameConflicts, "\(device.name) \(stack) has \(state.conflicts) and not \(conflicts)")
        }
      }
      count("events in the end", events.count)
      for conflict in conflicts { count("conflicts: \(Self.kind(conflict))") }
      check(promises.all.filter { $0.stack == stack }, holding.all)
    }
  }

  private static func difference(_ own: [StoredHead], _ theirs: [StoredHead]) -> String {
    func text(_ heads: [StoredHead]) -> String {
      heads.map { "\(shortened(Dot($0.device, $0.sequence))) \($0.digest.description.prefix(6))" }.joined(
        separator: " ")
    }
    return "\(text(own.filter { !theirs.contains($0) })) and not \(text(theirs.filter { !own.contains($0) }))"
  }

  private static func kind(_ conflict: Conflict) -> String {
    switch conflict {
    case .branches: "branches"
    case .kept: "kept"
    case .overridden: "overridden"
    case .noop: "noop"
    case .fork: "fork"
    }
  }

  /// Each event comes after all that its author held.
  private func checkOrder(of stack: StackName, _ disk: SimulatedDisk, _ owner: String) -> Holding {
    Holding(of: stack, on: disk) { violated(.causalDelivery, "\(owner) \(stack): \($0)") }
  }

  /// What was acknowledged is there, or acted again by a later incarnation of its device.
  private func check(_ promises: [Promises.Promise], _ events: [Event]) {
    var byDot: [Dot: [Event]] = [:]
    for event in events { byDot[event.dot, default: []].append(event) }
    func isThere(_ promise: Promises.Promise) -> Bool {
      byDot[promise.dot]?.contains { $0.action == promise.action } == true
    }
    var used = Set(promises.compactMap { isThere($0) ? $0.dot : nil })
    for promise in promises where !isThere(promise) {
      let ids = devices[promise.device].ids
      let again = events.first { event in
        event.dot.device != promise.dot.device && ids.contains(event.dot.device) && !used.contains(event.dot)
          && Self.isAlike(event.action, promise.action)
      }
      guard let again else {
        violated(
          .nothingLost,
          "\(promise.stack): \(promise.dot) of \(devices[promise.device].name) is nowhere: "
            + Self.shortened(promise.action))
        return
      }
      used.insert(again.dot)
      count("events acted again")
    }
  }

  private static func isAlike(_ left: Action, _ right: Action) -> Bool {
    switch (left, right) {
    case (.push(_, let left), .push(_, let right)): left == right
    case (.pop(let left), .pop(let right)): left.count == right.count
    case (.popToRoot, .popToRoot): true
    case (.set(let leftKeep, let left), .set(let rightKeep, let right)):
      leftKeep.count == rightKeep.count && left == right
    case (.replace(_, let left), .replace(_, let right)): left == right
    case (.push, _), (.pop, _), (.popToRoot, _), (.set, _), (.replace, _): false
    }
  }
}
