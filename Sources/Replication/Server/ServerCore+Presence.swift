import NavigationModel
import WireFormat

/// Where devices are: relayed to the stack's other followers, never logged, and lost if the socket has no room.
extension ServerCore {
  mutating func presenceReceived(_ presence: Presence, from peer: Peer, at moment: Moment) {
    guard sessions[peer]!.device != nil else {
      let reason = "an observer is on no stack: say Hello with a device"
      return refuse(.presence, stack: presence.stack, .notYours, reason, to: peer, at: moment)
    }
    guard let slot = slots[presence.stack], sessions[peer]!.follows[slot] != nil else {
      // The follow may still wait for the stack to be loaded; the device says it again.
      if let slot = slots[presence.stack], stacks[slot]!.waiting.contains(where: { $0.peer == peer }) {
        counters.add(to: .presenceDropped)
        return
      }
      let reason = "this session doesn't follow the stack: follow it first"
      return refuse(.presence, stack: presence.stack, .notFound, reason, to: peer, at: moment)
    }
    switch presence.state {
    case .active, .away:
      sessions[peer]!.shown[slot] = .some(presence.top)
      relay(presence.state, from: peer, slot, at: moment)
    case .gone:
      relay(.gone, from: peer, slot, at: moment)
      sessions[peer]!.shown[slot] = nil
    }
  }

  /// Tells the stack's other followers of a peer's device.
  mutating func relay(_ state: Presence.State, from peer: Peer, _ slot: Int, at moment: Moment) {
    let others = stacks[slot]!.followers.filter { $0 != peer && sessions[$0] != nil }
    guard !others.isEmpty, let message = presence(of: peer, state, slot) else { return }
    let open = others.filter { !sessions[$0]!.isFull }
    counters.add(open.count, to: .presenceRelayed)
    counters.add(others.count - open.count, to: .presenceDropped)
    if !open.isEmpty { put(.send(to: open, bytes: message.encoded(), kind: .presence)) }
  }

  /// Tells a new follower who is there.
  mutating func tellPresence(of slot: Int, to peer: Peer, at moment: Moment) {
    for other in stacks[slot]!.followers where other != peer {
      guard let session = sessions[other], session.shown[slot] != nil,
        let message = presence(of: other, session.isAway ? .away : .active, slot)
      else { continue }
      counters.add(to: .presenceRelayed)
      put(.send(to: [peer], bytes: message.encoded(), kind: .presence))
    }
  }

  private func presence(of peer: Peer, _ state: Presence.State, _ slot: Int) -> Message? {
    guard let session = sessions[peer], let top = session.shown[slot] else { return nil }
    return .presence(
      Presence(stack: stacks[slot]!.text, device: session.device, name: session.name, state: state, top: top))
  }

  /// The peer said something.
  ///
  /// - Returns: whether it has a session.
  mutating func heard(from peer: Peer, at moment: Moment) -> Bool {
    guard let place = sessions.index(forKey: peer) else { return false }
    sessions.values[place].lastHeard = moment.milliseconds
    guard sessions.values[place].isAway else { return true }
    sessions.values[place].isAway = false
    for slot in sessions.values[place].shown.keys.sorted() { relay(.active, from: peer, slot, at: moment) }
    return true
  }
}
