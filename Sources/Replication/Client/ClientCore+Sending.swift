package import NavigationModel
import WireFormat

// A device sends whatever of a followed stack the daemon lacks, whoever authored it, in the order of its own log: that
// order respects causality, so the daemon never has to wait for an event's context.

extension ClientCore {
  /// Answers `readEvents`: what was read, in log order.
  ///
  /// - Parameter through: the offset of our own log up to which all that the daemon lacks is in `runs`.
  package mutating func eventsRead(_ stack: StackName, runs: [EventRun], through: Int) {
    guard isOpen(), let followed = stacks[stack], followed.isReading else { return }
    stacks[stack]?.isReading = false
    stacks[stack]?.cursor = through
    for run in runs {
      let bytes = run.events.reduce(0) { $0 + $1.count }
      stacks[stack]?.inFlight.append(
        Followed.InFlight(device: run.device, first: run.firstSequence, last: run.lastSequence, bytes: bytes))
      put(
        .send(
          .append(
            Append(
              stack: stack.description, policy: followed.policy, device: run.device,
              firstSequence: run.firstSequence, previous: run.previous, events: run.events))))
    }
    guard runs.isEmpty else {
      stacks[stack]?.answerBy = clock + Self.answerMilliseconds
      setTimer(of: stack)
      return sendEvents(of: stack)
    }
    // The daemon has all that there is, also what it didn't take before.
    if followed.attempt > 0, let device = settings.device {
      stacks[stack]?.attempt = 0
      put(.acknowledged(stack, device, throughSequence: followed.has[device]))
    }
  }

  /// Asks for events to send, if there are any and the window has room.
  mutating func sendEvents(of stack: StackName) {
    guard settings.device != nil, isOpen(), let followed = stacks[stack], followed.stage == .following,
      !followed.isReading, !followed.isBlocked, followed.retryAt == nil, followed.cursor ?? -1 < followed.localHead,
      !followed.inFlight.contains(where: \.isGivenUp),
      followed.inFlight.count < Followed.window,
      followed.inFlight.reduce(0, { $0 + $1.bytes }) < Followed.windowBytes
    else { return }
    stacks[stack]?.isReading = true
    var lackedBy = followed.has
    for chain in followed.refused { _ = lackedBy.raise(chain, to: Dot.maximumSequence) }
    put(
      .readEvents(
        ReadOrder(
          stack: stack, after: followed.cursor, lackedBy: lackedBy,
          maximumEvents: min(512, session.limits.eventsAnAppend),
          maximumBytes: min(128 << 10, session.limits.message / 2))))
  }

  /// A daemon answers what is in flight within a commit; after so long the exchange of heads tells what it has.
  static let answerMilliseconds = 30_000

  mutating func acceptedReceived(_ message: Accepted, now: Int) {
    guard let stack = try? StackName(message.stack), var followed = stacks[stack] else { return }
    let device = message.device
    let through = message.throughSequence
    // Also after a rejection: the owner was told of it.
    let isNews = followed.has[device] < through || followed.attempt > 0
    guard followed.has.raise(device, to: through) else { return malformedReceived(now: now) }
    followed.inFlight.removeAll { $0.device == device && $0.last <= through }
    followed.attempt = 0
    followed.answerBy = clock + Self.answerMilliseconds
    stacks[stack] = followed
    setTimer(of: stack)
    if isNews { put(.acknowledged(stack, device, throughSequence: through)) }
    sendEvents(of: stack)
  }

  /// Each append is answered once, and nothing is sent again before all that was sent is: so an answer is never taken for
  /// that of another append of the same events.
  mutating func rejectedReceived(_ message: Rejected, now: Int) {
    guard let stack = try? StackName(message.stack), var followed = stacks[stack] else { return }
    let dot = message.dot
    let answered = followed.inFlight.firstIndex {
      $0.device == dot.device && $0.first <= dot.sequence && dot.sequence <= $0.last
    }.map { followed.inFlight.remove(at: $0) }
    followed.answerBy = now + Self.answerMilliseconds
    stacks[stack] = followed
    setTimer(of: stack)
    guard followed.stage == .following else { return }
    // What was in flight behind a rejected event is rejected too, for lack of it or for the same reason: it will be sent
    // again anyway.
    let isConsequence =
      message.code == .sequenceGap || message.code == .missingContext || Self.passes(message.code)
    if isConsequence, answered?.isGivenUp ?? true { return sendEvents(of: stack) }
    giveUpInFlight(of: stack)
    switch message.code {
    case .sequenceGap:
      // It can only be less than what it was believed to have.
      let expected = max(1, message.expectedSequence)
      if expected <= followed.has[dot.device] { stacks[stack]?.has[dot.device] = expected - 1 }
      retry(stack, now: now)
    case .missingContext:
      // It says what is lacking but not what is held: the heads of both sides do.
      refollowAgain(stack, now: now)
    case .fork where dot.device == settings.device: fork(stack, [dot.device])
    case .fork:
      // Somebody else's. The daemon knows now, and copies of both histories come.
      stacks[stack]?.refused.insert(dot.device)
      sendEvents(of: stack)
    case .clockAhead, .storage, .busy, .tooMany:
      if message.code == .clockAhead { put(.time(message.serverTime)) }
      stacks[stack]?.attempt = max(1, followed.attempt)
      retry(stack, now: now)
      put(.rejected(stack, dot, message.code, detail: message.detail, isWaiting: true))
    case _:
      stacks[stack]?.isBlocked = true
      put(.rejected(stack, dot, message.code, detail: message.detail, isWaiting: false))
    }
  }

  mutating func appendRefused(_ message: Refused, now: Int) {
    guard let stack = try? StackName(message.stack), var followed = stacks[stack], !followed.inFlight.isEmpty else {
      return
    }
    // Each append in flight is refused, in order; the first says it.
    let answered = followed.inFlight.removeFirst()
    followed.answerBy = now + Self.answerMilliseconds
    stacks[stack] = followed
    setTimer(of: stack)
    guard followed.stage == .following else { return }
    if answered.isGivenUp { return sendEvents(of: stack) }
    giveUpInFlight(of: stack)
    let passes = Self.passes(message.code)
    if passes {
      stacks[stack]?.attempt = max(1, followed.attempt)
      retry(stack, now: now)
    } else {
      stacks[stack]?.isBlocked = true
    }
    put(.refused(stack, message.code, reason: message.reason, isWaiting: passes))
  }

  /// What is in flight will be sent again, when it is answered.
  private mutating func giveUpInFlight(of stack: StackName) {
    stacks[stack]?.giveUpInFlight()
    stacks[stack]?.cursor = nil
    stacks[stack]?.isReading = false
  }

  /// Sends again from what the daemon has: the first time at once, then later and later.
  private mutating func retry(_ stack: StackName, now: Int) {
    guard let attempt = stacks[stack]?.attempt else { return }
    stacks[stack]?.attempt += 1
    if attempt > 0 {
      stacks[stack]?.retryAt = now + jitter.wait(attempt: attempt - 1, base: 500, cap: 30_000)
      setTimer(of: stack)
    } else {
      sendEvents(of: stack)
    }
  }
}
