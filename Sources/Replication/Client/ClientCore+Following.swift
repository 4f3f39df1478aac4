package import NavigationModel
package import WireFormat

// MARK: What the owner follows

extension ClientCore {
  /// The owner holds this stack and wants all of it, now and in every session to come. Calling it again asks the daemon
  /// anew from where our log stands: after a fork was healed, a policy adopted, damage repaired.
  ///
  /// - Parameter policy: what our log says it is, or what the owner wants a new stack to be; nil is the stack's own.
  package mutating func follow(_ stack: StackName, policy: Policy?, now: Int) {
    if stacks[stack] == nil {
      stacks[stack] = Followed(policy: policy)
      names.insert(stack, at: names.partitioningIndex { $0 >= stack })
      ask(stack)
    } else {
      stacks[stack]?.policy = policy
      refollow(stack)
    }
  }

  package mutating func unfollow(_ stack: StackName) {
    guard let followed = stacks.removeValue(forKey: stack) else { return }
    names.removeAll { $0 == stack }
    timed.remove(stack)
    session.toFollow.removeAll { $0 == stack }
    forgetPeers(of: stack)
    guard isOpen() else { return }
    consumed(followed.gap?.heldBytes ?? 0)
    switch followed.stage {
    case .idle, .refused, .forked: break
    case .asked, .following:
      if followed.shown != nil {
        put(.send(.presence(Presence(stack: stack.description, state: .gone))))
      }
      put(.send(.unfollow(Unfollow(stack: stack.description))))
    }
    if followed.stage == .asked { followAnswered() }
  }

  /// Answers `readHeads`.
  ///
  /// - Parameter localHead: the newest offset of our own log of the stack, 0 if it has nothing.
  package mutating func headsRead(_ stack: StackName, start: FollowStart, localHead: Int) {
    guard isOpen(), let followed = stacks[stack], followed.stage == .idle else { return }
    stacks[stack]?.stage = .asked
    stacks[stack]?.localHead = localHead
    session.followsInFlight += 1
    put(.send(.follow(Follow(stack: stack.description, policy: followed.policy, start: start))))
  }

  /// Answers `checkHeads`.
  ///
  /// - Parameters:
  ///   - forked: those of our ids whose chains differ, also if the daemon has more of one than we.
  ///   - disputed: the chains of others that differ: ours are brought, so that the daemon sees it.
  ///   - isBehind: whether our log has anything that the daemon lacks.
  package mutating func headsChecked(
    _ stack: StackName, forked: [DeviceID], disputed: [DeviceID] = [], isBehind: Bool, now: Int
  ) {
    guard let followed = stacks[stack], followed.stage == .asked else { return }
    followAnswered()
    guard forked.isEmpty else { return fork(stack, forked) }
    stacks[stack]?.stage = .following
    for device in disputed where followed.has[device] > 0 { stacks[stack]?.has[device] = followed.has[device] - 1 }
    stacks[stack]?.cursor = isBehind || !disputed.isEmpty ? nil : followed.localHead
    // The answer to what was sent in an earlier session may have been lost with it.
    if let device = settings.device {
      put(.acknowledged(stack, device, throughSequence: followed.has[device]))
    }
    sendPresence(of: stack, now: now)
    sendEvents(of: stack)
    setTimer(of: stack)
  }

  /// Events were stored in our log of a stack and the disk has them.
  ///
  /// - Parameters:
  ///   - own: whether there are any among them that didn't come from the daemon.
  ///   - policy: what our log has the stack under.
  package mutating func persisted(_ stack: StackName, localHead: Int, own: Bool, policy: Policy) {
    guard let followed = stacks[stack] else { return }
    // Named with what is appended: the stack may be made by another, under another policy, in the same moment.
    if followed.policy == nil { stacks[stack]?.policy = policy }
    if !own, followed.cursor == followed.localHead { stacks[stack]?.cursor = localHead }
    stacks[stack]?.localHead = localHead
    sendEvents(of: stack)
  }

  /// So many bytes of what was delivered are dealt with, and as many may come.
  package mutating func consumed(_ bytes: Int) {
    session.consumed += bytes
    guard isOpen(), session.consumed * 4 >= session.granted else { return }
    put(.send(.credit(Credit(bytes: session.consumed))))
    session.consumed = 0
  }

  /// Nothing more is sent or received of a stack until it is followed again.
  mutating func fork(_ stack: StackName, _ devices: [DeviceID]) {
    restart(stack)
    stacks[stack]?.stage = .forked
    setTimer(of: stack)
    put(.send(.unfollow(Unfollow(stack: stack.description))))
    put(.forked(stack, devices))
  }

  private mutating func ask(_ stack: StackName) {
    guard isOpen() else { return }
    session.toFollow.insert(stack, at: 0)
    followNext()
  }

  /// What is held back of the stack is done with.
  private mutating func restart(_ stack: StackName) {
    let held = stacks[stack]?.gap?.heldBytes ?? 0
    stacks[stack]?.restart()
    consumed(held)
  }

