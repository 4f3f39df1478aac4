import Access
import NavigationModel
import WireFormat

// MARK: Requests

extension ServerCore {
  mutating func followReceived(_ follow: Follow, _ slot: Int, from peer: Peer, at moment: Moment) {
    endComparison(slot, of: peer)
    if sessions[peer]!.isOtherDaemon, access.allows(sessions[peer]!.principal, .act, in: Self.space(of: follow.stack)) {
      decidePolicy(follow, slot, at: moment)
    }
    let stack = stacks[slot]!
    if let asked = follow.policy, let own = stack.policy, asked != own, !sessions[peer]!.isOtherDaemon {
      let reason = Self.policyMismatch(stack.text, own: own, asked: asked)
      return refuseFollow(slot, .policyMismatch, reason, from: peer, at: moment)
    }
    let limit = configuration.limits.follows
    guard sessions[peer]!.follows[slot] != nil || sessions[peer]!.follows.count < limit else {
      let reason = "this session follows \(limit) stacks, which is the most that one can"
      return refuseFollow(slot, .tooMany, reason, from: peer, at: moment)
    }
    switch follow.start {
    case .offset(let offset, let epoch):
      guard epoch == configuration.epoch, (0...stack.head).contains(offset) else {
        let reason =
          epoch == configuration.epoch
          ? "offset \(offset) of \(stack.text) is not in this log, which ends at \(stack.head): follow with a vector"
          : "the log was replaced since: follow with a vector"
        return refuseFollow(slot, .epochChanged, reason, from: peer, at: moment)
      }
      let cursor = Cursor(at: offset, wantsAuthorStates: follow.wantsAuthorStates, number: number())
      begin(cursor, slot, stack.storedHeads, for: peer, at: moment)
    case .vector(let heads):
      var held = VersionVector()
      for head in heads {
        guard held[head.device] == 0, held.raise(head.device, to: head.sequence) else {
          return refuseFollow(slot, .malformed, "the numbers of what is held can't be", from: peer, at: moment)
        }
      }
      compare(heads, follow, slot, from: peer, at: moment)
    }
  }

  /// Goes on with a follow whose heads were compared.
  ///
  /// - Parameter differing: chains of which the follower has another history: it is told of none of them, and sent none.
  mutating func follow(
    _ heads: [DeviceHead], differing: Set<DeviceID>, _ follow: Follow, _ slot: Int, from peer: Peer, at moment: Moment
  ) {
    let stack = stacks[slot]!
    var held = VersionVector()
    var copied: Set<DeviceID> = []
    for head in heads {
      _ = held.raise(head.device, to: head.sequence)
      if stack.chains.author(of: head.device) != head.device { copied.insert(stack.chains.author(of: head.device)) }
    }
    let own = sessions[peer]!.device
    let told = stack.allHeads.filter { head in
      head.device == own
        || !differing.contains(head.device)
          && (!stack.chains.retired.contains(head.device) || held[head.device] > 0)
    }
    for device in differing { _ = held.raise(device, to: stack.stored[device]?.sequence ?? 0) }
    for device in stack.chains.retired where copied.contains(stack.chains.author(of: device)) {
      _ = held.raise(device, to: stack.stored[device]?.sequence ?? 0)
    }
    var cursor = Cursor(at: 0, wantsAuthorStates: follow.wantsAuthorStates, number: number())
    if stack.stored.allSatisfy({ held[$0] >= $1.sequence }) {
      cursor.position = stack.head
      cursor.seen = stack.head
    } else if !held.isEmpty {
      cursor.vector = held
      cursor.held = held
    }
    begin(cursor, slot, told, for: peer, at: moment)
  }

  private mutating func begin(
    _ cursor: Cursor, _ slot: Int, _ heads: [DeviceHead], for peer: Peer, at moment: Moment
  ) {
    let stack = stacks[slot]!
    if sessions[peer]!.follows.updateValue(cursor, forKey: slot) == nil { stacks[slot]!.followers.append(peer) }
    var following = Following(
      stack: stack.text, exists: stack.head > 0, policy: stack.head > 0 ? stack.policy : nil, head: stack.head,
      heads: heads)
    // Only another daemon has a use for it.
    if sessions[peer]!.isOtherDaemon, stack.head > 0 { following.policySince = stack.policySince }
    reply(.following(following), to: peer, at: moment)
    tellPresence(of: slot, to: peer, at: moment)
    advance(Errand(slot: slot), of: peer, at: moment)
  }

