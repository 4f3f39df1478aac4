import NavigationModel
package import WireFormat

// MARK: What the own daemon says

extension PeerCore {
  /// The own daemon answers, or tells what it stored; `bytes` is the length of its frame.
  package mutating func ownReceived(_ message: Message, bytes: Int, at moment: Moment) {
    switch message {
    case .listing(let listing): ownListed(listing, at: moment)
    case .following(let following): ownFollowing(following, at: moment)
    case .events(let events):
      put(.submit(.credit(Credit(bytes: bytes))))
      stored(events, at: moment)
    case .accepted(let accepted):
      taken(accepted.stack, at: moment) { $0.device == accepted.device && $0.last <= accepted.throughSequence }
    case .rejected(let rejected): ownRejected(rejected, at: moment)
    case .refused(let refused): ownRefused(refused, at: moment)
    case .welcome, .hello, .follow, .live, .unfollow, .append, .credit, .ping, .pong, .presence, .list, .statusRequest,
      .statusReport, .range, .pair, .paired:
      break
    }
    settle(at: moment)
  }

  private mutating func ownListed(_ listing: Listing, at moment: Moment) {
    for listed in listing.stacks {
      guard let name = try? StackName(listed.stack) else { continue }
      know(name, after: listed.head)
      stacks[name]?.policy = listed.policy
      // Made here and there in the same moment: which one stands is settled when it is followed.
      if let other = client.stacks[name]?.policy, other != listed.policy { askAgain(name, at: moment) }
    }
    guard listing.last, !knowsOwn else { return }
    knowsOwn = true
    client.start(now: moment.milliseconds)
  }

  /// A stack is there, on either side. The own log is followed from an offset on.
  mutating func know(_ name: StackName, after offset: Int) {
    guard stacks[name] == nil else { return }
    stacks[name] = Linked()
    followOwn(name, after: offset)
  }

  private mutating func followOwn(_ name: StackName, after offset: Int) {
    put(.submit(.follow(Follow(stack: name.description, start: .offset(offset, epoch: settings.epoch)))))
  }

  private mutating func ownFollowing(_ following: Following, at moment: Moment) {
    guard let name = try? StackName(following.stack), stacks[name] != nil else { return }
    if let policy = following.policy { stacks[name]?.policy = policy }
    held(following.heads, head: following.head, of: name)
    stacks[name]?.isFollowed = true
    client.follow(name, policy: nil, now: moment.milliseconds)
  }

  /// Our own log has so much of a stack.
  mutating func held(_ heads: [DeviceHead], head: Int, of name: StackName) {
    guard var stack = stacks[name] else { return }
    for head in heads { _ = stack.local.raise(head.device, to: head.sequence) }
    stack.localHead = max(stack.localHead, head)
    stacks[name] = stack
  }

  /// Events are on our stable storage, whoever brought them.
  private mutating func stored(_ message: EventsMessage, at moment: Moment) {
    guard let name = try? StackName(message.stack), var stack = stacks[name] else { return }
    let batch: EventBatch
    do { batch = try EventBatch(bytes: message.batch) } catch {
      preconditionFailure("the own daemon sends what it stored: \(error)")
    }
    let has = client.stacks[name]?.has ?? VersionVector()
    var isOwn = false
    for author in batch.authors {
      _ = stack.local.raise(author.device, to: author.lastSequence)
      if author.lastSequence > has[author.device] { isOwn = true }
    }
    stack.localHead = max(stack.localHead, message.firstOffset + batch.count - 1)
    stacks[name] = stack
    // What a copy holds, also when it grows, decides which chains are gone on with.
    if batch.authors.contains(where: { Fork.mayBeCopy($0.device) }) { put(.readHeads(name)) }
    guard let policy = stack.policy ?? client.stacks[name]?.policy else { return }
    client.persisted(name, localHead: stack.localHead, own: isOwn, policy: policy)
  }

  // MARK: What becomes of what was brought

  /// Those of a stack's appends are answered.
  private mutating func taken(_ text: String, at moment: Moment, _ isAnswered: (Linked.InFlight) -> Bool) {
    guard let name = try? StackName(text), let stack = stacks[name] else { return }
    let (answered, left) = (stack.inFlight.filter(isAnswered), stack.inFlight.filter { !isAnswered($0) })
    stacks[name]?.inFlight = left
    for append in answered { giveBack(append.bytes, of: append.session) }
  }

  private mutating func ownRejected(_ rejected: Rejected, at moment: Moment) {
    guard let name = try? StackName(rejected.stack), let stack = stacks[name] else { return }
    let dot = rejected.dot
    func isMeant(_ append: Linked.InFlight) -> Bool {
      append.device == dot.device && append.first <= dot.sequence && dot.sequence <= append.last
    }
    let lost = stack.inFlight.first(where: isMeant).map { $0.last - dot.sequence + 1 } ?? 0
    taken(rejected.stack, at: moment, isMeant)
    switch rejected.code {
    case .fork:
      disputed(name, dot.device)
      takeNext(of: name, at: moment)
    case .sequenceGap, .missingContext, .clockAhead, .storage, .busy, .policyMismatch:
      // Time or other events can cure it.
      heldBack += lost
      askAgain(name, at: moment)
    case _: stop(name, "\(dot) can't be taken in: \(rejected.detail)")
    }
  }

  private mutating func ownRefused(_ refused: Refused, at moment: Moment) {
    switch refused.about {
    case .list: ownListAt = moment.milliseconds + Self.ownWaitMilliseconds
    case .follow:
      guard let name = try? StackName(refused.stack), stacks[name] != nil else { return }
      stacks[name]?.isFollowed = false
      stacks[name]?.problem = refused.reason
      stacks[name]?.followAt = moment.milliseconds + Self.ownWaitMilliseconds
      setTimer(of: name)
    case .append:
      guard let name = try? StackName(refused.stack), let stack = stacks[name] else { return }
      heldBack += stack.inFlight.reduce(0) { $0 + $1.last - $1.first + 1 }
      taken(refused.stack, at: moment) { _ in true }
      askAgain(name, at: moment)
    case _: break
    }
  }

  // MARK: Time

  mutating func setTimer(of name: StackName) {
    if stacks[name]?.due == nil { timed.remove(name) } else { timed.insert(name) }
  }

  mutating func stackTimerFired(_ name: StackName, at moment: Moment) {
    guard let stack = stacks[name] else { return }
    let now = moment.milliseconds
    if let at = stack.followAt, now >= at {
      stacks[name]?.followAt = nil
      stacks[name]?.problem = ""
      followOwn(name, after: 0)
    }
    if let at = stack.retryAt, now >= at {
      stacks[name]?.retryAt = nil
      if stack.isFollowed, stack.problem.isEmpty { client.follow(name, policy: nil, now: now) }
    }
    setTimer(of: name)
  }

  /// The other daemon is asked anew for what our log lacks, soon at first and later and later.
  mutating func askAgain(_ name: StackName, at moment: Moment) {
    guard var stack = stacks[name], stack.retryAt == nil else { return }
    let now = moment.milliseconds
    if let last = stack.askedAt, now - last > Self.calmMilliseconds { stack.attempt = 0 }
    stack.retryAt = now + jitter.wait(attempt: stack.attempt, base: 200, cap: 30_000)
    stack.askedAt = stack.retryAt
    stack.attempt = min(stack.attempt + 1, 20)
    stacks[name] = stack
    setTimer(of: name)
  }

  static let ownWaitMilliseconds = 1000
  /// After so long without a need to ask anew it is soon again.
  static let calmMilliseconds = 60_000
}
