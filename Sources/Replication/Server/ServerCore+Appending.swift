import NavigationModel
import WireFormat

/// The admission of events, in the protocol's order: name, sizes, known action and format, sequence, the digest before,
/// the context, the clock. Nothing that needs the fold.
extension ServerCore {
  typealias Parked = Stack.Parked

  mutating func appendReceived(_ append: Append, _ bytes: Int, _ slot: Int, from peer: Peer, at moment: Moment) {
    guard !append.events.isEmpty else { return }
    let text = stacks[slot]!.text
    let first = Dot(append.device, append.firstSequence)
    guard !isStopping else {
      return reject(first, slot, .busy, "the daemon is stopping; try again", to: peer, at: moment)
    }
    if let asked = append.policy, let own = stacks[slot]!.policy, asked != own {
      let detail = Self.policyMismatch(text, own: own, asked: asked)
      return reject(first, slot, .policyMismatch, detail, to: peer, at: moment)
    }
    guard append.events.count <= configuration.limits.eventsAnAppend else {
      let detail = "\(append.events.count) events; at most \(configuration.limits.eventsAnAppend) go into one append"
      return reject(first, slot, .tooMany, detail, to: peer, at: moment)
    }
    guard hasRoom(for: bytes, of: peer) else {
      return reject(first, slot, .busy, "too much waits for the disk; try again", to: peer, at: moment)
    }
    guard (1...Dot.maximumSequence - append.events.count).contains(append.firstSequence) else {
      return reject(first, slot, .malformed, "a sequence number out of range", to: peer, at: moment)
    }
    let run = Parked(
      peer: peer, device: append.device, firstSequence: append.firstSequence,
      previous: sessions[peer]?.isLink == true ? nil : append.previous,
      events: append.events, bytes: bytes)
    guard stacks[slot]!.parked[append.device] == nil else {
      hold(bytes, of: peer)
      stacks[slot]!.parked[append.device]!.append(run)
      return
    }
    if !admit(run, policy: append.policy, slot, at: moment) {
      hold(bytes, of: peer)
      stacks[slot]!.parked[append.device] = FIFO(run)
      compareNext(of: append.device, slot)
    }
  }

  /// Takes in a run that begins after all that is held, or answers it.
  ///
  /// - Returns: false if some of the run's events are held by their numbers: they are compared first.
  mutating func admit(_ run: Parked, policy: Policy?, _ slot: Int, at moment: Moment) -> Bool {
    let device = run.device
    let held = stacks[slot]!.chains.vector[device]
    guard run.firstSequence > held else { return false }
    let devices = configuration.limits.devicesAStack
    if held == 0, run.firstSequence == 1, stacks[slot]!.chains.vector.elements.count >= devices {
      let detail = "\(devices) devices acted on \(stacks[slot]!.text), which is the most that a stack can have"
      reject(Dot(device, 1), slot, .tooMany, detail, to: run.peer, at: moment)
      return true
    }
    // What is stored already was taken in when it came.
    let latest = run.peer == Self.nobody ? .max : serverTime(moment) + Self.clockMilliseconds
    var rest = EventBatch.Run(device: device, firstSequence: run.firstSequence, events: run.events)
    var previous = run.previous
    var isFirst = true
    while !rest.events.isEmpty {
      let (part, size) = nextPart(of: rest)
      guard !part.events.isEmpty else {
        let detail = "an event of \(rest.events[0].count) bytes; at most \(configuration.limits.event) are allowed"
        reject(Dot(device, rest.firstSequence), slot, .tooLarge, detail, to: run.peer, at: moment)
        return true
      }
      let taken = take(part, size, previous, policy, slot, latest, isFirst: isFirst, from: run.peer)
      isFirst = false
      if taken.count == rest.events.count { break }
      rest.firstSequence += taken.count
      rest.events.removeFirst(taken.count)
      previous = nil
      if let event = taken.ahead {
        let detail =
          "the device's clock is ahead: the event is of \(event.timestamp.milliseconds) and the daemon's time is "
          + "\(latest - Self.clockMilliseconds), in milliseconds since 1970; set the device's clock right"
        // By its place in the chain, which in a copy isn't the event's own dot: who appended it knows it by that.
        reject(Dot(device, rest.firstSequence), slot, .clockAhead, detail, to: run.peer, at: moment)
        return true
      }
      if let fault = taken.fault {
        if case .fork = fault { forkFound(device, differingAt: rest.firstSequence - 1, slot, by: run.peer) }
        reject(Dot(device, rest.firstSequence), slot, fault, to: run.peer, at: moment)
        return true
      }
    }
    return true
  }

