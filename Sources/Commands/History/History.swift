import EventLog
import NavigationModel
import StackHistory
import WireFormat

/// One event in the order in which a log has it.
struct HistoryItem: Sendable {
  /// From 1 on.
  var offset: Int
  /// When a log stored it, in milliseconds since 1970; nil if that isn't known.
  var storedAt: Int?
  var event: Event
  /// The author's digest before the event.
  var previous: Digest
  var standing = Standing.folded

  /// What becomes of an event.
  enum Standing: Sendable {
    case folded
    /// Another history under the device's id is folded.
    case rival
    /// Something that it rests on isn't there, or can't be read.
    case held
  }
}

/// A stack's history as it is walked: what was read of it, and what devices are called.
final class History {
  let stack: StackName
  let policy: Policy
  private(set) var names: DeviceNames
  private(set) var chains: StackChains
  /// The number of events when the walk began; where a device id has several histories, of those that are folded, when
  /// the walk has ended.
  private(set) var head: Int
  /// Events that have rivals of the same dot; known when all is read.
  private(set) var forks: [Dot] = []
  /// What is folded, if a device id has several histories; nil else, and before it is read.
  private(set) var folded: [Event]?
  /// What a timeline left out: events of histories that aren't folded, and what waits for others.
  private(set) var unfolded: [HistoryItem] = []
  let lastStored: Int?
  /// Who vouches for the events.
  var vetting: StackVetting
  /// The chains that it had by then: devices, and copies of their histories.
  private(set) var authors: [DeviceID]
  /// The file that it is from, if it is.
  var file: FileHistory?
  private(set) var source: HistorySource
  private let items: [HistoryItem]
  /// All that came, where a device id has several histories.
  private(set) var claims: StackClaims?
  /// Of a file that says so before its events come.
  private var hasManyHistories = false
  private var places: [Dot: (offset: Int, storedAt: Int?)] = [:]
  /// How many events were left out because they are of a newer kind, or rest on one that is.
  private(set) var unread = 0
  /// What was given, once there is something that can't be read; nil before.
  private var foldable: VersionVector?
  /// The digests before the folded events, if a device id has several histories.
  private(set) var previous: [Dot: Digest] = [:]

  /// Finds the stack in a source.
  ///
  /// - Parameter known: what devices are called, if that was asked before: a walk over many stacks asks once.
  /// - Throws: a ``CommandError`` with ``ExitCode/notFound`` if there is no such stack.
  init(_ stack: StackName, in source: HistorySource, names known: DeviceNames? = nil) async throws {
    self.stack = stack
    self.source = source
    chains = StackChains(stack: stack)
    names = known ?? DeviceNames()
    vetting = try StackVetting(stack)
    switch source {
    case .daemon(let session):
      items = []
      if known == nil { names = try await session.deviceNames() }
      let following = try await session.follow(stack)
      guard following.exists, let policy = following.policy else {
        session.send(.unfollow(Unfollow(stack: stack.description)))
        let others = try await session.list(space: stack.space.description).stacks
        throw History.notFound(stack, source, others.map(\.stack))
      }
      (self.policy, head, lastStored) = (policy, following.head, nil)
      authors = following.heads.map(\.device)
    case .store(let reader, _):
      items = []
      do {
        if known == nil { names = try deviceNames(in: reader) }
        guard let info = try reader.info(of: stack) else {
          throw History.notFound(stack, source, try reader.stacks(in: stack.space).map(\.stack.description))
        }
        (policy, head, lastStored) = (info.policy, info.head, info.lastStored)
        authors = try reader.heads(of: stack).map(\.device)
      } catch let error as LogError {
        throw commandError(error)
      }
    case .file(let file):
      guard file.stack == nil || file.stack == stack else {
        throw History.notFound(stack, source, [file.stack?.description ?? ""])
      }
      items = file.items
      names = file.names
      (policy, head, lastStored) = (file.policy, items.count, nil)
      authors = Set(items.map(\.event.dot.device)).sorted()
    case .export(let file):
      guard file.stack == stack else { throw History.notFound(stack, source, [file.stack.description]) }
      items = []
      names = file.names
      (policy, head, lastStored, authors) = (file.policy, 0, nil, [])
      hasManyHistories = file.header.format > 1
    }
  }

