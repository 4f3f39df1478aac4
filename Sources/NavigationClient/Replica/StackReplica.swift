package import EventLog
package import NavigationModel
import Replication
package import WireFormat

/// One stack as one replica holds it: chains that admit events, the fold that shows them, and what is not yet on the
/// disk. Everything but the sockets: a device's engine and commands that work on a store without a daemon share it.
///
/// Belongs to one thread. What `act` and `receive` took in shows at once in here, but the owner tells nobody before
/// ``Replica/commit()`` returned.
package final class StackReplica {
  package let name: StackName
  /// Whom to trust, and what to sign with.
  let rules: StackRules
  /// What own events are signed with; nil if they aren't.
  let signing: (key: SigningKey, seal: EventSeal)?
  /// What the log or the daemon says it is; nil as long as nobody said anything, and then it shows as `merge`.
  package private(set) var policy: Policy?
  package internal(set) var chains: StackChains
  package internal(set) var fold: StackFold
  /// The newest offset of the local log.
  package private(set) var localHead = 0
  /// Whether every event that is taken in is noted in `applied`.
  package var notesEvents = false
  package private(set) var applied: [Applied] = []
  /// The event that was taken in last, nil if none was since the log was loaded.
  package internal(set) var last: (event: Event, isVoid: Bool, isOwn: Bool)?
  /// What was taken in since the last commit, in order.
  var pending: [(dot: Dot, bytes: [UInt8])] = []
  /// That as it is stored, when it was asked for.
  private var pendingBatch: EventBatch?
  private var pendingTime = 0
  package internal(set) var pendingBytes = 0
  /// An own event is among what was taken in since the last commit.
  package private(set) var hasOwnPending = false
  /// A received one is.
  package private(set) var hasReceivedPending = false
  /// Digests before the newest own events: what the next appends need.
  var digestsBefore: [Dot: Digest] = [:]
  /// What the last commit stored: it is sent next, and needn't be read for that.
  private(set) var newest: (firstOffset: Int, batch: EventBatch)?

  // Where events can't be folded as they come: a device id has several histories, or an event can't be read.
  /// All of it, nil as long as there is no need.
  var claims: StackClaims?
  /// What was taken in since isn't folded.
  var needsRefold = false
  /// It can't be folded, for want of a log and of what came before; see ``beginAgain()``.
  package internal(set) var needsHistory = false
  /// Events that have rivals of the same dot.
  var forkDots: [Dot] = []
  /// What events that are held and can't be folded yet rest on.
  var awaited: Set<Dot> = []
  /// The place of the newest folded event in the order of folding.
  var newestPlace = FoldPlace(total: 0, dot: nil)

  // Where events are signed or checked.
  /// What came and who vouches for it; nil if nobody has to.
  var vetting: Vetting?
  var unsealed: Unsealed?
  /// The key and grant that stand in the own chain already.
  var carried: EventSeal?

  // In a session.
  /// Up to where each chain is the same here and at the daemon; nil: all is, since it all came from there.
  var agreed: VersionVector?
  /// Chains of which the daemon has another history.
  package internal(set) var disputed: Set<DeviceID> = []
  /// Something was passed over: the daemon is to be asked anew.
  var passedOver = false { didSet { if passedOver { hasPassedOver = true } } }
  /// Something was passed over since the heads were compared: what rests on it is passed over, too.
  var hasPassedOver = false
  /// Another goes on with this replica's own history, under the same device id: what it did is not taken for our own.
  private(set) var isOwnElsewhere = false

  /// An event that was taken in, and what is shown after it.
  package struct Applied {
    package var event: Event
    package var isVoid: Bool
    package var isOwn: Bool
    package var entries: [Entry]
  }

  /// What an intent came to.
  package struct Acted {
    package var dot: Dot?
    package var action: Action?
    package var reason: Outcome.Reason?
  }

  /// No events.
  package init(_ name: StackName, policy: Policy?, rules: StackRules = StackRules()) {
    self.name = name
    self.policy = policy
    self.rules = rules
    signing = rules.signing
    chains = StackChains(stack: name)
    fold = StackFold(policy: policy ?? .merge)
    beginVetting()
  }

  /// All that a log holds of the stack. About a microsecond an event.
  package convenience init(
    _ name: StackName, policy: Policy?, from log: any EventLogReader, rules: StackRules = StackRules()
  ) throws(ClientError) {
    self.init(name, policy: policy, rules: rules)
    try load(from: log)
  }

  /// Begins again from what a log holds; what wasn't committed is gone. After a failure it has no events.
  package func load(from log: any EventLogReader) throws(ClientError) {
    forget()
    do throws(ClientError) { try loadAll(from: log) } catch {
      forget()
      throw error
    }
  }

  private func loadAll(from log: any EventLogReader) throws(ClientError) {
    let info: StackInfo?
    do { info = try log.info(of: name) } catch { throw ClientError(error) }
    guard let own = try Self.adopted(name, in: log) ?? info?.policy else { return }
    policy = own
    fold = StackFold(policy: own)
    guard let info else { return }
    while localHead < info.head {
      let batches: [StoredBatch]
      do { batches = try log.read(name, after: localHead, maximumBytes: 1 << 20) } catch { throw ClientError(error) }
      guard let last = batches.last else { break }
      for stored in batches {
        do throws(ChainFault) {
          for record in stored.batch.records {
            let event = try chains.receive(
              record.dot.device, record.dot.sequence, stored.batch.bytes, in: record.range)
            if let event { noteCarried(event) }
            if let event, !needsRefold { fold.apply(event) } else { needsRefold = true }
          }
          vet(stored.batch)
        } catch { throw ClientError(error, about: name) }
      }
      localHead = last.firstOffset + last.batch.count - 1
    }
    if holdsUnvouched { needsRefold = true }
    do throws(LogError) { try refold(from: log) } catch { throw ClientError(error) }
  }

  /// The policy is known now. A stack that has no events yet takes it over; another than its own is the caller's fault.
  package func learn(_ policy: Policy) {
    guard self.policy != policy else { return }
    precondition(fold.count == 0, "the policy of \(name) is \(fold.policy), and events were folded by it")
    self.policy = policy
    fold = StackFold(policy: policy)
  }

  /// The policy is another one than the log was begun with: what is held is folded anew, after it is noted in the log.
  func adopt(_ policy: Policy, log: any EventLog) throws(ClientError) {
    do { try log.setFact("policy/\(name)", Array(policy.description.utf8)) } catch { throw ClientError(error) }
    try load(from: log)
  }

  private static func adopted(_ name: StackName, in log: any EventLogReader) throws(ClientError) -> Policy? {
    do { return try log.fact("policy/\(name)").flatMap { Policy(String(decoding: $0, as: UTF8.self)) } } catch {
      throw ClientError(error)
    }
  }

  /// Has no events from now on.
  func forget() {
    chains = StackChains(stack: name)
    fold = StackFold(policy: policy ?? .merge)
    localHead = 0
    pending = []
    pendingTime = 0
    pendingBytes = 0
    hasOwnPending = false
    hasReceivedPending = false
    last = nil
    applied = []
    digestsBefore = [:]
    newest = nil
    pendingBatch = nil
    claims = nil
    needsRefold = false
    awaited = []
    hasPassedOver = false
    needsHistory = false
    forkDots = []
    newestPlace = FoldPlace(total: 0, dot: nil)
    unsealed = nil
    carried = nil
    beginVetting()
  }

  /// The shown entries, bottom to top.
  package func entries() -> [Entry] { fold.entries() }

  /// What the fold had to decide, in all of history.
  package func conflicts() -> [Conflict] {
    forkDots.isEmpty ? fold.conflicts() : (fold.conflicts() + forkDots.map(Conflict.fork)).sorted()
  }

  // MARK: Acting

  /// The most entries that a device may see after acting.
  package static let maximumEntries = 4096

  /// Makes an intent an event, if anything would change.
  ///
  /// - Parameter wall: the device's clock, in milliseconds since 1970; the stamp is never behind what the replica saw.
  package func act(_ intent: Intent, by device: DeviceID, at wall: Int) throws(ClientError) -> Acted {
    let entries = fold.entries()
    guard let action = fold.action(for: intent) else {
      return Acted(dot: nil, action: nil, reason: Self.reason(intent, isAtRoot: entries.isEmpty))
    }
    let count = entries.count - removed(by: action, from: entries.count) + action.values.count
    guard count <= Self.maximumEntries || action.values.isEmpty else {
      throw ClientError(
        .tooLarge, about: name.description,
        "the stack would show \(count) entries; at most \(Self.maximumEntries) are allowed: close some first")
    }
    let event = Event(
      dot: Dot(device, chains.vector[device] + 1), context: context(for: device),
      timestamp: fold.newestTimestamp.next(at: wall), action: action)
    if let objection = rules.objection(at: event.timestamp, in: name.space) {
      throw ClientError(.notAuthorised, about: name.description, objection)
    }
    let before = chains.digest(of: device)
    let bytes: [UInt8]
    do { bytes = try append(event) } catch { throw ClientError(error, about: name) }
    digestsBefore[event.dot] = before
    digestsBefore[Dot(device, event.dot.sequence - 128)] = nil
    if policy == nil { policy = .merge }
    take(event, event.dot, bytes, isOwn: true)
    return Acted(dot: event.dot, action: action, reason: nil)
  }

  private func removed(by action: Action, from count: Int) -> Int {
    switch action {
    case .push: 0
    case .pop(let entries): entries.count
    case .popToRoot: count
    case .set(let keep, _): count - keep.count
    case .replace: 1
    }
  }

  private static func reason(_ intent: Intent, isAtRoot: Bool) -> Outcome.Reason {
    switch intent {
    case .pop(let count): count > 0 && isAtRoot ? .atRoot : .noChange
    case .popToRoot: .atRoot
    case .close(let entries): entries.isEmpty ? .noChange : .alreadyClosed
    case .push, .set, .replace: .noChange
    }
  }

  // MARK: Receiving

  /// Takes in those events of a batch that it lacks. What is of a chain that the daemon may have another history of is
  /// passed over.
  ///
  /// - Parameters:
  ///   - own: the device's id: its own events come back to it.
  ///   - takesOwn: whether own events that it lacks are taken, too.
  ///   - log: the local log, to compare what is held with what came.
  /// - Throws: at the first that can't be; those before it are in.
  package func receive(
    _ batch: EventBatch, own: DeviceID? = nil, takesOwn: Bool = false, log: (any EventLogReader)? = nil
  ) throws(ChainFault) {
    var elsewhere: [(dot: Dot, bytes: [UInt8])] = []
    defer { if !elsewhere.isEmpty, isVouched(elsewhere) { isOwnElsewhere = true } }
    for record in batch.records where isNew(record, of: batch, own: own, log) {
      guard takesOwn || record.dot.device != own else {
        elsewhere.append((record.dot, Array(batch.bytes[record.range])))
        continue
      }
      if vetting != nil {
        do throws(ChainFault) {
          try vetting!.offer(record.dot.device, record.dot.sequence, Array(batch.bytes[record.range]))
        } catch {
          guard mayLack(error) else { throw error }
          passedOver = true
        }
        continue
      }
      do throws(ChainFault) {
        take(try receive(record.dot, batch.bytes, in: record.range), record.dot, batch, record.range)
      } catch {
        guard mayLack(error) else { throw error }
        passedOver = true
        continue
      }
      agreed?[record.dot.device] = record.dot.sequence
    }
    try takeVetted()
  }

  private func take(_ event: Event?, _ dot: Dot, _ batch: EventBatch, _ range: Range<Int>) {
    take(event, dot, Array(batch.bytes[range]), isOwn: false)
  }

  /// Takes in an event of another's that a daemon lacks, from another store of this device; one that is held is nothing.
  package func takeOver(_ dot: Dot, _ bytes: [UInt8]) throws(ChainFault) {
    guard !chains.vector.contains(dot), !chains.retired.contains(dot.device) else { return }
    try takeKept(dot, bytes)
  }

  /// Takes in an event as it is: one that is acted again.
  func takeOver(_ event: Event) throws(ChainFault) { take(event, event.dot, try append(event), isOwn: true) }

  /// - Parameter event: nil for what is none, or can't be read.
  func take(_ event: Event?, _ dot: Dot, _ bytes: [UInt8], isOwn: Bool) {
    if isOwn { hasOwnPending = true } else { hasReceivedPending = true }
    pending.append((dot, bytes))
    pendingBytes += bytes.count
    pendingTime = max(pendingTime, event?.timestamp.milliseconds ?? 0)
    guard let event, goesOn(event, dot.device) else {
      needsRefold = true
      return
    }
    let isVoid = fold.apply(event)
    last = (event, isVoid, isOwn)
    if notesEvents {
      applied.append(Applied(event: event, isVoid: isVoid, isOwn: isOwn, entries: fold.entries()))
    }
  }

  package func takeApplied() -> [Applied] {
    defer { applied = [] }
    return applied
  }

  // MARK: Committing

  package var hasPending: Bool { !pending.isEmpty }

  /// What is to be committed, nil if nothing.
  package func append() -> LogAppend? {
    guard !pending.isEmpty else { return nil }
    seal()
    noteStored()
    let batch = EventBatch(pending)
    pendingBatch = batch
    let heads = batch.authors.map {
      StoredHead(device: $0.device, sequence: $0.lastSequence, digest: chains.digest(of: $0.device))
    }
    return LogAppend(stack: name, policy: policy ?? .merge, batch: batch, heads: heads, newestTime: pendingTime)
  }

  /// It is on stable storage, from that offset on; nil if there is no log.
  package func committed(firstOffset: Int?) {
    newest = firstOffset.flatMap { first in pendingBatch.map { (first, $0) } }
    pendingBatch = nil
    localHead = firstOffset.map { $0 + pending.count - 1 } ?? localHead + pending.count
    pending = []
    pendingBytes = 0
    pendingTime = 0
    hasOwnPending = false
    hasReceivedPending = false
  }
}