  /// A refused follow also ends the one before it: the peer knows of one state only.
  mutating func refuseFollow(
    _ slot: Int, _ code: RefusalCode, _ reason: String, from peer: Peer, at moment: Moment
  ) {
    let text = stacks[slot]!.text
    unfollowReceived(Unfollow(stack: text), from: peer, at: moment)
    refuse(.follow, stack: text, code, reason, to: peer, at: moment)
  }

  static func policyMismatch(_ stack: String, own: Policy, asked: Policy) -> String {
    "\(stack) has the policy \(own), not \(asked); the first event fixed it: leave the policy out, or adopt the stack's"
  }

  mutating func unfollowReceived(_ unfollow: Unfollow, from peer: Peer, at moment: Moment) {
    guard let slot = slots[unfollow.stack] else { return }
    var released: [Stack.Waiting] = []
    stacks[slot]!.waiting.removeAll { waiting in
      guard waiting.peer == peer, case .follow = waiting.message else { return false }
      released.append(waiting)
      return true
    }
    for waiting in released { endWaiting(waiting) }
    endComparison(slot, of: peer)
    guard sessions[peer]!.follows.removeValue(forKey: slot) != nil else { return }
    if sessions[peer]!.shown[slot] != nil {
      relay(.gone, from: peer, slot, at: moment)
      sessions[peer]!.shown[slot] = nil
    }
    stacks[slot]!.followers.removeAll { $0 == peer }
    stacks[slot]!.lastUsed = moment.milliseconds
  }

  mutating func rangeReceived(_ range: RangeRequest, _ slot: Int, from peer: Peer, at moment: Moment) {
    let stack = stacks[slot]!
    guard range.epoch == configuration.epoch else {
      let reason = "the log was replaced since: follow with a vector"
      return refuse(.range, stack: stack.text, .epochChanged, reason, to: peer, at: moment)
    }
    guard range.from >= 1, range.from <= range.to, range.from <= stack.head else {
      let reason = "offsets \(range.from) to \(range.to) of \(stack.text), which has 1 to \(stack.head)"
      return refuse(.range, stack: stack.text, .notFound, reason, to: peer, at: moment)
    }
    guard sessions[peer]!.ranges[slot] != nil || sessions[peer]!.ranges.count < configuration.limits.follows else {
      let reason = "this session reads too many ranges; wait for one to end"
      return refuse(.range, stack: stack.text, .tooMany, reason, to: peer, at: moment)
    }
    let cursor = Cursor(
      at: range.from - 1, end: min(range.to, stack.head),
      wantsAuthorStates: sessions[peer]!.follows[slot]?.wantsAuthorStates ?? false, number: number())
    if sessions[peer]!.ranges.updateValue(cursor, forKey: slot) == nil { stacks[slot]!.ranges += 1 }
    advance(Errand(slot: slot, isRange: true), of: peer, at: moment)
  }

  mutating func creditReceived(_ credit: Credit, from peer: Peer, at moment: Moment) {
    guard credit.bytes > 0 else { return }
    let limit = configuration.limits.credit
    let (sum, overflow) = sessions[peer]!.credit.addingReportingOverflow(credit.bytes)
    sessions[peer]!.credit = overflow ? limit : min(sum, limit)
    // It reads: there will be room.
    sessions[peer]!.retryWait = 0
    if sessions[peer]!.isFull {
      sessions[peer]!.retryAt = moment.milliseconds
      retryAt = moment.milliseconds
    }
    readNext(for: peer, at: moment)
  }
}

// MARK: Cursors

extension ServerCore {
  /// A cursor may have come to its end, or has something to read.
  mutating func advance(_ errand: Errand, of peer: Peer, at moment: Moment) {
    guard var cursor = sessions[peer]?[errand] else { return }
    let head = stacks[errand.slot]!.head
    if errand.isRange {
      if cursor.position >= cursor.end! {
        sessions[peer]!.ranges[errand.slot] = nil
        stacks[errand.slot]!.ranges -= 1
      } else {
        wantRead(errand, for: peer, at: moment)
      }
    } else if cursor.vector == nil, cursor.position == head {
      cursor.held = nil
      let isFirst = !cursor.isAnnounced
      let seen = cursor.seen
      cursor.isAnnounced = true
      if isFirst { cursor.seen = head }
      sessions[peer]![errand] = cursor
      guard isFirst else { return }
      let live = Message.live(Live(stack: stacks[errand.slot]!.text, offset: head))
      let kind = SendKind.live(stacks[errand.slot]!.name, seen: seen, number: lastNumber)
      // While answers wait for room it has to come after them.
      if sessions[peer]!.isFull {
        socketFull(peer, for: live.encoded(), kind, at: moment)
      } else {
        put(.send(to: [peer], bytes: live.encoded(), kind: kind))
      }
    } else {
      wantRead(errand, for: peer, at: moment)
    }
  }