  /// A device as a program gets it: its id, or its text in the file that the history is from.
  func deviceText(_ device: DeviceID) -> String { file?.text(device) ?? device.description }

  func note(_ name: String, of device: DeviceID) { names.note(name, of: device) }

  /// A device id has several histories: to be read anew with all of its chains.
  func noteChains(_ chains: [DeviceID]) { authors = Set(authors).union(chains).sorted() }

  /// Another daemon's session, after the one before is gone.
  func goOn(with session: DaemonSession) { source = .daemon(session) }

  private static func notFound(_ stack: StackName, _ source: HistorySource, _ others: [String]) -> CommandError {
    let there = others.prefix(5).joined(separator: ", ") + (others.count > 5 ? " and \(others.count - 5) more" : "")
    return CommandError(
      .notFound,
      "there is no stack \(stack) in \(source.name)" + (others.isEmpty ? "" : "; in that space there are \(there)"))
  }

  /// Gives every event in log order, until the body says false or the head of the beginning is reached. Once. Where a
  /// device id has several histories it is the order in which they are folded.
  ///
  /// - Parameter rivals: whether events that aren't folded are wanted, too.
  /// - Throws: a ``CommandError`` with ``ExitCode/damage`` at the first event that doesn't continue its chain.
  func walk(rivals: Bool = false, _ body: (HistoryItem) throws -> Bool) async throws {
    if case .file = source {
      for item in items where try !body(item) { return }
    } else if isForked {
      let problem = try await readClaimsAsFarAsGood { _ in }
      for item in foldClaims() + (rivals ? unfolded : []) where try !body(item) { return }
      if let problem { throw problem }
    } else {
      try await walkBatches { batch, first, stored in try take(batch, at: first, stored: stored, body) }
    }
  }

  /// Whether a device id has several histories.
  var isForked: Bool { hasManyHistories || authors.contains(where: Fork.mayBeCopy) }

  /// All that is held, by chain: what a daemon is told to send the rest.
  func heads(_ timeline: borrowing Timeline) -> [DeviceHead] { claims?.chains.liveHeads ?? timeline.heads }

  /// The conflicts that a fold found, and those of forked histories.
  func withForks(_ conflicts: [Conflict]) -> [Conflict] { (conflicts + forks.map(Conflict.fork)).sorted() }

  /// All of it as a timeline, once. What can be read before a damaged place is in there; what isn't folded is noted in
  /// ``unfolded``.
  ///
  /// - Parameter goesOn: whether a daemon keeps sending; see ``followBatches(_:)``.
  func load(into timeline: inout Timeline, goesOn: Bool = false, _ progress: (Int) -> Void) async throws {
    if case .file = source {
      for item in items { try append(item, to: &timeline) }
    } else if isForked {
      let problem = try await readClaimsAsFarAsGood(goesOn: goesOn, progress)
      try fold(into: &timeline)
      if let problem { throw problem }
    } else {
      timeline.reserve(head)
      try await walkBatches(goesOn: goesOn) { batch, first, _ in
        try receive(batch, at: first, into: &timeline)
        progress(timeline.count)
        return true
      }
    }
  }

  private func append(_ item: HistoryItem, to timeline: inout Timeline) throws {
    var event = item.event
    // What it names of a history that isn't folded is in no timeline.
    if isForked { event.context = event.context.met(with: timeline.vector) }
    do { try timeline.append(event) } catch { throw damage(at: item.offset, "\(error)") }
  }

  /// Takes the events of a batch into a timeline; those that are there already are left out, and those that can't be
  /// read, with what rests on them.
  func receive(_ batch: EventBatch, at first: Int, into timeline: inout Timeline) throws {
    var offset = first
    do throws(ChainFault) {
      try batch.forEach { (record) throws(ChainFault) in
        if timeline.number(of: record.dot) == nil,
          try !timeline.receive(record.dot.device, record.dot.sequence, batch.bytes, in: record.range)
        {
          head -= 1
          unread += 1
        }
        offset += 1
      }
    } catch { throw damage(at: offset, "\(error)") }
  }

