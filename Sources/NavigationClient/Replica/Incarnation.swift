import EventLog
import NavigationModel
import Replication
import WireFormat

/// A new life of a device's store, after a peer was found to hold another history under its id (a backup was restored, or
/// the folder was copied to another machine), or when what it did with a clock that was far ahead is to be stamped anew.
///
/// The log is append-only, so the stacks whose history differs get a new log: a new store is made beside the old one,
/// with everything else in it, and takes its place; the old one is kept whole inside of it. The stacks are then followed
/// from their beginning, and when all of them is there the own events that the peer lacks are acted again under the new
/// id (see `Redo`). Each step can be cut off anywhere and is taken up again.
enum Incarnation {
  private static let redoPrefix = "redo/"
  private static let formerPrefix = "former/"

  /// The ids that the device had before.
  static func formerIDs(_ log: any EventLogReader) throws(LogError) -> Set<DeviceID> {
    Set(try log.facts(prefixed: formerPrefix).compactMap { DeviceID($0.key.dropFirst(formerPrefix.count)) })
  }

  /// The stack's own events that are to be acted again, nil if there are none.
  static func redo(of stack: StackName, _ log: any EventLogReader) throws(LogError) -> Redo? {
    guard let bytes = try log.fact(redoPrefix + stack.description) else { return nil }
    // An id stood behind the name once.
    let kept = String(decoding: bytes, as: UTF8.self).split(separator: " ").first
    return kept.map { Redo(stack: stack, kept: String($0)) }
  }

  static func endRedo(of stack: StackName, _ log: any EventLog) throws(LogError) {
    try log.setFact(redoPrefix + stack.description, nil)
  }

  /// Makes the new store beside the old one, which stays as it is. `swap` puts it in its place.
  ///
  /// - Parameters:
  ///   - stacks: those whose history differs; they are empty in the new store.
  ///   - former: the id under which the history differs, the present one or an earlier one.
  /// - Returns: the name under which the old store is to be kept.
  static func prepare(
    _ old: any EventLog, in store: any DeviceStore, without stacks: Set<StackName>, former: DeviceID
  ) throws(LogError) -> String {
    let kept = store.keptName(former: former)
    let new = try store.makeNext()
    for info in try old.stacks(in: nil) where !stacks.contains(info.stack) { try copy(info, from: old, to: new) }
    let id = try store.newDeviceID()
    try new.setFact("device", Array(id.description.utf8))
    for fact in try old.facts(prefixed: formerPrefix) { try new.setFact(fact.key, fact.value) }
    for id in [former, try Device.deviceID(of: old)] { try new.setFact(formerPrefix + id.description, []) }
    for fact in try old.facts(prefixed: "policy/") { try new.setFact(fact.key, fact.value) }
    for fact in try old.facts(prefixed: redoPrefix) { try new.setFact(fact.key, fact.value) }
    for stack in stacks {
      if let policy = try old.info(of: stack)?.policy, try new.fact("policy/\(stack)") == nil {
        try new.setFact("policy/\(stack)", Array(policy.description.utf8))
      }
      try new.setFact(redoPrefix + stack.description, Array(kept.utf8))
    }
    try new.close()
    return kept
  }

  /// Closes the old store and puts the new one in its place. After a failure neither is open.
  static func swap(
    _ old: any EventLog, in store: any DeviceStore, keeping kept: String
  ) throws(LogError) -> any EventLog {
    try old.close()
    return try store.takeNext(keeping: kept)
  }

  private static func copy(
    _ info: StackInfo, from old: any EventLogReader, to new: any EventLog
  ) throws(LogError) {
    var chains = StackChains(stack: info.stack)
    var offset = 0
    while offset < info.head {
      let batches = try old.read(info.stack, after: offset, maximumBytes: 1 << 20)
      guard let last = batches.last else { break }
      var appends: [LogAppend] = []
      for stored in batches {
        var newest = 0
        for record in stored.batch.records {
          do throws(ChainFault) {
            let event = try chains.receive(
              record.dot.device, record.dot.sequence, stored.batch.bytes, in: record.range)
            newest = max(newest, event?.timestamp.milliseconds ?? 0)
          } catch { throw LogError(.damaged, about: info.stack.description, error.description) }
        }
        let heads = stored.batch.authors.map {
          StoredHead(device: $0.device, sequence: $0.lastSequence, digest: chains.digest(of: $0.device))
        }
        appends.append(
          LogAppend(stack: info.stack, policy: info.policy, batch: stored.batch, heads: heads, newestTime: newest))
      }
      _ = try new.append(appends)
      offset = last.firstOffset + last.batch.count - 1
    }
  }
}