  /// As many events as fit into a batch, at least one; none if the first is too large.
  private func nextPart(of run: EventBatch.Run) -> (part: EventBatch.Run, size: Int) {
    var size = 0
    for (place, event) in run.events.enumerated() {
      let isTooLarge = event.count > configuration.limits.event
      if isTooLarge || (place > 0 && size + event.count > configuration.batchBytes) {
        let events = Array(run.events[..<place])
        return (EventBatch.Run(device: run.device, firstSequence: run.firstSequence, events: events), size)
      }
      size += event.count
    }
    return (run, size)
  }

  /// Takes events into the chains and into the group that goes to the log next, as far as they are admissible. A batch
  /// is closed before later events of its stack enter the chains, since its heads are taken from them.
  private mutating func take(
    _ run: EventBatch.Run, _ size: Int, _ previous: Digest?, _ policy: Policy?, _ slot: Int, _ latest: Int,
    isFirst: Bool, from peer: Peer
  ) -> StackChains.TakenRun {
    if group.bytes > 0, group.bytes + size > configuration.commitBytes { formGroup() }
    if let open = group.open[slot],
      open.bytes + size > configuration.batchBytes
        || open.weight + Group.weight(of: run.events.count, size) > Self.batchWeight
    {
      closeBatch(of: slot)
    }
    let taken = stacks[slot]!.chains.take(
      run.device, firstSequence: run.firstSequence, previous: previous, events: run.events, notAfter: latest,
      keepsUnknown: sessions[peer]?.device != run.device)
    guard taken.count > 0 else { return taken }
    if run.firstSequence == 1 { noteCopy(run.device, slot) }
    var run = run
    var size = size
    if taken.count < run.events.count {
      run.events.removeLast(run.events.count - taken.count)
      size = run.events.reduce(0) { $0 + $1.count }
    }
    if stacks[slot]!.policy == nil {
      stacks[slot]!.policy = policy ?? .merge
      stacks[slot]!.policySince = Self.firstTimestamp(of: run)
    }
    if group.open[slot] == nil { stacks[slot]!.batches += 1 }
    group.open[slot, default: Group.Open()].add(run, taken, size, isFirst: isFirst, from: peer)
    group.bytes += size
    if peer != Self.nobody { hold(size, of: peer) }
    newestTime = max(newestTime, taken.newestTime)
    return taken
  }

  /// Nothing more goes into the stack's open batch.
  private mutating func closeBatch(of slot: Int) {
    guard let open = group.open.removeValue(forKey: slot) else { return }
    group.parts.append(open.closed(slot, of: stacks[slot]!))
  }

  /// Nothing more goes into the group.
  private mutating func formGroup() {
    for slot in group.open.keys.sorted() { closeBatch(of: slot) }
    formed.append(group.parts)
    group = Group()
  }

  /// Starts the next commit if none is under way.
  mutating func startCommit() {
    guard committing == nil else { return }
    if formed.isEmpty, group.bytes > 0 { formGroup() }
    guard let parts = formed.popFirst() else { return }
    lastCommit += 1
    committing = (lastCommit, parts)
    put(.commit(Commit(number: lastCommit, parts: parts.map(\.commit))))
  }

  static let clockMilliseconds = 60_000
  /// What a batch may take in a message, beside the stack's name and the offsets.
  private static let batchWeight = Limits().message - 1024
}