  /// Reads all chains. What is folded is a matter of them all.
  private func readClaims(goesOn: Bool = false, _ progress: (Int) -> Void) async throws {
    claims = StackClaims(stack: stack)
    places = [:]
    try await walkBatches(goesOn: goesOn) { (batch, first, stored) in
      try takeClaims(batch, at: first, stored: stored)
      progress(places.count)
      return true
    }
  }

  /// As ``readClaims(goesOn:_:)``; damage ends it, and is given back.
  private func readClaimsAsFarAsGood(goesOn: Bool = false, _ progress: (Int) -> Void) async throws -> CommandError? {
    do { try await readClaims(goesOn: goesOn, progress) } catch let error as CommandError where error.code == .damage {
      return error
    }
    return nil
  }

  /// Takes in what isn't there yet.
  func takeClaims(_ batch: EventBatch, at first: Int, stored: Int?) throws {
    guard var claims else { preconditionFailure("claims are taken in before they are read") }
    // Moved out and back, so that it grows in place.
    self.claims = nil
    defer { self.claims = claims }
    var offset = first
    try batch.forEach { record in
      defer { offset += 1 }
      let (device, sequence) = (record.dot.device, record.dot.sequence)
      guard !claims.chains.vector.contains(record.dot) else { return }
      do {
        let event = try claims.receive(device, sequence, batch.bytes, in: record.range)
        if let event, places[event.dot] == nil { places[event.dot] = (offset, stored) }
      } catch { throw damage(at: offset, "\(error)") }
    }
  }

  /// What is folded of all chains, in the order in which it is; what isn't is in ``unfolded`` then.
  private func foldClaims() -> [HistoryItem] {
    guard let claims else { preconditionFailure("claims are folded before they are read") }
    chains = claims.chains
    let admission = claims.admission
    forks = admission.forks
    folded = admission.events
    head = admission.folded.count
    func item(_ claim: Claim, _ standing: HistoryItem.Standing) -> HistoryItem {
      let place = places[claim.event.dot]
      return HistoryItem(
        offset: place?.offset ?? 0, storedAt: place?.storedAt, event: claim.event, previous: claim.previous,
        standing: standing)
    }
    unfolded = admission.rivals.map { item($0, .rival) } + admission.waiting.map { item($0, .held) }
    return admission.folded.map { item($0, .folded) }
  }

  /// Puts what is folded of all chains into an empty timeline.
  func fold(into timeline: inout Timeline) throws {
    let items = foldClaims()
    previous = Dictionary(uniqueKeysWithValues: items.map { ($0.event.dot, $0.previous) })
    for item in items { try append(item, to: &timeline) }
  }

  /// Gives the batches until the body says false or what was the end when it began is reached.
  private func walkBatches(goesOn: Bool = false, _ body: (EventBatch, Int, Int?) throws -> Bool) async throws {
    vetting.begin()
    switch source {
    case .file: preconditionFailure("a file of any lines has no batches")
    case .export(let file): try walkExport(file, body)
    case .store(let reader, _):
      var offset = 0
      // The store's own: `head` counts what can be read, and changes on the way.
      let end: Int
      do { end = try reader.info(of: stack)?.head ?? 0 } catch { throw commandError(error) }
      while offset < end {
        let batches: [StoredBatch]
        do {
          batches = try reader.read(stack, after: offset, maximumBytes: 1 << 20)
        } catch {
          throw commandError(error)
        }
        guard !batches.isEmpty else { return }
        for batch in batches {
          guard try body(try vetting.pass(batch.batch), batch.firstOffset, batch.storedAt) else { return }
          offset = batch.firstOffset + batch.batch.count - 1
        }
      }
    case .daemon(let session):
      defer { if !goesOn { session.send(.unfollow(Unfollow(stack: stack.description))) } }
      while true {
        switch try await session.next() {
        case .events(let events) where events.stack == stack.description:
          let batch: EventBatch
          do { batch = try EventBatch(bytes: events.batch) } catch { throw damage(at: events.firstOffset, "\(error)") }
          guard try body(try vetting.pass(batch), events.firstOffset, nil) else { return }
        case .live(let live) where live.stack == stack.description: return
        case .refused(let refused): throw session.error(refused)
        case _: continue
        }
      }
    }
  }

