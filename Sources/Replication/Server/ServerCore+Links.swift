import Access
package import NavigationModel
package import WireFormat

/// Links to other daemons: their near ends are sessions of this core like any other, so what they bring is admitted,
/// committed and passed on as everything is.
extension ServerCore {
  /// A link's near end is there. It needs no `Hello`, is never silent for too long, and what it appends comes without
  /// the digest before: the link sees to it that both chains are the same up to there.
  package mutating func linkOpened(_ peer: Peer, name: String, at moment: Moment) {
    precondition(sessions[peer] == nil, "a link is opened once")
    var session = Session(
      device: nil, name: name, software: configuration.software, now: moment.milliseconds)
    session.isLink = true
    session.credit = configuration.limits.credit
    sessions[peer] = session
    if sweepAt == nil { sweepAt = moment.milliseconds + Self.sweepMilliseconds }
  }

  /// A link says something.
  package mutating func linkSubmitted(_ message: Message, from peer: Peer, at moment: Moment) {
    guard sessions[peer]?.isLink == true else { preconditionFailure("a link that wasn't opened") }
    let bytes = if case .append(let append) = message { append.events.reduce(0) { $0 + $1.count } } else { 0 }
    received(message, bytes: bytes, from: peer, as: .local, at: moment)
  }

  /// What is on stable storage of a stack, with the chains that hold at least that.
  package struct Held: Sendable {
    package var heads: [DeviceHead]
    package var head: Int
    /// Nil as long as there is no event.
    package var policy: Policy?
    package var policySince: Timestamp
    package var chains: StackChains
    /// Chains to which nothing is added any more: a device id has several histories.
    package var retired: Set<DeviceID> { chains.retired }
  }

  /// Nil if the stack isn't in use; one that a link follows is.
  package func held(_ stack: StackName) -> Held? {
    guard let slot = slots[stack.description], let held = stacks[slot] else { return nil }
    return Held(
      heads: held.storedHeads, head: held.head, policy: held.head > 0 ? held.policy : nil,
      policySince: held.policySince, chains: held.chains)
  }

  /// A peer that has seen all up to an offset is past another without having been sent what is between: it brought it.
  mutating func tellOfPassing(_ offset: Int, after seen: Int, _ slot: Int, to peer: Peer) {
    let live = Message.live(Live(stack: stacks[slot]!.text, offset: offset))
    put(.send(to: [peer], bytes: live.encoded(), kind: .live(stacks[slot]!.name, seen: seen, number: lastNumber)))
  }

  /// A stack came to be: who follows the list is told.
  mutating func tellOfNewStack(_ part: CommitPart, at moment: Moment) {
    let stack = Listing.Stack(
      stack: part.stack.description, policy: part.policy, head: part.batch.count, devices: part.batch.authors.count,
      lastStored: moment.wall)
    tellOfStack(stack, at: moment)
  }

  /// A stack that was read from the log: a commit that failed may have made it all the same.
  mutating func tellOfLoadedStack(_ slot: Int, at moment: Moment) {
    guard stacks[slot]!.head > 0, let policy = stacks[slot]!.policy else { return }
    let stack = Listing.Stack(
      stack: stacks[slot]!.text, policy: policy, head: stacks[slot]!.head, devices: stacks[slot]!.stored.count,
      lastStored: moment.wall)
    tellOfStack(stack, unless: stacks[slot]!.followers, at: moment)
  }

  private mutating func tellOfStack(_ stack: Listing.Stack, unless known: [Peer] = [], at moment: Moment) {
    let told = sessions.filter {
      $0.value.followsList && !known.contains($0.key) && mayRead(stack.stack, $0.value)
    }
    for peer in told.keys.sorted(by: { $0.number < $1.number }) {
      reply(.listing(Listing(stacks: [stack], last: true)), to: peer, at: moment)
    }
  }
}
