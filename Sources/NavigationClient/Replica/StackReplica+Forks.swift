package import EventLog
package import NavigationModel
import Replication
package import WireFormat

/// Where an event stands in the order in which a stack with several histories is folded: by the sum of what its author
/// held, then by dot.
struct FoldPlace: Hashable, Comparable {
  var total: Int
  /// Nil is before all.
  var dot: Dot?

  init(total: Int, dot: Dot?) {
    self.total = total
    self.dot = dot
  }

  init(_ event: Event) {
    total = event.context.total + event.dot.sequence
    dot = event.dot
  }

  static func < (left: FoldPlace, right: FoldPlace) -> Bool {
    if left.total != right.total { return left.total < right.total }
    guard let later = right.dot else { return false }
    return left.dot.map { $0 < later } ?? true
  }
}

// MARK: Folding

/// A device id may have several histories, all of which are held (see ``WireFormat/Fork``). Which one is folded may
/// change with what comes, so the stack is folded anew then, in an order that depends on nothing but what is held. An
/// event of a newer format is held, and neither it nor what rests on it is folded.
extension StackReplica {
  /// Takes a chain's next entry into the chains.
  func receive(_ dot: Dot, _ bytes: [UInt8], in range: Range<Int>) throws(ChainFault) -> Event? {
    guard claims != nil else { return try chains.receive(dot.device, dot.sequence, bytes, in: range) }
    // Let go of, so that the claims' own grow in place.
    chains = StackChains(stack: name)
    defer { chains = claims!.chains }
    return try claims!.receive(dot.device, dot.sequence, bytes, in: range)
  }

  /// Takes an event of this replica into the chains.
  func append(_ event: Event) throws(ChainFault) -> [UInt8] {
    // Kept only where it is needed: a chain that nobody else holds grows in place.
    guard signing != nil else { return try takeIn(event) }
    let before = chains.state(of: event.dot.device)
    let bytes = try takeIn(event)
    unsealed = Unsealed(event: event, before: before)
    return bytes
  }

  private func takeIn(_ event: Event) throws(ChainFault) -> [UInt8] {
    guard claims != nil else { return try chains.append(event) }
    chains = StackChains(stack: name)
    defer { chains = claims!.chains }
    return try claims!.append(event)
  }

  /// What a new event's author holds: what it sees.
  func context(for device: DeviceID) -> VersionVector {
    guard claims != nil else { return chains.context(for: device) }
    var context = fold.vector
    context[device] = 0
    return context.joined(with: chains.authorState(of: device).context)
  }

  /// Whether an event that was taken in can be folded after what is folded.
  func goesOn(_ event: Event, _ chain: DeviceID) -> Bool {
    guard !needsRefold else { return false }
    guard claims != nil else { return true }
    let place = FoldPlace(event)
    guard !awaited.contains(event.dot), newestPlace < place, chain == chains.main(of: event.dot.device),
      fold.vector.covers(event.context), fold.vector[event.dot.device] == event.dot.sequence - 1
    else { return false }
    var held = event.context
    held[event.dot.device] = event.dot.sequence - 1
    guard fold.isClosed(held) else { return false }
    newestPlace = place
    return true
  }

  /// Folds anew what can't be folded as it came, from the beginning.
  ///
  /// - Parameter log: nil for an observer, which holds what it needs only after ``beginAgain()``.
  package func refold(from log: (any EventLogReader)?) throws(LogError) {
    guard needsRefold else { return }
    if claims == nil {
      guard let log else {
        needsHistory = true
        return
      }
      claims = try readClaims(log)
      chains = claims!.chains
    }
    let admission = claims!.admission(of: vetting?.passed)
    fold = StackFold(policy: fold.policy)
    for event in admission.events { fold.apply(event) }
    forkDots = admission.forks
    awaited = Set(admission.waiting.flatMap { $0.event.context.elements.map { Dot($0.device, $0.sequence) } })
    newestPlace = admission.events.last.map(FoldPlace.init) ?? FoldPlace(total: 0, dot: nil)
    needsRefold = false
  }

  private func readClaims(_ log: any EventLogReader) throws(LogError) -> StackClaims {
    var claims = StackClaims(stack: name)
    var offset = 0
    while offset < localHead {
      let batches = try log.read(name, after: offset, maximumBytes: 1 << 20)
      guard let last = batches.last else { break }
      for stored in batches {
        for record in stored.batch.records { try take(record.dot, stored.batch.bytes, record.range, into: &claims) }
      }
      offset = last.firstOffset + last.batch.count - 1
    }
    for entry in pending { try take(entry.dot, entry.bytes, 0..<entry.bytes.count, into: &claims) }
    return claims
  }

  private func take(
    _ dot: Dot, _ bytes: [UInt8], _ range: Range<Int>, into claims: inout StackClaims
  ) throws(LogError) {
    do { try claims.receive(dot.device, dot.sequence, bytes, in: range) } catch {
      throw LogError(.damaged, about: name.description, error.description)
    }
  }

  /// An observer's stack has no events from now on, and holds all that come.
  package func beginAgain() {
    forget()
    claims = StackClaims(stack: name)
    agreed = nil
    disputed = []
  }

  /// Whether events of a newer format are held, so that what is shown isn't all.
  package var needsNewerVersion: Bool { claims != nil && chains.hasUnreadable }

  /// Takes in what is added to copies.
  func takeOver(_ runs: [EventBatch.Run]) throws(ChainFault) {
    for run in runs {
      for (place, bytes) in run.events.enumerated() {
        try takeKept(Dot(run.device, run.firstSequence + place), bytes)
      }
    }
  }

