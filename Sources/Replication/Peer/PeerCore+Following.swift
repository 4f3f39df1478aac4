package import NavigationModel
import WireFormat

// MARK: Following the other daemon

extension PeerCore {
  /// Answers `readHeads`; nil if the own daemon has the stack in use no more.
  package mutating func headsRead(_ name: StackName, _ held: ServerCore.Held?, at moment: Moment) {
    guard let held, stacks[name] != nil else { return }
    self.held(held.heads, head: held.head, of: name)
    retire(held.retired, of: name)
    // It may be asked for only because there are copies now.
    guard client.stacks[name]?.stage == .idle else { return takeNext(of: name, at: moment) }
    stacks[name]?.asked = held.heads
    stacks[name]?.policy = held.policy
    stacks[name]?.policySince = held.policySince
    client.headsRead(name, start: .vector(held.heads), localHead: stacks[name]?.localHead ?? held.head)
    settle(at: moment)
  }

  /// A new session with the other daemon: what the one before brought and isn't yet appended comes again.
  mutating func sessionBegan(of name: StackName, now: Int) {
    let wasStopped = stacks[name]?.problem.isEmpty == false
    stacks[name]?.problem = ""
    clear(name)
    if wasStopped, stacks[name]?.isFollowed == true { client.follow(name, policy: nil, now: now) }
  }

  private mutating func clear(_ name: StackName) {
    guard var stack = stacks[name] else { return }
    let arrived = stack.queue.removeAll()
    stack.probe = nil
    stack.agreed = VersionVector()
    stack.disputed = []
    stack.retryAt = nil
    stacks[name] = stack
    setTimer(of: name)
    for arrived in arrived { giveBack(arrived.bytes, of: arrived.session) }
  }

  mutating func giveBack(_ bytes: Int, of session: Int) {
    if session == self.session, bytes > 0 { client.consumed(bytes) }
  }

  /// The other daemon's heads of a stack. It compared those of ours that it has more of, and tells only of those that
  /// are the same. What it has less of is compared when the rest is appended there.
  mutating func checkHeads(_ name: StackName, _ heads: [DeviceHead], at moment: Moment) {
    clear(name)
    guard var stack = stacks[name] else { return client.unfollow(name) }
    let asked = Dictionary(stack.asked.map { ($0.device, $0) }) { $1 }
    stack.asked = []
    stack.remote = VersionVector()
    for head in heads {
      _ = stack.remote.raise(head.device, to: head.sequence)
      guard let own = asked[head.device], own.sequence <= head.sequence else { continue }
      if own.sequence < head.sequence || own.digest == head.digest {
        _ = stack.agreed.raise(head.device, to: own.sequence)
      } else {
        stack.disputed.insert(head.device)
      }
    }
    stacks[name] = stack
    if client.stacks[name]?.policy == nil { client.stacks[name]?.policy = stack.policy }
    client.headsChecked(
      name, forked: [], disputed: stack.disputed.sorted(), isBehind: !stack.remote.covers(stack.local),
      now: moment.milliseconds)
  }

  mutating func readEvents(_ order: ReadOrder) {
    let number = number()
    stacks[order.stack]?.reading = number
    put(.readEvents(number, order))
  }

  /// Answers `readEvents`; nil if it failed.
  package mutating func eventsRead(
    _ number: Int, of name: StackName, _ read: (runs: [EventRun], through: Int)?, at moment: Moment
  ) {
    guard stacks[name]?.reading == number else { return }
    if let read {
      // The log can be further than this was told: what was read is there.
      let head = max(stacks[name]?.localHead ?? 0, read.through)
      stacks[name]?.localHead = head
      client.stacks[name]?.localHead = head
      client.eventsRead(name, runs: read.runs, through: read.through)
    } else {
      askAgain(name, at: moment)
    }
    settle(at: moment)
  }

  /// A `Follow` says how the own log has the stack.
  func withPolicy(_ follow: Follow) -> Follow {
    var follow = follow
    guard let name = try? StackName(follow.stack), let stack = stacks[name] else { return follow }
    follow.policy = stack.policy
    follow.policySince = stack.policySince
    return follow
  }

  /// What the other daemon answers is the lower one of both, unless ours came to be after it was asked: then it is asked
  /// again.
  mutating func comparePolicy(_ following: Following, at moment: Moment) {
    guard let name = try? StackName(following.stack), let own = stacks[name]?.policy, let policy = following.policy,
      own != policy
    else { return }
    put(.policyHeard(name, policy, since: following.policySince))
    askAgain(name, at: moment)
  }

  /// The other daemon has another history of a chain. Ours was brought to it, or its to ours, and who finds the
  /// difference copies what it has; so the copies will come.
  mutating func disputed(_ name: StackName, _ chain: DeviceID) {
    guard stacks[name]?.disputed.insert(chain).inserted == true else { return }
    if stacks[name]?.probe?.dot.device == chain { stacks[name]?.probe = nil }
    guard tell("fork \(name) \(chain)") else { return }
    log(
      .warning, "the peer holds another history under a device's id: both are copied",
      [.init("stack", name), .init("device", chain)])
  }

  /// Nothing is added to these chains any more.
  private mutating func retire(_ chains: Set<DeviceID>, of name: StackName) {
    stacks[name]?.retired = chains
    for chain in chains { stacks[name]?.local[chain] = 0 }
  }

  mutating func stop(_ name: StackName, _ problem: String) {
    client.unfollow(name)
    clear(name)
    stacks[name]?.problem = problem
    guard tell("\(name) \(problem)") else { return }
    log(.warning, "a stack stands still on this link", [.init("stack", name), .init("problem", problem)])
  }