/// What a replaced store has of a stack and nobody else: to be taken over by the new incarnation.
struct Redo: Hashable, Sendable {
  var stack: StackName
  /// The name under which the replaced store is kept.
  var kept: String
  /// The most bytes that are read at once.
  private static let page = 1 << 20

  /// Takes over, into a replica that holds all that the daemon has: the events that it only lacks, and the own events of
  /// every former id after the last that both histories share, in order and under the new id: the same action, values and
  /// timestamp, own entries under their new names, the old ids' numbers in the context capped at what is shared. A history
  /// of another device that the daemon has another one of becomes a copy (see ``WireFormat/Fork``), and so does a former
  /// id's if what another did rests on it.
  ///
  /// - Parameter former: the ids that the device had.
  /// - Parameter now: the daemon's time, in milliseconds since 1970. What is stamped too far ahead of it to be taken is
  ///   stamped anew; no daemon can have had it before, for it was further ahead then.
  func apply(
    to replica: StackReplica, in store: any DeviceStore, log: any EventLog, as device: DeviceID, former: Set<DeviceID>,
    at now: Int
  ) throws(ClientError) {
    // It was done, and only noting it was cut off.
    if replica.chains.vector[device] > 0 { return }
    do throws(LogError) {
      let old = try store.openKept(kept)
      var shared: [DeviceID: Int] = [:]
      for id in former { shared[id] = try sharedSequence(of: id, old, log, replica) }
      // How much of each device an own event may say to have seen: what is the same in the new history, and rests on such.
      var limits = shared
      for head in try old.heads(of: stack) where shared[head.device] == nil {
        limits[head.device] = try takeCopy(of: head.device, from: old, log, to: replica)
      }
      let seen = try seenByOthers(old, former, replica)
      var names: [Dot: Dot] = [:]
      var context = VersionVector()
      var isLate = false
      try forEachEvent(of: old) { (dot, bytes, event) throws(LogError) in
        let id = dot.device
        guard let common = shared[id], let event else {
          try takeOver(dot, bytes, from: old, log, to: replica)
          // By the event's own dot, which in a copy isn't its place.
          if let event, limits[event.dot.device] == nil,
            limits.contains(where: { event.context[$0] > $1 })
          {
            limits[event.dot.device] = event.dot.sequence - 1
          }
          return
        }
        // What goes on from where the daemon's history ends is no other one: it stays as it is, for others may rest on it.
        let goesOn =
          dot.sequence == common + 1 && replica.chains.vector[id] == common && !replica.chains.retired.contains(id)
        // Others' events can't be stamped anew: what they rest on waits with them for the daemon's clock.
        let isSeen = dot.sequence <= seen[id]
        isLate = isLate || (!isSeen && Self.isAhead(event.timestamp, of: now))
        if goesOn, isSeen || !isLate, (try? replica.takeOver(dot, bytes)) != nil {
          shared[id] = dot.sequence
          limits[id] = dot.sequence
          // Who has seen it has seen what it rests on, whatever that is in the new history.
          for held in event.context.elements where limits[held.device].map({ $0 < held.sequence }) == true {
            limits[held.device] = held.sequence
          }
        } else if dot.sequence > common {
          context.join(capped(event, limits, replica))
          let again = Event(
            dot: Dot(device, replica.chains.vector[device] + 1), context: context,
            timestamp: isLate ? replica.fold.newestTimestamp.next(at: now) : event.timestamp,
            action: renamed(event.action, names))
          names[dot] = again.dot
          do throws(ChainFault) { try replica.takeOver(again) } catch {
            throw LogError(.damaged, about: kept, "\(dot) can't be acted again: \(error)")
          }
        }
      }
      try replica.refold(from: log)
    } catch { throw ClientError(error) }
  }

  /// How much of each former id others' events rest on that only the old store has.
  private func seenByOthers(
    _ old: any EventLogReader, _ former: Set<DeviceID>, _ replica: StackReplica
  ) throws(LogError) -> VersionVector {
    var seen = VersionVector()
    try forEachEvent(of: old) { dot, _, event in
      guard let event, !former.contains(dot.device), !replica.chains.vector.contains(dot) else { return }
      for id in former where event.context[id] > seen[id] { seen[id] = event.context[id] }
    }
    return seen
  }

  /// The stack's events in log order, with their bytes; nil for one that can't be read.
  private func forEachEvent(
    of old: any EventLogReader, _ body: (Dot, [UInt8], Event?) throws(LogError) -> Void
  ) throws(LogError) {
    var chains = StackChains(stack: stack)
    var offset = 0
    while case let batches = try old.read(stack, after: offset, maximumBytes: Self.page), let last = batches.last {
      for stored in batches {
        for record in stored.batch.records {
          let bytes = Array(stored.batch.bytes[record.range])
          let event: Event?
          do throws(ChainFault) { event = try chains.receive(record.dot, bytes) } catch {
            throw LogError(.damaged, about: kept, error.description)
          }
          try body(record.dot, bytes, event)
        }
      }
      offset = last.firstOffset + last.batch.count - 1
    }
  }