  /// Queues a cursor for its turn.
  mutating func wantRead(_ errand: Errand, for peer: Peer, at moment: Moment) {
    guard var cursor = sessions[peer]?[errand], !cursor.isBehind else { return }
    cursor.isWaiting = true
    sessions[peer]![errand] = cursor
    sessions[peer]!.toRead.append(errand)
    readNext(for: peer, at: moment)
  }

  /// Asks the log for the next batches of a peer, if it can take any.
  mutating func readNext(for peer: Peer, at moment: Moment) {
    while let session = sessions[peer], session.isOpen, session.reading == nil,
      let errand = sessions[peer]!.toRead.popFirst()
    {
      // Unfollowed, or followed anew, since it was queued.
      guard var cursor = session[errand], cursor.isWaiting else { continue }
      cursor.isWaiting = false
      guard errand.isRange || cursor.vector != nil || cursor.position < stacks[errand.slot]!.head else {
        sessions[peer]![errand] = cursor
        advance(errand, of: peer, at: moment)
        continue
      }
      let number = number()
      cursor.read = number
      sessions[peer]![errand] = cursor
      sessions[peer]!.reading = (number, errand)
      counters.add(to: .reads)
      put(
        .read(
          Read(
            number: number, stack: stacks[errand.slot]!.name,
            start: cursor.vector.map { .vector($0) } ?? .offset(cursor.position),
            maximumBytes: min(session.credit, configuration.commitBytes), wantsAuthorStates: cursor.wantsAuthorStates,
            peer: peer)))
    }
  }

  /// What a `.read` asked for.
  ///
  /// - Parameter start: the offset that it was read after.
  package mutating func batchesRead(_ read: Read, after start: Int, _ batches: [ReadBatch], at moment: Moment) {
    guard let (errand, fresh) = endRead(read) else { return }
    guard var cursor = fresh else { return readNext(for: read.peer, at: moment) }
    if cursor.vector != nil {
      cursor.vector = nil
      cursor.position = start
      cursor.seen = start
      sessions[read.peer]![errand] = cursor
    }
    let before = cursor.position
    // The cursor went back meanwhile, for want of room in the socket: what was read comes too early.
    guard before == start else {
      advance(errand, of: read.peer, at: moment)
      return readNext(for: read.peer, at: moment)
    }
    for batch in batches {
      let last = batch.firstOffset + batch.batch.count - 1
      // What this machine wasn't yet told of is sent when it is.
      guard sessions[read.peer]?.isOpen == true, last <= stacks[errand.slot]!.head,
        batch.firstOffset <= cursor.position + 1, cursor.position < cursor.end ?? .max
      else { break }
      guard last > cursor.position else { continue }
      if let held = cursor.held, batch.batch.authors.allSatisfy({ held[$0.device] >= $0.lastSequence }) {
        cursor.position = last
        sessions[read.peer]![errand] = cursor
      } else {
        send(batch, errand, &cursor, to: read.peer, at: moment)
      }
    }
    if cursor.position == before, sessions[read.peer]!.isOpen, cursor.position < stacks[errand.slot]!.head {
      let text = stacks[errand.slot]!.text
      giveUp(
        errand, of: read.peer, StorageFailure("\(text): no events after offset \(before); verify the log"), at: moment)
    } else {
      advance(errand, of: read.peer, at: moment)
    }
    readNext(for: read.peer, at: moment)
  }

  package mutating func readFailed(_ read: Read, _ failure: StorageFailure, at moment: Moment) {
    counters.add(to: .readsFailed)
    guard let (errand, cursor) = endRead(read) else { return }
    if cursor != nil { giveUp(errand, of: read.peer, failure, at: moment) }
    readNext(for: read.peer, at: moment)
  }

  private mutating func giveUp(_ errand: Errand, of peer: Peer, _ failure: StorageFailure, at moment: Moment) {
    let text = stacks[errand.slot]!.text
    put(.log(LogRecord(.error, "reading failed", [.init("stack", text), .init("problem", failure.detail)])))
    if errand.isRange {
      sessions[peer]!.ranges[errand.slot] = nil
      stacks[errand.slot]!.ranges -= 1
    } else {
      unfollowReceived(Unfollow(stack: text), from: peer, at: moment)
    }
    refuse(errand.isRange ? .range : .follow, stack: text, .storage, failure.detail, to: peer, at: moment)
  }