  /// The other daemon doesn't take an event, or doesn't let a stack be followed.
  mutating func refused(
    _ name: StackName, _ code: RefusalCode, _ detail: String, isWaiting: Bool, at moment: Moment
  ) {
    if code == .policyMismatch {
      askAgain(name, at: moment)
    } else if !isWaiting {
      stop(name, "the peer refuses: \(detail)")
    }
  }

  mutating func answered(_ message: Message, at moment: Moment) {
    guard case .listing(let listing) = message else { return }
    for listed in listing.stacks {
      if let name = try? StackName(listed.stack) { know(name, after: 0) }
    }
  }

  /// Whether it is said for the first time. Bounded, since the other side chooses the names.
  private mutating func tell(_ what: String) -> Bool {
    if told.count >= 4096 { told = [] }
    return told.insert(what).inserted
  }
}

// MARK: What comes from there

extension PeerCore {
  mutating func deliver(_ batch: EventBatch, of name: StackName, bytes: Int, at moment: Moment) {
    guard var stack = stacks[name] else { return client.consumed(bytes) }
    for author in batch.authors { _ = stack.remote.raise(author.device, to: author.lastSequence) }
    var runs: [EventBatch.Run] = []
    batch.forEach { record in
      let event = Array(batch.bytes[record.range])
      if let last = runs.last, last.device == record.dot.device, last.events.count < settings.eventsAnAppend {
        runs[runs.count - 1].events.append(event)
      } else {
        runs.append(
          EventBatch.Run(device: record.dot.device, firstSequence: record.dot.sequence, events: [event]))
      }
    }
    for (place, run) in runs.enumerated() {
      let isLast = place == runs.count - 1
      stack.queue.append(Linked.Arrived(run: run, bytes: isLast ? bytes : 0, session: session))
    }
    stacks[name] = stack
    takeNext(of: name, at: moment)
  }

  /// Appends what has come, up to the first run whose beginning isn't compared yet.
  mutating func takeNext(of name: StackName, at moment: Moment) {
    while let stack = stacks[name], stack.probe == nil, var arrived = stack.queue.first {
      let device = arrived.run.device
      guard !stack.disputed.contains(device), !stack.retired.contains(device) else {
        _ = stacks[name]?.queue.popFirst()
        giveBack(arrived.bytes, of: arrived.session)
        continue
      }
      let agreed = stack.agreed[device]
      let last = arrived.run.firstSequence + arrived.run.events.count - 1
      if last > agreed, arrived.run.firstSequence <= agreed {
        arrived.run.events.removeFirst(agreed + 1 - arrived.run.firstSequence)
        arrived.run.firstSequence = agreed + 1
      }
      let place = min(stack.local[device], arrived.run.firstSequence - 1)
      if last > agreed, place > agreed {
        let number = number()
        stacks[name]?.probe = Linked.Probe(number: number, dot: Dot(device, place))
        return put(.readEvent(number, name, Dot(device, place)))
      }
      _ = stacks[name]?.queue.popFirst()
      guard last > agreed else {
        giveBack(arrived.bytes, of: arrived.session)
        continue
      }
      _ = stacks[name]?.agreed.raise(device, to: last)
      stacks[name]?.inFlight.append(
        Linked.InFlight(
          device: device, first: arrived.run.firstSequence, last: last, bytes: arrived.bytes, session: arrived.session))
      put(
        .submit(
          .append(
            Append(
              stack: name.description, policy: stack.local.isEmpty ? client.stacks[name]?.policy : nil,
              device: device, firstSequence: arrived.run.firstSequence, previous: .empty, events: arrived.run.events))))
    }
  }

  /// Answers `readEvent`; nil if it failed. The event is appended there once more: it is accepted again if both chains
  /// are the same up to it.
  package mutating func eventRead(_ number: Int, of name: StackName, _ run: EventRun?, at moment: Moment) {
    guard stacks[name]?.probe?.number == number else { return }
    if let run {
      put(
        .send(
          .append(
            Append(
              stack: name.description, device: run.device, firstSequence: run.firstSequence, previous: run.previous,
              events: run.events))))
    } else {
      stacks[name]?.probe = nil
      askAgain(name, at: moment)
    }
  }

  /// The other daemon has something that we appended: up to there both chains are the same.
  ///
  /// - Returns: the stack, if something that came may go on now.
  mutating func compared(_ accepted: Accepted) -> StackName? {
    guard let name = try? StackName(accepted.stack), var stack = stacks[name] else { return nil }
    _ = stack.agreed.raise(accepted.device, to: accepted.throughSequence)
    _ = stack.remote.raise(accepted.device, to: accepted.throughSequence)
    let isAwaited =
      stack.probe.map { $0.dot.device == accepted.device && $0.dot.sequence <= accepted.throughSequence } ?? false
    if isAwaited { stack.probe = nil }
    stacks[name] = stack
    return isAwaited ? name : nil
  }

  /// The other daemon doesn't take what we appended.
  ///
  /// - Returns: the stack, if something that came may go on now.
  mutating func appendRejected(_ rejected: Rejected, at moment: Moment) -> StackName? {
    guard let name = try? StackName(rejected.stack), stacks[name] != nil else { return nil }
    if rejected.code == .fork {
      disputed(name, rejected.dot.device)
      return name
    }
    if stacks[name]?.probe?.dot == rejected.dot { askAgain(name, at: moment) }
    return nil
  }

  /// The other daemon can't take any append of the stack now; it says so of each, and ours may be one of them.
  mutating func probeRefused(_ refused: Refused, at moment: Moment) {
    guard let name = try? StackName(refused.stack), stacks[name]?.probe != nil else { return }
    askAgain(name, at: moment)
  }
}