// MARK: What comes of a commit

extension ServerCore {
  /// The commit is on stable storage.
  ///
  /// - Parameter firstOffsets: for each part the offset of its batch's first event.
  package mutating func appendsDurable(_ number: Int, firstOffsets: [Int], at moment: Moment) {
    guard let (_, parts) = endCommit(number) else { return }
    precondition(parts.count == firstOffsets.count, "the log gives an offset for each part")
    counters.add(to: .commits)
    // One answer for each peer, stack and device.
    var answers: [(peer: Peer, accepted: Accepted)] = []
    var places: [[UInt64]: Int] = [:]
    for (part, firstOffset) in zip(parts, firstOffsets) {
      let slot = part.slot
      if firstOffset != stacks[slot]!.head + 1 {
        // A failed commit before it was stored after all; followers see by the offsets that they lack it.
        let fields: [LogRecord.Field] = [.init("stack", stacks[slot]!.text), .init("offset", firstOffset)]
        put(.log(LogRecord(.warning, "the log has more of a stack than was reported", fields)))
      }
      stacks[slot]!.head = firstOffset + part.commit.batch.count - 1
      counters.add(part.commit.batch.count, to: .eventsAccepted)
      counters.add(part.commit.batch.bytes.count, to: .bytesCommitted)
      for (head, place) in zip(part.commit.heads, part.lastPlaces) {
        stacks[slot]!.stored[head.device] = Stack.Stored(
          sequence: head.sequence, digest: head.digest, offset: firstOffset + place)
      }
      for thanks in part.thanks {
        let accepted = Accepted(
          stack: stacks[slot]!.text, device: thanks.device, throughSequence: thanks.throughSequence,
          offset: firstOffset + thanks.place)
        let key = [thanks.peer.number, UInt64(slot), thanks.device.high, thanks.device.low]
        if let place = places[key] {
          answers[place].accepted = accepted
        } else {
          places[key] = answers.count
          answers.append((thanks.peer, accepted))
        }
      }
    }
    for answer in answers where sessions[answer.peer] != nil {
      reply(.accepted(answer.accepted), to: answer.peer, at: moment)
    }
    for (part, firstOffset) in zip(parts, firstOffsets) {
      let bringer = part.thanks.first?.peer
      let isOfOne = part.thanks.allSatisfy { $0.peer == bringer }
      distribute(part.commit, part.slot, firstOffset: firstOffset, broughtBy: isOfOne ? bringer : nil, at: moment)
      if firstOffset == 1 { tellOfNewStack(part.commit, at: moment) }
    }
    for slot in Set(parts.map(\.slot)).sorted() {
      for device in stacks[slot]!.parked.keys.sorted() { compareNext(of: device, slot) }
      settleForks(slot)
    }
  }