  private func walkExport(_ file: ExportFile, _ body: (EventBatch, Int, Int?) throws -> Bool) throws {
    let reader = try file.reader()
    var waiting: [(dot: Dot, bytes: [UInt8])] = []
    var first = 1
    func give() throws -> Bool {
      defer { waiting.removeAll(keepingCapacity: true) }
      head += waiting.count
      defer { first += waiting.count }
      return waiting.isEmpty ? true : try body(EventBatch(waiting), first, nil)
    }
    do {
      while let entry = try reader.next() {
        waiting.append((Dot(entry.chain, entry.sequence), entry.bytes))
        if waiting.count == 512, try !give() { return }
      }
    } catch {
      // What stands before it is good.
      _ = try give()
      throw error
    }
    _ = try give()
  }

  /// Every entry as the log has it, copies of histories and what can't be read included.
  ///
  /// - Parameter body: the entry's chain and number, its bytes, and the event, nil for what is no event that can be read;
  ///   ``chains`` holds it by then.
  func walkEntries(_ body: (Dot, [UInt8], Event?, _ previous: Digest) throws -> Void) async throws {
    try await walkBatches { batch, first, _ in
      var offset = first
      try batch.forEach { record in
        defer { offset += 1 }
        // A daemon may send copies before their turn.
        guard !chains.vector.contains(record.dot) else { return }
        let previous = chains.history(of: record.dot.device)
        let event: Event?
        do { event = try chains.receive(record.dot.device, record.dot.sequence, batch.bytes, in: record.range) } catch {
          throw damage(at: offset, "\(error)")
        }
        try body(record.dot, Array(batch.bytes[record.range]), event, previous)
      }
      return true
    }
  }

  private func take(
    _ batch: EventBatch, at first: Int, stored: Int?, _ body: (HistoryItem) throws -> Bool
  ) throws -> Bool {
    var offset = first
    var goesOn = true
    try batch.forEach { record in
      guard goesOn else { return }
      defer { offset += 1 }
      let previous = chains.digest(of: record.dot.device)
      let read: Event?
      do {
        read = try chains.receive(record.dot.device, record.dot.sequence, batch.bytes, in: record.range)
      } catch {
        throw damage(at: offset, "\(error)")
      }
      // Neither what can't be read nor what rests on it is folded.
      if read == nil, foldable == nil {
        foldable = chains.vector
        foldable?[record.dot.device] = record.dot.sequence - 1
      }
      guard let event = read, isFoldable(event) else {
        head -= 1
        unread += 1
        return
      }
      goesOn = try body(HistoryItem(offset: offset, storedAt: stored, event: event, previous: previous))
    }
    return goesOn
  }

  private func isFoldable(_ event: Event) -> Bool {
    guard let known = foldable else { return true }
    guard known.covers(event.context), known[event.dot.device] == event.dot.sequence - 1 else { return false }
    foldable?[event.dot.device] = event.dot.sequence
    return true
  }

  func damage(at offset: Int, _ problem: String) -> CommandError {
    CommandError(
      .damage, "\(stack) in \(source.name) can't be read on from event \(offset): \(problem); run 'navsync verify'")
  }
}

/// The device names that a store keeps.
func deviceNames(in reader: any EventLogReader) throws(LogError) -> DeviceNames {
  var names = DeviceNames()
  for (device, name) in DeviceNameFact.names(in: try reader.facts(prefixed: DeviceNameFact.prefix)) {
    names.note(name, of: device)
  }
  return names
}
