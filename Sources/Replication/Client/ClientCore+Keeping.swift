package import NavigationModel
import WireFormat

// MARK: Presence

extension ClientCore {
  /// A device that nothing was heard of for so long is away, after twice as long it is forgotten.
  static let awayMilliseconds = 30_000
  static let presenceMilliseconds = 10_000
  /// Everybody who shows a stack shows something else after an event, and says so to all the others.
  static let presencePauseMilliseconds = 1000

  /// This device shows that entry of a stack (nil: the root), and others may know: at once, or a second after they were
  /// told the last time.
  package mutating func shows(_ stack: StackName, top: EntryID?, now: Int) {
    guard let followed = stacks[stack] else { return }
    if let shown = followed.shown, shown.top == top { return }
    let toldAt = followed.shown?.toldAt
    let next = toldAt.map { $0 + Self.presencePauseMilliseconds } ?? now
    stacks[stack]?.shown = Followed.Shown(top: top, nextAt: next, toldAt: toldAt)
    if next <= now { sendPresence(of: stack, now: now) }
    setTimer(of: stack)
  }

  /// This device shows the stack no longer.
  package mutating func hides(_ stack: StackName) {
    guard let followed = stacks[stack], followed.shown != nil else { return }
    stacks[stack]?.shown = nil
    setTimer(of: stack)
    guard isOpen(), followed.stage == .following else { return }
    put(.send(.presence(Presence(stack: stack.description, state: .gone))))
  }

  mutating func sendPresence(of stack: StackName, now: Int) {
    guard isOpen(), settings.device != nil, let followed = stacks[stack], let shown = followed.shown,
      followed.stage == .following
    else { return }
    stacks[stack]?.shown?.nextAt = now + Self.presenceMilliseconds
    stacks[stack]?.shown?.toldAt = now
    put(.send(.presence(Presence(stack: stack.description, name: settings.name, state: .active, top: shown.top))))
  }

  mutating func presenceReceived(_ message: Presence, now: Int) {
    guard let stack = try? StackName(message.stack), stacks[stack] != nil, let device = message.device,
      device != settings.device
    else { return }
    let presence = PeerPresence(device: device, name: message.name, state: message.state, top: message.top)
    let old = peers[stack]?[device]?.presence
    if message.state == .gone {
      peers[stack]?[device] = nil
      if old == nil { return }
    } else {
      peers[stack, default: [:]][device] = Peer(presence: presence, heardAt: now)
    }
    setExpiry(of: stack)
    if presence != old { put(.presence(stack, presence)) }
  }

  private mutating func setExpiry(of stack: StackName) {
    let next = peers[stack]?.values.map { peer in
      peer.heardAt + (peer.presence.state == .active ? 1 : 2) * Self.awayMilliseconds
    }.min()
    stacks[stack]?.nextExpiry = next
    setTimer(of: stack)
  }

  private mutating func expirePeers(of stack: StackName, now: Int) {
    for (device, peer) in (peers[stack] ?? [:]).sorted(by: { $0.key < $1.key }) {
      var presence = peer.presence
      if now >= peer.heardAt + 2 * Self.awayMilliseconds {
        presence.state = .gone
        peers[stack]?[device] = nil
      } else if now >= peer.heardAt + Self.awayMilliseconds, presence.state == .active {
        presence.state = .away
        peers[stack]?[device]?.presence = presence
      } else {
        continue
      }
      put(.presence(stack, presence))
    }
    setExpiry(of: stack)
  }

  mutating func forgetPeers(of stack: StackName) {
    guard let known = peers.removeValue(forKey: stack) else { return }
    for device in known.keys.sorted() {
      guard var presence = known[device]?.presence else { continue }
      presence.state = .gone
      put(.presence(stack, presence))
    }
    stacks[stack]?.nextExpiry = nil
  }
}

// MARK: Timers of a stack

extension ClientCore {
  mutating func stackTimerFired(_ stack: StackName, now: Int) {
    guard let followed = stacks[stack] else { return }
    if let at = followed.answerBy, !followed.inFlight.isEmpty, now >= at {
      answersMissed += 1
      stacks[stack]?.inFlight = []
      setTimer(of: stack)
      if followed.stage == .following { return refollow(stack) }
    }
    if let at = followed.gap?.askAt, now >= at { askForGap(of: stack, now: now) }
    if let at = followed.followAt, now >= at {
      let attempt = followed.attempt
      refollow(stack)
      stacks[stack]?.attempt = attempt
    } else if let at = followed.retryAt, now >= at {
      stacks[stack]?.retryAt = nil
      sendEvents(of: stack)
    }
    if followed.stage == .following, let at = followed.shown?.nextAt, now >= at { sendPresence(of: stack, now: now) }
    if let at = followed.nextExpiry, now >= at { expirePeers(of: stack, now: now) }
    setTimer(of: stack)
  }
}