  /// Nothing of the commit is stored. All that was admitted for its stacks is rejected: what came later was built on it.
  package mutating func appendsFailed(_ number: Int, _ failure: StorageFailure, at moment: Moment) {
    guard let (_, parts) = endCommit(number) else { return }
    counters.add(to: .commitsFailed)
    put(
      .log(
        LogRecord(
          .error, "events could not be stored",
          [.init("events", parts.reduce(0) { $0 + $1.commit.batch.count }), .init("problem", failure.detail)])))
    let slots = Set(parts.map(\.slot))
    var lost = parts
    if group.bytes > 0 { formGroup() }
    for waiting in formed.removeAll() {
      let kept = waiting.filter { !slots.contains($0.slot) }
      for part in waiting where slots.contains(part.slot) {
        release(part)
        lost.append(part)
      }
      if !kept.isEmpty { formed.append(kept) }
    }
    // The first append of each device that a peer sent is told why; those behind it lack its events.
    var lostFrom: [[UInt64]: Int] = [:]
    func tell(_ peer: Peer, _ slot: Int, _ first: Dot, isRest: Bool = false) {
      let key = [peer.number, UInt64(slot), first.device.high, first.device.low]
      if let expected = lostFrom[key] {
        // The answer to an append is one.
        if isRest { return }
        let detail = ChainFault.gap(expected: expected).description
        reject(first, slot, .sequenceGap, detail, expected: expected, to: peer, at: moment)
      } else {
        lostFrom[key] = first.sequence
        reject(first, slot, .storage, failure.detail, to: peer, at: moment)
      }
    }
    for part in lost {
      for thanks in part.thanks {
        if let rest = thanks.rest { tell(thanks.peer, part.slot, Dot(thanks.device, rest), isRest: true) }
        for first in thanks.firsts { tell(thanks.peer, part.slot, Dot(thanks.device, first)) }
      }
    }
    for slot in slots.sorted() {
      for device in stacks[slot]!.parked.keys.sorted() {
        while let run = stacks[slot]!.parked[device]!.popFirst() {
          letGo(run.bytes, of: run.peer)
          tell(run.peer, slot, Dot(run.device, run.firstSequence))
        }
      }
      recalls = recalls.filter { $0.value.slot != slot }
      stacks[slot]!.parked = [:]
      stacks[slot]!.forgetForks()
      stacks[slot]!.isLoaded = false
      put(.load(stacks[slot]!.name))
    }
  }

  private mutating func endCommit(_ number: Int) -> (number: Int, parts: [Group.Part])? {
    guard let ended = committing, ended.number == number else { return nil }
    committing = nil
    for part in ended.parts { release(part) }
    return ended
  }

  private mutating func release(_ part: Group.Part) {
    for (peer, bytes) in part.bytes { letGo(bytes, of: peer) }
    stacks[part.slot]!.batches -= 1
  }
}

// MARK: Rejections

extension ServerCore {
  private mutating func reject(_ dot: Dot, _ slot: Int, _ fault: ChainFault, to peer: Peer, at moment: Moment) {
    let detail = fault.description
    switch fault {
    case .gap(let expected):
      reject(dot, slot, .sequenceGap, detail, expected: expected, to: peer, at: moment)
    case .missingContext(let lacking):
      reject(dot, slot, .missingContext, detail, missing: lacking, to: peer, at: moment)
    case .fork:
      reject(dot, slot, .fork, detail, to: peer, at: moment)
    case .malformed(let error):
      let code: RefusalCode =
        switch error.code {
        case .unsupported: .unsupported
        case .tooLarge: .tooLarge
        case .truncated, .badLength, .badNumber, .badText, .missingField, .notCanonical, .trailing, .notJSON:
          .malformed
        }
      reject(dot, slot, code, detail, to: peer, at: moment)
    case .duplicate, .unwritable:
      preconditionFailure("a run that begins after what is held has no duplicates, and none is written here")
    }
  }

  mutating func reject(
    _ dot: Dot, _ slot: Int, _ code: RefusalCode, _ detail: String, expected: Int = 0,
    missing: VersionVector = VersionVector(), to peer: Peer, at moment: Moment
  ) {
    counters.add(to: .eventsRejected)
    switch code {
    case .fork: counters.add(to: .rejectedFork)
    case .sequenceGap: counters.add(to: .rejectedSequenceGap)
    case .missingContext: counters.add(to: .rejectedMissingContext)
    case .clockAhead: counters.add(to: .rejectedClockAhead)
    case .storage: counters.add(to: .rejectedStorage)
    case .busy: counters.add(to: .rejectedBusy)
    case _: break
    }
    put(
      .log(
        LogRecord(
          code == .fork ? .warning : .info, "event rejected",
          [
            .init("stack", stacks[slot]!.text), .init("dot", dot), .init("code", code.rawValue),
            .init("detail", detail),
          ])))
    guard sessions[peer] != nil else { return }
    reply(
      .rejected(
        Rejected(
          stack: stacks[slot]!.text, dot: dot, code: code, detail: detail, expectedSequence: expected,
          missing: missing, serverTime: serverTime(moment))), to: peer, at: moment)
  }
}
