import NavigationModel
import Replication
import WireFormat
import ZeroMQ

extension Engine {
  /// Shows what changed in this turn, and answers those whose acts are in it.
  mutating func publish(at now: Moment) {
    for name in dirty.sorted() {
      publish(name)
      if configuration.announcesPresence, let stack = stacks[name] {
        core.shows(name, top: stack.hub.state?.top?.id, now: now.monotonic)
      }
    }
    dirty = []
    if configuration.announcesPresence { carryOut(at: now) }
    let done = committed
    committed = []
    for act in done { act.reply.succeed(act.outcome) }
    let told = answers
    answers = []
    for answer in told { answer.reply(answer.result) }
  }

  /// Shows what others did before it is on this disk: they have it on theirs, and an own act that rests on it is stored
  /// with it or after it. It saves a follower's screen the wait for its own disk.
  mutating func showReceived() {
    for stack in replica.pending where stack.hasReceivedPending { publish(stack.name) }
  }

  /// Own acts are shown only when they are on the disk.
  mutating func publish(_ name: StackName) {
    guard var stack = stacks[name], !stack.replica.hasOwnPending else { return }
    guard !replica.isUnread(name) else {
      // What was shown last stays until it can be read again.
      guard var state = stack.hub.state else { return }
      state.connection = connection
      state.isLive = false
      state.problem = storageProblem ?? stack.problem
      return stack.hub.publish(state, [])
    }
    // There may be as many as events: only a new event makes others of them.
    if stack.conflictsMayDiffer || (!stack.conflicts.isEmpty && stack.conflictsAt != stack.replica.fold.count) {
      stack.conflicts = stack.replica.conflicts()
      stack.conflictsMayDiffer = false
      stack.conflictsAt = stack.replica.fold.count
    }
    let entries = stack.replica.entries()
    var changes: [StackChange] = []
    for applied in stack.replica.takeApplied() {
      stack.changeNumber += 1
      changes.append(
        change(
          applied.event, number: stack.changeNumber, isVoid: applied.isVoid, isOwn: applied.isOwn,
          entries: applied.entries))
    }
    if let last = changes.last {
      stack.lastChange = last
    } else if let last = stack.replica.last, last.event.dot != stack.lastChange?.dot {
      // Nobody reads each change, or it is history that is caught up with: then it doesn't count as missed.
      if !stack.hub.hasChangeReaders { stack.changeNumber += 1 }
      stack.lastChange = change(
        last.event, number: stack.changeNumber, isVoid: last.isVoid, isOwn: last.isOwn, entries: entries)
    }
    stacks[name] = stack
    let state = StackState(
      stack: name, policy: stack.replica.fold.policy, entries: entries, conflicts: stack.conflicts,
      newConflicts: stack.conflicts.filter { !stack.seenConflicts.contains($0) }, connection: connection,
      isLive: stack.isLive, waiting: waiting(of: name),
      problem: storageProblem ?? stack.problem ?? notAllShown(stack.replica),
      withheld: stack.replica.withheld,
      presence: stack.presence.values.sorted { ($0.name, $0.device) < ($1.name, $1.device) },
      lastChange: stack.lastChange, eventCount: stack.replica.fold.count, vector: stack.replica.fold.vector)
    stack.hub.publish(state, changes)
  }

  /// Events are held that only a newer version can read.
  private func notAllShown(_ stack: StackReplica) -> ClientError? {
    guard stack.needsNewerVersion else { return nil }
    return ClientError(
      .needsNewerVersion, about: stack.name.description,
      "it has events that only a newer version can read; it shows what doesn't rest on them")
  }

  private func change(
    _ event: Event, number: Int, isVoid: Bool, isOwn: Bool, entries: [Entry]
  ) -> StackChange {
    StackChange(
      number: number, dot: event.dot, timestamp: event.timestamp, action: event.action,
      author: names[event.dot.device] ?? "", isOwn: isOwn, isVoid: isVoid, entries: entries)
  }

  mutating func markConflictsSeen(_ name: StackName) {
    guard let stack = stacks[name] else { return }
    let conflicts = stack.replica.conflicts()
    stacks[name]?.conflicts = conflicts
    stacks[name]?.seenConflicts = Set(conflicts)
    stacks[name]?.conflictsMayDiffer = false
    dirty.insert(name)
  }
}
