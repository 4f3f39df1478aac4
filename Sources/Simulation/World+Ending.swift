import EventLog
import NavigationClient
import NavigationModel
import Replication
import Specification
import WireFormat

/// What is looked at when all faults are over.
extension World {
  /// What is not level yet; nil if everything is.
  func unlevel() -> String? {
    for stack in setting.stacks {
      guard let first = daemons[0].disk else { return "\(daemons[0].name) doesn't run" }
      let all = Holding(of: stack, on: first)
      for daemon in daemons {
        guard daemon.core != nil, let disk = daemon.disk else { return "\(daemon.name) doesn't run" }
        let own = Holding(of: stack, on: disk)
        if own.heads != all.heads {
          return "\(daemon.name) \(stack) holds other events than \(daemons[0].name): "
            + World.difference(own.heads, all.heads)
        }
      }
      for device in devices {
        guard let state = device.machine?.state(of: stack), let disk = device.folder?.present?.disk else {
          return "\(device.name) doesn't run"
        }
        if state.connection != .connected { return "\(device.name) is \(state.connection)" }
        let own = Holding(of: stack, on: disk)
        if let problem = state.problem, problem.code != .needsNewerVersion || !own.chains.hasUnreadable {
          return "\(device.name) \(stack): \(problem)"
        }
        if !state.isLive { return "\(device.name) \(stack) isn't live" }
        if state.waiting > 0 { return "\(device.name) \(stack): \(state.waiting) events wait" }
        if own.heads != all.heads {
          return "\(device.name) \(stack) holds other events than \(daemons[0].name): "
            + World.difference(own.heads, all.heads)
        }
        if state.vector != all.vector {
          return "\(device.name) \(stack) shows \(state.vector.total) events of \(all.vector.total)"
        }
      }
    }
    for daemon in daemons {
      guard daemon.core?.isQuiet == true else { return "\(daemon.name) has something to do" }
      for link in daemon.links {
        let report = link.core.report
        guard report.connected, report.ahead == 0, report.behind == 0, report.problem.isEmpty else {
          return "\(daemon.name)'s link to daemon-\(link.to): connected \(report.connected), ahead \(report.ahead), "
            + "behind \(report.behind) \(report.problem)"
        }
      }
    }
    return nil
  }

  /// Everything is level: now everything must be right.
  func checkAll() {
    guard let disk = daemons[0].disk else { return }
    for stack in setting.stacks {
      let holding = checkOrder(of: stack, disk, daemons[0].name)
      let (events, heads) = (holding.events, holding.heads)
      for daemon in daemons.dropFirst() {
        guard let disk = daemon.disk else { continue }
        checkHolding(stack, disk, daemon.name, heads, count: events.count)
      }
      let standing = daemons[0].core?.held(stack)?.policy ?? disk.contents.info(of: stack)?.policy
      var specification = SpecificationFold(policy: standing ?? policy)
      for event in isSabotaged(.specification) ? events.dropLast() : events[...] { specification.apply(event) }
      let conflicts = (specification.conflicts + holding.forks.map(Conflict.fork)).sorted()
      for device in devices {
        guard let state = device.machine?.state(of: stack), let present = device.folder?.present?.disk else { continue }
        checkHolding(stack, present, device.name, heads, count: events.count)
        if state.entries != specification.entries {
          violated(
            .specification,
            "\(device.name) \(stack) shows \(Self.shortened(state.entries)) and not "
              + Self.shortened(specification.entries))
        }
        let shown = isSabotaged(.sameConflicts) ? state.conflicts.dropLast() : state.conflicts[...]
        if Array(shown) != conflicts {
          violated(.sameConflicts, "\(device.name) \(stack) has \(state.conflicts) and not \(conflicts)")
        }
      }
      if holding.forks.isEmpty { checkForgetting(events, specification, conflicts) }
      count("events in the end", events.count)
      for conflict in conflicts { count("conflicts: \(Self.kind(conflict))") }
      check(promises.all.filter { $0.stack == stack }, isSabotaged(.nothingLost) ? holding.all.dropLast() : holding.all)
    }
  }

