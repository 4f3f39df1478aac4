import Access
import NavigationModel
package import WireFormat

// MARK: Ping, list, status

extension ServerCore {
  mutating func pingReceived(_ ping: Ping, from peer: Peer, at moment: Moment) {
    counters.add(to: .pings)
    var differing: [StackHead] = []
    for head in ping.heads.prefix(Self.headsAPing) {
      guard let slot = slots[head.stack], sessions[peer]!.follows[slot] != nil else {
        // A follow may wait for its stack; else there is none, and the offset that went back says so.
        let waits = slots[head.stack].map { !stacks[$0]!.isLoaded } ?? false
        if !waits, head.offset != 0 { differing.append(StackHead(stack: head.stack, offset: 0)) }
        continue
      }
      guard stacks[slot]!.head != head.offset else { continue }
      differing.append(StackHead(stack: head.stack, offset: stacks[slot]!.head))
    }
    reply(.pong(Pong(serverTime: serverTime(moment), heads: differing)), to: peer, at: moment)
  }

  mutating func listReceived(_ list: List, from peer: Peer, at moment: Moment) {
    if list.follows { sessions[peer]!.followsList = true }
    guard !list.devicesOnly else { return tellList([], to: peer, at: moment) }
    let space: Name?
    do { space = list.space.isEmpty ? nil : try Name(list.space) } catch {
      return refuse(.list, .badName, "the space: \(error)", to: peer, at: moment)
    }
    guard sessions[peer]!.lists.count < Self.maximumLists else {
      let reason = "\(Self.maximumLists) lists wait to be read for this session; wait for one"
      return refuse(.list, .tooMany, reason, to: peer, at: moment)
    }
    sessions[peer]!.lists.append(space)
    readNextList(for: peer)
  }

  /// One list is read at a time for a session.
  private mutating func readNextList(for peer: Peer) {
    guard sessions[peer]?.isListing == false, let space = sessions[peer]!.lists.popFirst() else { return }
    sessions[peer]!.isListing = true
    put(.list(space, for: peer))
  }

  /// What `.list` asked for, by name.
  package mutating func listed(_ stacks: [Listing.Stack], for peer: Peer, at moment: Moment) {
    sessions[peer]?.isListing = false
    tellList(stacks, to: peer, at: moment)
    readNextList(for: peer)
  }

  private mutating func tellList(_ stacks: [Listing.Stack], to peer: Peer, at moment: Moment) {
    guard let session = sessions[peer] else { return }
    let stacks = session.principal == .local ? stacks : stacks.filter { mayRead($0.stack, session) }
    let connected = Set(sessions.values.compactMap(\.device))
    let devices = names.sorted { $0.key < $1.key }.map { device, name in
      Listing.Device(
        device: device, name: name, connected: connected.contains(device),
        lastSeen: connected.contains(device) ? moment.wall : heard[device] ?? 0)
    }
    var pages: [Listing] = []
    for start in stride(from: 0, to: stacks.count, by: Self.listedAMessage) {
      pages.append(Listing(stacks: Array(stacks[start...].prefix(Self.listedAMessage)), last: false))
    }
    for start in stride(from: 0, to: devices.count, by: Self.listedAMessage) {
      pages.append(Listing(devices: Array(devices[start...].prefix(Self.listedAMessage)), last: false))
    }
    if pages.isEmpty { pages.append(Listing(last: false)) }
    pages[pages.count - 1].last = true
    for page in pages { reply(.listing(page), to: peer, at: moment) }
  }

  package mutating func listFailed(for peer: Peer, _ failure: StorageFailure, at moment: Moment) {
    guard sessions[peer] != nil else { return }
    sessions[peer]!.isListing = false
    refuse(.list, .storage, failure.detail, to: peer, at: moment)
    readNextList(for: peer)
  }

  mutating func statusReceived(from peer: Peer, at moment: Moment) {
    var values = counters.nonzero.map { StatusReport.Counter(name: $0.counter.name, value: $0.value) }
    values += gauges.map { StatusReport.Counter(name: $0.name, value: $0.value) }
    values += extraCounters.sorted { $0.key < $1.key }.map { StatusReport.Counter(name: $0.key, value: $0.value) }
    reply(
      .statusReport(
        StatusReport(
          software: configuration.software, daemon: configuration.daemon, epoch: configuration.epoch,
          startedAt: configuration.startedAt, store: configuration.store, endpoints: configuration.endpoints,
          counters: values, peers: linkReports)), to: peer, at: moment)
  }