  mutating func refollow(_ stack: StackName) {
    guard let followed = stacks[stack] else { return }
    session.toFollow.removeAll { $0 == stack }
    restart(stack)
    setTimer(of: stack)
    guard isOpen() else { return }
    if followed.stage == .asked { session.followsInFlight -= 1 }
    if followed.stage == .asked || followed.stage == .following {
      put(.send(.unfollow(Unfollow(stack: stack.description))))
    }
    ask(stack)
  }

  /// The heads of both sides are compared anew: at once, and if that doesn't help, later and later.
  mutating func refollowAgain(_ stack: StackName, now: Int) {
    guard let followed = stacks[stack] else { return }
    guard followed.attempt > 0 else {
      refollow(stack)
      stacks[stack]?.attempt = 1
      return
    }
    let at = now + jitter.wait(attempt: followed.attempt, base: 500, cap: 30_000)
    stacks[stack]?.attempt += 1
    stacks[stack]?.retryAt = at
    stacks[stack]?.followAt = at
    setTimer(of: stack)
  }

  mutating func followNext() {
    var asking = session.followsInFlight
    while asking < Self.followWindow, let next = session.toFollow.popLast() {
      guard stacks[next]?.stage == .idle else { continue }
      asking += 1
      put(.readHeads(next))
    }
  }

  private mutating func followAnswered() {
    session.followsInFlight -= 1
    followNext()
  }

  mutating func setTimer(of stack: StackName) {
    if stacks[stack]?.due == nil { timed.remove(stack) } else { timed.insert(stack) }
  }
}

// MARK: What the daemon says

extension ClientCore {
  mutating func followingReceived(_ message: Following, now: Int) {
    guard let stack = try? StackName(message.stack), stacks[stack]?.stage == .asked else { return }
    var has = VersionVector()
    for head in message.heads {
      guard has.raise(head.device, to: head.sequence) else { return malformedReceived(now: now) }
    }
    stacks[stack]?.has = has
    if message.head == 0 { stacks[stack]?.offset = 0 }
    if let policy = message.policy {
      stacks[stack]?.policy = policy
      put(.policy(stack, policy))
    }
    put(.checkHeads(stack, message.heads))
  }

  mutating func followRefused(_ message: Refused, now: Int) {
    guard let stack = try? StackName(message.stack), let followed = stacks[stack] else { return }
    switch followed.stage {
    case .idle, .refused, .forked: return
    case .asked: break
    // The daemon can't go on, as when its log can't be read.
    case .following: restart(stack)
    }
    let answers = followed.stage == .asked
    defer { if answers { followAnswered() } }
    let passes = Self.passes(message.code)
    stacks[stack]?.stage = .refused
    if message.code == .fork {
      return fork(stack, settings.device.map { [$0] } ?? [])
    }
    if passes {
      stacks[stack]?.followAt = now + jitter.wait(attempt: followed.attempt, base: 1000, cap: 30_000)
      stacks[stack]?.attempt = followed.attempt + 1
      setTimer(of: stack)
    }
    put(.refused(stack, message.code, reason: message.reason, isWaiting: passes))
  }

  /// Whether a refusal may be over without anybody doing anything.
  static func passes(_ code: RefusalCode) -> Bool {
    switch code {
    case .busy, .storage, .tooMany, .clockAhead, .epochChanged: true
    case _: false
    }
  }

  mutating func liveReceived(_ message: Live, now: Int) {
    guard let stack = try? StackName(message.stack), let followed = stacks[stack], followed.stage == .following else {
      return
    }
    // Not all that went before it came: only the exchange of heads tells what is where.
    guard followed.gap == nil else { return refollowAgain(stack, now: now) }
    stacks[stack]?.offset = max(followed.offset ?? 0, message.offset)
    stacks[stack]?.suspect = nil
    guard !followed.isLive else { return }
    stacks[stack]?.isLive = true
    put(.live(stack))
  }

  mutating func eventsReceived(_ message: EventsMessage, bytes: Int, now: Int) {
    guard let stack = try? StackName(message.stack), let followed = stacks[stack], followed.stage == .following else {
      // Of a stack that was given up meanwhile.
      return consumed(bytes)
    }
    guard message.epoch == session.epoch else {
      consumed(bytes)
      return refollow(stack)
    }
    guard followed.policy != nil else {
      // The stack came to be after `Following` said that there is none. Which policy it has is said there.
      consumed(bytes)
      return refollow(stack)
    }
    let batch: EventBatch
    do { batch = try EventBatch(bytes: message.batch) } catch { return malformedReceived(now: now) }
    guard batch.count > 0 else { return consumed(bytes) }
    guard message.firstOffset >= 1, message.firstOffset <= Dot.maximumSequence - batch.count else {
      return malformedReceived(now: now)
    }
    stacks[stack]?.suspect = nil
    let arrived = Followed.Held(
      batch: batch, previousOffset: message.previousOffset, firstOffset: message.firstOffset, bytes: bytes)
    if let seen = followed.offset, message.previousOffset > seen {
      hold(arrived, of: stack, after: seen, now: now)
    } else {
      take(arrived, of: stack)
      fillGap(of: stack, now: now)
    }
    if stacks[stack]?.isOwnNews == true { refollow(stack) }
  }