  /// Copies the histories that are held of forked chains and that no copy has.
  func settle(_ log: any EventLogReader) throws(LogError) {
    var isNews = true
    while isNews {
      isNews = false
      for chain in chains.unsettled.sorted() {
        var entries = try log.events(of: chain, in: name, sequences: 1...max(1, chains.vector[chain]))
        for entry in pending where entry.dot.device == chain && entry.dot.sequence == entries.count + 1 {
          entries.append(entry.bytes)
        }
        guard let runs = chains.additions(for: chain, entries: entries) else { continue }
        if runs.isEmpty {
          claims?.settled(chain)
          chains.settled(chain)
        }
        do throws(ChainFault) {
          try takeOver(runs)
          if !runs.isEmpty { isNews = true }
        } catch { throw LogError(.damaged, about: name.description, error.description) }
      }
      try refold(from: log)
    }
  }
}

// MARK: In a session

extension StackReplica {
  /// What a daemon's heads say of ours.
  package struct Compared {
    /// Own chains that differ, or of which the daemon has more than we: we are behind our own history.
    package var forked: [DeviceID] = []
    /// Chains of others that differ.
    package var disputed: [DeviceID] = []
  }

  /// Compares a daemon's heads with ours. The daemon compared those of ours that it has more of, and left out what
  /// differs; what it has less of is compared here.
  package func compare(
    _ heads: [DeviceHead], own: Set<DeviceID>, log: (any EventLogReader)?
  ) throws(LogError) -> Compared {
    var result = Compared()
    var same = VersionVector()
    for head in heads where !chains.retired.contains(head.device) {
      let held = chains.vector[head.device]
      if head.sequence > held {
        if own.contains(head.device) { result.forked.append(head.device) }
        if held > 0 { same[head.device] = held }
      } else if let digest = try digest(of: head.device, at: head.sequence, log: log) {
        if digest == head.digest {
          if head.sequence > 0 { same[head.device] = head.sequence }
        } else if own.contains(head.device) {
          result.forked.append(head.device)
        } else {
          result.disputed.append(head.device)
        }
      }
    }
    agreed = same
    disputed = Set(result.disputed)
    passedOver = false
    hasPassedOver = false
    return result
  }

  /// Whether something that is held is not what a daemon tells that it has.
  func isElsewhere(_ heads: [DeviceHead]) -> Bool {
    let told = Dictionary(heads.map { ($0.device, $0.sequence) }) { $1 }
    return !disputed.isEmpty || liveVector.elements.contains { told[$0.device] ?? 0 < $0.sequence }
  }

  /// All that is held but for retired chains.
  var liveVector: VersionVector {
    var vector = chains.vector
    for chain in chains.retired { vector[chain] = 0 }
    return vector
  }

  /// The daemon has our chain up to there.
  package func agree(_ chain: DeviceID, through sequence: Int) {
    if let known = agreed?[chain], known < sequence { agreed?[chain] = sequence }
  }

  /// Whether something passed over is to be asked for, once.
  package func takePassedOver() -> Bool {
    defer { passedOver = false }
    return passedOver
  }

  func isNew(_ record: EventBatch.Record, of batch: EventBatch, own: DeviceID?, _ log: (any EventLogReader)?) -> Bool {
    let chain = record.dot.device
    guard !chains.retired.contains(chain), !disputed.contains(chain) else { return false }
    let held = chains.vector[chain]
    guard let known = agreed?[chain], chain != own, known < held else { return record.dot.sequence > held }
    // Ours goes on from where both are known to be the same. Only a comparison shows whether the daemon's does so, too.
    guard record.dot.sequence <= held else {
      passedOver = true
      return false
    }
    if record.dot.sequence == known + 1, let log {
      if entry(record.dot, log) == Array(batch.bytes[record.range]) {
        agreed?[chain] = record.dot.sequence
      } else {
        disputed.insert(chain)
        passedOver = true
      }
    }
    return false
  }

  private func entry(_ dot: Dot, _ log: any EventLogReader) -> [UInt8]? {
    if let entry = pending.first(where: { $0.dot == dot }) { return entry.bytes }
    return try? log.events(of: dot.device, in: name, sequences: dot.sequence...dot.sequence).first
  }

  /// Whether an event can't be taken in because of what was passed over, or comes in copies later: a chain of ours that
  /// isn't known to be the daemon's as far as we hold it may be another history, which the daemon doesn't say.
  func mayLack(_ fault: ChainFault) -> Bool {
    let isUncertain = !disputed.isEmpty || hasPassedOver || isOwnElsewhere || chains.isForked
    return switch fault {
    case .gap: isUncertain
    case .missingContext(let lacking):
      isUncertain
        || lacking.elements.contains { wanted in
          agreed.map { $0[wanted.device] < chains.vector[wanted.device] } ?? false
        }
    case .duplicate, .fork, .malformed, .unwritable: false
    }
  }

  /// What copies have that somebody lacks.
  func copies(
    lackedBy vector: VersionVector, _ maximumEvents: Int, _ maximumBytes: Int, _ log: any EventLogReader
  ) throws(LogError) -> [EventRun] {
    var runs: [EventRun] = []
    for chain in chains.copies(lackedBy: vector) {
      let first = vector[chain] + 1
      let events = try log.events(of: chain, in: name, sequences: first...max(first, chains.vector[chain]))
      for part in EventRun.parts(of: events, maximumEvents, maximumBytes) {
        let dot = Dot(chain, first + part.lowerBound)
        runs.append(
          EventRun(
            device: chain, firstSequence: dot.sequence, previous: try digestBefore(dot, log: log),
            events: Array(events[part])))
      }
    }
    return runs
  }
}