  /// What is now, and not since the start.
  package var gauges: [(name: String, value: Int)] {
    [
      ("sessions", sessions.values.count { !$0.isLink }), ("stacks_in_use", slots.count),
      ("followers_behind", sessions.values.count { !$0.toRead.isEmpty || $0.reading != nil }),
      ("backlog_bytes", backlog),
    ]
  }

  /// The I/O side counts something of its own, by its name in the status report.
  package mutating func count(_ name: String, _ count: Int = 1) { extraCounters[name, default: 0] += count }

  /// The I/O side measured something of its own.
  package mutating func report(_ name: String, _ value: Int) { extraCounters[name] = value }

  static let headsAPing = 128
  static let maximumLists = 16
  static let listedAMessage = 512
}

// MARK: Time

extension ServerCore {
  /// When ``timerFired(at:)`` is wanted next, in milliseconds of the clock that never goes back; nil for never.
  package var deadline: Int? {
    [retryAt, sweepAt, probeAt].compactMap(\.self).min()
  }

  /// It is so late. Too early a call does nothing.
  package mutating func timerFired(at moment: Moment) {
    if let due = retryAt, moment.milliseconds >= due { retry(at: moment) }
    if let due = sweepAt, moment.milliseconds >= due { sweep(at: moment) }
    if let due = probeAt, moment.milliseconds >= due { probe(at: moment) }
  }

  /// Peers whose socket was full may have room again.
  private mutating func retry(at moment: Moment) {
    retryAt = nil
    for peer in full.sorted(by: { $0.number < $1.number }) {
      guard sessions[peer]!.retryAt <= moment.milliseconds else {
        retryAt = min(retryAt ?? .max, sessions[peer]!.retryAt)
        continue
      }
      if !sessions[peer]!.replies.isEmpty {
        // They cost nothing, and show whether there is room; what has to be read follows.
        for bytes in sessions[peer]!.replies.removeAll() { put(.send(to: [peer], bytes: bytes, kind: .reply)) }
        sessions[peer]!.retryWait = 0
        sessions[peer]!.retryAt = moment.milliseconds + Self.retryMilliseconds
        retryAt = min(retryAt ?? .max, moment.milliseconds + Self.retryMilliseconds)
      } else {
        full.remove(peer)
        sessions[peer]!.isFull = false
        // It reads, if slower than is sent: it is not waited for longer and longer.
        sessions[peer]!.retryWait = sessions[peer]!.wentOut > 0 ? 0 : 2 * sessions[peer]!.retryWait
        sessions[peer]!.wentOut = 0
        readNext(for: peer, at: moment)
      }
    }
  }

  private mutating func probe(at moment: Moment) {
    probeAt = nil
    lastProbe = moment.milliseconds
    let open = sessions.filter { !$0.value.isFull && !$0.value.isLink }.keys.sorted { $0.number < $1.number }
    let pong = Message.pong(Pong(serverTime: serverTime(moment), heads: []))
    if !open.isEmpty { put(.send(to: open, bytes: pong.encoded(), kind: .probe)) }
  }

  /// Silent devices become away; a peer that would have pinged if it were there has gone.
  private mutating func sweep(at moment: Moment) {
    let now = moment.milliseconds
    for peer in sessions.keys.sorted(by: { $0.number < $1.number }) {
      let session = sessions[peer]!
      guard !session.isLink, now - session.lastHeard >= Self.silenceMilliseconds else { continue }
      if !session.isAway {
        sessions[peer]!.isAway = true
        for slot in session.shown.keys.sorted() { relay(.away, from: peer, slot, at: moment) }
      }
      guard now - max(session.lastSent, session.lastHeard) >= Self.lostMilliseconds else { continue }
      peerGone(peer, at: moment)
      put(.forget(peer))
    }
    letGoOfIdleStacks()
    sweepAt = sessions.isEmpty && slots.count <= configuration.idleStacks ? nil : now + Self.sweepMilliseconds
  }
}