  /// Hands a batch on, unless all of it was seen.
  private mutating func take(_ arrived: Followed.Held, of stack: StackName) {
    let last = arrived.firstOffset + arrived.batch.count - 1
    if let seen = stacks[stack]?.offset, last <= seen { return consumed(arrived.bytes) }
    stacks[stack]?.offset = last
    for author in arrived.batch.authors where author.lastSequence > stacks[stack]?.has[author.device] ?? 0 {
      guard author.device != settings.device else {
        // What is still to be sent, or isn't answered, is compared by the daemon.
        if stacks[stack]?.hasNothingToSend == true { stacks[stack]?.isOwnNews = true }
        continue
      }
      // What can't be counted is refused where it is admitted; here it would only be sent back.
      _ = stacks[stack]?.has.raise(author.device, to: author.lastSequence)
    }
    put(.deliver(stack, arrived.batch, firstOffset: arrived.firstOffset, bytes: arrived.bytes))
  }

  // MARK: Gaps

  private mutating func hold(_ arrived: Followed.Held, of stack: StackName, after seen: Int, now: Int) {
    var gap = stacks[stack]?.gap ?? Followed.Gap(to: 0, askAt: now + jitter.wait(attempt: 0, base: 50, cap: 50))
    if gap.heldBytes + arrived.bytes <= Followed.heldBytesAllowed {
      gap.held.append(arrived)
      gap.heldBytes += arrived.bytes
      gap.to = max(gap.to, arrived.previousOffset)
    } else {
      // No room: it is asked for with the rest.
      gap.to = max(gap.to, arrived.firstOffset + arrived.batch.count - 1)
      consumed(arrived.bytes)
    }
    stacks[stack]?.gap = gap
    setTimer(of: stack)
  }

  /// After something was taken: what was held back may follow it, and the gap may be no more.
  private mutating func fillGap(of stack: StackName, now: Int) {
    guard var gap = stacks[stack]?.gap else { return }
    gap.attempt = 0
    while let next = gap.held.first, let seen = stacks[stack]?.offset, next.previousOffset <= seen {
      gap.held.removeFirst()
      gap.heldBytes -= next.bytes
      take(next, of: stack)
    }
    let isFilled = gap.held.isEmpty && (stacks[stack]?.offset ?? 0) >= gap.to
    stacks[stack]?.gap = isFilled ? nil : gap
    setTimer(of: stack)
  }

  mutating func askForGap(of stack: StackName, now: Int) {
    guard var gap = stacks[stack]?.gap, let seen = stacks[stack]?.offset else { return }
    put(.send(.range(RangeRequest(stack: stack.description, epoch: session.epoch, from: seen + 1, to: gap.to))))
    gap.askAt = now + jitter.wait(attempt: gap.attempt + 1, base: 1000, cap: 30_000)
    gap.attempt += 1
    stacks[stack]?.gap = gap
  }

  mutating func rangeRefused(_ message: Refused, now: Int) {
    guard let stack = try? StackName(message.stack), stacks[stack]?.gap != nil else { return }
    // Busy or a full disk pass, and the gap's timer asks again; anything else is for the full exchange.
    if !Self.passes(message.code) || message.code == .epochChanged { refollow(stack) }
  }

  mutating func pongReceived(_ message: Pong, now: Int) {
    if isOpen() { put(.time(message.serverTime)) }
    for head in message.heads {
      guard let stack = try? StackName(head.stack), let followed = stacks[stack], followed.stage == .following,
        followed.isLive, let seen = followed.offset
      else { continue }
      if head.offset < seen {
        refollow(stack)
      } else if head.offset > seen, followed.gap == nil {
        if followed.suspect == seen {
          stacks[stack]?.gap = Followed.Gap(to: head.offset, askAt: now + jitter.wait(attempt: 0, base: 50, cap: 50))
          setTimer(of: stack)
        } else {
          stacks[stack]?.suspect = seen
        }
      }
    }
  }
}

extension VersionVector {
  /// Counts a device's events up to a sequence, if that is more than before.
  ///
  /// - Returns: false if the sequence, or the sum of all, is beyond what can be: then nothing changes.
  mutating func raise(_ device: DeviceID, to sequence: Int) -> Bool {
    let before = self[device]
    guard sequence > before else { return sequence >= 0 }
    guard sequence <= Dot.maximumSequence, !total.addingReportingOverflow(sequence - before).overflow else {
      return false
    }
    self[device] = sequence
    return true
  }
}

extension Array {
  /// The first place whose element, and all after it, meet the condition.
  func partitioningIndex(where meets: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if meets(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