  private func checkHolding(
    _ stack: StackName, _ disk: SimulatedDisk, _ owner: String, _ heads: [StoredHead], count: Int
  ) {
    let own = checkOrder(of: stack, disk, owner)
    if own.heads != heads {
      violated(
        .sameStack,
        "\(owner) \(stack) holds other events than \(daemons[0].name): " + World.difference(own.heads, heads))
    }
    if own.events.count != count { violated(.foldedOnce, "\(owner) \(stack): \(own.events.count) events of \(count)") }
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
    let holding = Holding(of: stack, on: disk) { violated(.causalDelivery, "\(owner) \(stack): \($0)") }
    if isSabotaged(.causalDelivery), !holding.events.isEmpty { violated(.causalDelivery, owner) }
    return holding
  }

  /// A fold that forgets, half way, what every later event's author held, and goes on as a snapshot of itself, shows the
  /// same.
  private func checkForgetting(_ events: [Event], _ specification: SpecificationFold, _ conflicts: [Conflict]) {
    guard let last = events.last else { return }
    let half = events.count / 2
    var fold = StackFold(policy: specification.policy)
    for event in events[..<half] { fold.apply(event) }
    var stable = fold.vector
    for event in events[half...] {
      var context = event.context
      context[event.dot.device] = event.dot.sequence - 1
      stable = stable.met(with: context)
    }
    fold.forget(stable: stable)
    do throws(SnapshotError) { fold = try StackFold(fold.snapshot()) } catch {
      return violated(.forgetting, "a snapshot before \(last.dot) can't be read: \(error)")
    }
    for event in isSabotaged(.forgetting) ? events[half...].dropLast() : events[half...] { fold.apply(event) }
    if fold.entries() != specification.entries || fold.conflicts().sorted() != conflicts {
      violated(.forgetting, "after forgetting \(stable.total) events: \(Self.shortened(fold.entries()))")
    }
  }

  /// What was acknowledged is there, or acted again by a later incarnation of its device.
  private func check(_ promises: [Promises.Promise], _ events: [Event]) {
    var byDot: [Dot: [Event]] = [:]
    for event in events { byDot[event.dot, default: []].append(event) }
    func isThere(_ promise: Promises.Promise) -> Bool {
      byDot[promise.dot]?.contains { promise.isKept(by: $0) } == true
    }
    let there = Set(promises.compactMap { isThere($0) ? $0.dot : nil })
    var missing: [Promises.Promise] = []
    for promise in promises where !isThere(promise) && !missing.contains(where: promise.isOfSameEvent) {
      missing.append(promise)
    }
    let candidates = missing.map { promise in
      // Who is a copy of another acts again what both have.
      let ids = scenario.has(.cloned) ? devices.reduce(into: []) { $0.formUnion($1.ids) } : devices[promise.device].ids
      return events.filter { event in
        event.dot.device != promise.dot.device && ids.contains(event.dot.device) && !there.contains(event.dot)
          && Self.isAlike(event.action, promise.action)
      }.map(\.dot)
    }
    // Which event is whose doesn't show, so each must have one of its own: a matching.
    var taker: [Dot: Int] = [:]
    for (place, promise) in missing.enumerated() {
      var tried: Set<Dot> = []
      func finds(_ place: Int) -> Bool {
        for dot in candidates[place] where tried.insert(dot).inserted {
          guard taker[dot].map(finds) ?? true else { continue }
          taker[dot] = place
          return true
        }
        return false
      }
      guard finds(place) else {
        violated(
          .nothingLost,
          "\(promise.stack): \(promise.dot) of \(devices[promise.device].name) is nowhere: "
            + Self.shortened(promise.action))
        return
      }
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