  /// Nil if nobody waits for the read any more; no cursor if the stack was unfollowed or followed anew meanwhile.
  private mutating func endRead(_ read: Read) -> (Errand, Cursor?)? {
    guard let reading = sessions[read.peer]?.reading, reading.number == read.number else { return nil }
    sessions[read.peer]!.reading = nil
    guard var cursor = sessions[read.peer]![reading.errand], cursor.read == read.number else {
      return (reading.errand, nil)
    }
    cursor.read = nil
    sessions[read.peer]![reading.errand] = cursor
    return (reading.errand, cursor)
  }

  private mutating func send(
    _ batch: ReadBatch, _ errand: Errand, _ cursor: inout Cursor, to peer: Peer, at moment: Moment
  ) {
    let stack = stacks[errand.slot]!.name
    var message = EventsMessage(
      stack: stacks[errand.slot]!.text, epoch: configuration.epoch, previousOffset: cursor.seen,
      firstOffset: batch.firstOffset, batch: batch.batch.bytes, authorStates: batch.authorStates)
    let bytes = encoded(&message)
    let (after, seen) = (cursor.position, cursor.seen)
    cursor.position = batch.firstOffset + batch.batch.count - 1
    cursor.seen = cursor.position
    sessions[peer]![errand] = cursor
    sessions[peer]!.credit -= bytes.count
    sessions[peer]!.wentOut += 1
    sessions[peer]!.lastSent = moment.milliseconds
    countSent(batches: 1, events: batch.batch.count, bytes: bytes.count)
    put(
      .send(
        to: [peer], bytes: bytes,
        kind: .events(stack, after: after, seen: seen, isRange: errand.isRange, number: lastNumber)))
  }

  private mutating func countSent(batches: Int, events: Int, bytes: Int) {
    counters.add(batches, to: .batchesSent)
    counters.add(events, to: .eventsSent)
    counters.add(bytes, to: .bytesSent)
  }

  /// The message's bytes; without the authors' states if it would be too large with them.
  private mutating func encoded(_ message: inout EventsMessage) -> [UInt8] {
    let bytes = Message.events(message).encoded()
    guard bytes.count > Message.maximumSize, !message.authorStates.isEmpty else { return bytes }
    counters.add(to: .statesLeftOut)
    message.authorStates = []
    return Message.events(message).encoded()
  }

  /// A batch is on stable storage: to the followers that are at its beginning it goes at once, the others read it.
  ///
  /// - Parameter bringer: who brought all of it. Another daemon is only told that it is past it.
  mutating func distribute(
    _ part: CommitPart, _ slot: Int, firstOffset: Int, broughtBy bringer: Peer?, at moment: Moment
  ) {
    let before = firstOffset - 1
    let last = before + part.batch.count
    var plain: [Peer] = []
    var stateful: [Peer] = []
    for peer in stacks[slot]!.followers {
      guard var cursor = sessions[peer]?.follows[slot] else { preconditionFailure("a follower has a cursor") }
      if cursor.vector == nil, cursor.position == before, cursor.seen == before, sessions[peer]!.isOpen,
        !cursor.isBehind
      {
        cursor.position = last
        cursor.seen = last
        sessions[peer]!.follows[slot] = cursor
        if peer == bringer, sessions[peer]!.isOtherDaemon {
          tellOfPassing(last, after: before, slot, to: peer)
        } else if cursor.wantsAuthorStates {
          stateful.append(peer)
        } else {
          plain.append(peer)
        }
      } else {
        if !cursor.isBehind { counters.add(to: .fellBehind) }
        wantRead(Errand(slot: slot), for: peer, at: moment)
      }
    }
    var message = EventsMessage(
      stack: stacks[slot]!.text, epoch: configuration.epoch, previousOffset: before, firstOffset: firstOffset,
      batch: part.batch.bytes)
    for (peers, states) in [(plain, []), (stateful, part.authorStates)] where !peers.isEmpty {
      message.authorStates = states
      let bytes = encoded(&message)
      for peer in peers {
        sessions[peer]!.credit -= bytes.count
        sessions[peer]!.wentOut += 1
        sessions[peer]!.lastSent = moment.milliseconds
      }
      countSent(batches: peers.count, events: peers.count * part.batch.count, bytes: peers.count * bytes.count)
      put(
        .send(
          to: peers, bytes: bytes,
          kind: .events(stacks[slot]!.name, after: before, seen: before, isRange: false, number: lastNumber))
      )
    }
    guard !configuration.feedEndpoint.isEmpty else { return }
    message.authorStates = part.authorStates
    put(.publish(message))
  }
}