  /// Takes over what another did. It may rest on what this device did under a former id and did otherwise in the daemon's
  /// history, and is held if that is.
  private func takeOver(
    _ dot: Dot, _ bytes: [UInt8], from old: any EventLogReader, _ log: any EventLog, to replica: StackReplica
  ) throws(LogError) {
    do throws(ChainFault) { try replica.takeOver(dot, bytes) } catch {
      guard case .missingContext(let lacking) = error else { return }
      for element in lacking.elements { try takeCopy(of: element.device, from: old, log, to: replica) }
      // What still lacks something rests on what this store never had whole: its author, or who has all of it, brings it.
      try? replica.takeOver(dot, bytes)
    }
  }

  /// Copies the history that the old store has of a device, if the new one has another.
  ///
  /// - Returns: up to which sequence both have the same; nil if the new one has it whole, or only lacks its end.
  @discardableResult
  private func takeCopy(
    of device: DeviceID, from old: any EventLogReader, _ log: any EventLog, to replica: StackReplica
  ) throws(LogError) -> Int? {
    let ours = try old.heads(of: stack).first { $0.device == device }?.sequence ?? 0
    guard ours > 0 else { return nil }
    let common = try sharedSequence(of: device, old, log, replica)
    let chains = replica.chains
    // A copy's first entry says of what it is one.
    let offset = chains.author(of: device) == device ? 0 : StackChains.copyOffset
    let runs: [EventBatch.Run]
    if chains.retired.contains(device) {
      guard common < ours else { return nil }
      let entries = try old.events(of: device, in: stack, sequences: 1...ours)
      // Whether a copy that isn't whole will have it can't be waited for: nobody else may hold it.
      runs =
        chains.additions(for: device, entries: entries)
        ?? chains.copy(of: device, entries: entries, differingAt: ours - offset)
    } else {
      guard common < min(ours, chains.vector[device]) else { return nil }
      let entries = try old.events(of: device, in: stack, sequences: 1...ours)
      runs = chains.copy(of: device, entries: entries, differingAt: common + 1 - offset)
    }
    do throws(ChainFault) { try replica.takeOver(runs) } catch {
      throw LogError(.damaged, about: kept, "the history of \(device) can't be copied: \(error)")
    }
    return common
  }

  /// Whether a daemon whose time that is would not take an event of that stamp.
  static func isAhead(_ timestamp: Timestamp, of now: Int) -> Bool { timestamp.milliseconds > now + 60_000 }

  /// The last sequence of a former id up to which the old store has the events that are folded in the new one.
  private func sharedSequence(
    of former: DeviceID, _ old: any EventLogReader, _ new: any EventLog, _ replica: StackReplica
  ) throws(LogError) -> Int {
    let ours = try old.heads(of: stack).first { $0.device == former }?.sequence ?? 0
    let main = replica.chains.main(of: former)
    let shift = main == former ? 0 : StackChains.copyOffset
    let end = min(ours, max(0, replica.chains.vector[main] - shift))
    var sequence = 0
    while sequence < end {
      let range = sequence + 1...min(end, sequence + 256)
      let left = try old.events(of: former, in: stack, sequences: range)
      let right = try new.events(
        of: main, in: stack, sequences: range.lowerBound + shift...range.upperBound + shift)
      let same = zip(left, right).prefix { $0 == $1 }.count
      sequence += same
      if same < range.count { break }
    }
    return sequence
  }

  /// What the author held, as far as the new history has it.
  private func capped(_ event: Event, _ limits: [DeviceID: Int], _ replica: StackReplica) -> VersionVector {
    var context = event.context
    context[event.dot.device] = event.dot.sequence - 1
    var result = context.met(with: replica.chains.reach)
    for (id, limit) in limits where result[id] > limit { result[id] = limit }
    return result
  }

  private func renamed(_ action: Action, _ names: [Dot: Dot]) -> Action {
    func renamed(_ entry: EntryID) -> EntryID { EntryID(names[entry.dot] ?? entry.dot, entry.index) }
    return switch action {
    case .push(let on, let values): .push(on: on.map(renamed), values: values)
    case .pop(let entries): .pop(entries: entries.map(renamed))
    case .popToRoot: .popToRoot
    case .set(let keep, let values): .set(keep: keep.map(renamed), values: values)
    case .replace(let entry, let value): .replace(entry: renamed(entry), value: value)
    }
  }
}
