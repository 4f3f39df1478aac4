package import NavigationModel
import WireFormat

/// A stack that was made at two daemons under two policies: the lower (timestamp of the first event, policy text) stands,
/// at every daemon that hears of it.
extension ServerCore {
  /// A policy that stands in the place of the one that the log has the stack under.
  package struct AdoptedPolicy: Hashable, Sendable {
    package var stack: StackName
    package var policy: Policy
    package var since: Timestamp
  }

  /// What the I/O side is to keep beside the log, once.
  package mutating func takeAdoptedPolicies() -> [AdoptedPolicy] {
    defer { adopted = [] }
    return adopted
  }

  /// Another daemon has a stack under that policy since then. Who follows it here has to follow it again: other daemons
  /// and links do, and a device is told that its policy isn't the stack's any more.
  ///
  /// - Returns: whether that one stands.
  @discardableResult
  package mutating func policyHeard(
    _ name: StackName, _ policy: Policy, since: Timestamp, at moment: Moment
  ) -> Bool {
    guard let slot = slots[name.description], stacks[slot]!.isLoaded, let own = stacks[slot]!.policy, own != policy,
      (since, policy.description) < (stacks[slot]!.policySince, own.description)
    else { return false }
    let text = stacks[slot]!.text
    stacks[slot]!.policy = policy
    stacks[slot]!.policySince = since
    adopted.append(AdoptedPolicy(stack: name, policy: policy, since: since))
    put(
      .log(
        LogRecord(
          .warning, "a stack has the policy that it had first at another daemon",
          [.init("stack", text), .init("policy", policy), .init("before", own)])))
    for peer in stacks[slot]!.followers {
      let isDaemon = sessions[peer]!.isOtherDaemon || sessions[peer]!.isLink
      unfollowReceived(Unfollow(stack: text), from: peer, at: moment)
      let reason = "\(text) was made under \(policy) at another daemon before, so it has that policy now: adopt it"
      refuse(.follow, stack: text, isDaemon ? .busy : .policyMismatch, reason, to: peer, at: moment)
    }
    return true
  }

  /// Another daemon follows, and says how its own log has the stack.
  mutating func decidePolicy(_ follow: Follow, _ slot: Int, at moment: Moment) {
    guard let policy = follow.policy else { return }
    policyHeard(stacks[slot]!.name, policy, since: follow.policySince, at: moment)
  }

  /// Of a stack's first events.
  static func firstTimestamp(of run: EventBatch.Run) -> Timestamp {
    var author = AuthorState(device: run.device)
    guard run.firstSequence == 1, let first = run.events.first,
      let event = try? EventCodec.decode(first, in: 0..<first.count, after: &author)
    else { return .zero }
    return event.timestamp
  }
}
