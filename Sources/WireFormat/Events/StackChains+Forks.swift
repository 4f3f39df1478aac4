public import NavigationModel

/// Several histories under one device id (see ``Fork``).
extension StackChains {
  /// What a copy holds beside its chain.
  struct Copy: Hashable, Sendable {
    let fork: Fork
    /// Of the device's own chain, as this history has it.
    var history: ChainDigest
    /// Of each event of the history.
    var marks: [Mark] = []

    init(_ fork: Fork, stack: StackName) {
      self.fork = fork
      history = ChainDigest(stack: stack, device: fork.device)
    }

    mutating func extend(_ bytes: [UInt8], in range: Range<Int>, _ timestamp: Timestamp) {
      history.append(bytes, in: range)
      marks.append(Mark(digest: history.digest, timestamp: timestamp))
    }

    /// Whether the history has the event that makes a fork what it is.
    func passes(_ fork: Fork) -> Bool {
      fork.sequence <= marks.count && marks[fork.sequence - 1].digest == fork.digest
    }
  }

  /// What decides between two histories at one place.
  struct Mark: Hashable, Sendable {
    /// Of the device's chain after the event.
    var digest: Digest
    var timestamp: Timestamp

    static func precedes(_ left: Mark, _ right: Mark) -> Bool {
      left.timestamp != right.timestamp ? left.timestamp < right.timestamp : left.digest < right.digest
    }
  }

  /// What is known of all copies. Costs nothing as long as there are none.
  struct Forking: Hashable, Sendable {
    /// How much is held of each device by any chain; nil as long as there are no copies.
    var reach: VersionVector?
    /// The copies of each device's histories, in the order of their coming.
    var copies: [DeviceID: [DeviceID]] = [:]
    var retired: Set<DeviceID> = []
    var unsettled: Set<DeviceID> = []
    /// Counts what came to copies.
    var changes = 0
  }

  /// Whether any device id has several histories.
  public var isForked: Bool { forking.reach != nil }

  /// Whether there are events that can't be read, since they are of a newer format.
  public var hasUnreadable: Bool { chains.contains { $0.unreadable > 0 } }

  /// Of which device a chain is: its own id, unless it is a copy.
  public func author(of chain: DeviceID) -> DeviceID { self.chain(of: chain)?.copy?.fork.device ?? chain }

  /// The chains to which nothing is added any more: a device's own, once there is a copy of one of its histories; and a
  /// copy, once there is another that has the event which the first is named after and is named after a later one. What
  /// is in them is in a copy too, or will be: see ``unsettled``.
  public var retired: Set<DeviceID> { forking.retired }

  /// Retired chains of which it isn't known that a copy has all of them: to be looked at with ``additions(for:entries:)``.
  public var unsettled: Set<DeviceID> { forking.unsettled }

  /// Changes whenever a copy does: what couldn't be settled then may be now.
  public var forkChanges: Int { forking.changes }

  /// The devices whose ids have several histories, by id.
  public var forkedDevices: [DeviceID] { forking.copies.keys.sorted() }

  /// The copies of a device's histories that aren't retired, by id.
  public func copies(of device: DeviceID) -> [DeviceID] {
    (forking.copies[device] ?? []).filter { !forking.retired.contains($0) }.sorted()
  }

  /// The chain of a device that is folded: where histories differ, the one whose event there has the lower (timestamp,
  /// digest).
  public func main(of device: DeviceID) -> DeviceID {
    var best: (id: DeviceID, copy: Copy)?
    for id in copies(of: device) {
      guard let copy = chain(of: id)?.copy else { continue }
      if let standing = best, !Self.precedes(copy, standing.copy) { continue }
      best = (id, copy)
    }
    return best?.id ?? device
  }

  /// Whether an event of that number under a device's id has a rival, on the history that is folded.
  public var forks: [Dot] {
    var result: Set<Dot> = []
    for device in forking.copies.keys {
      guard let main = chain(of: main(of: device))?.copy else { continue }
      for id in copies(of: device) {
        guard let other = chain(of: id)?.copy else { continue }
        let place = Self.firstDifference(main.marks, other.marks)
        if place < min(main.marks.count, other.marks.count) { result.insert(Dot(device, place + 1)) }
      }
    }
    return result.sorted()
  }

  /// The heads but those of retired chains: what a peer is told.
  public var liveHeads: [DeviceHead] {
    forking.retired.isEmpty ? heads : heads.filter { !forking.retired.contains($0.device) }
  }

  /// How far the history of each device that is folded is held, by ascending device: for who knows nothing of copies.
  public var foldedHeads: [DeviceHead] {
    guard isForked else { return heads }
    return reach.elements.map { element in
      let main = main(of: element.device)
      let count = chain(of: main)?.copy?.marks.count ?? vector[main]
      return DeviceHead(device: element.device, sequence: count, digest: history(of: main))
    }
  }

  /// The copies that somebody who holds so much lacks anything of, in the order of their ids: sent before all else, since
  /// events in the log before them may rest on what only a copy has.
  public func copies(lackedBy vector: VersionVector) -> [DeviceID] {
    forking.copies.keys.flatMap { copies(of: $0) }.filter { vector[$0] < self.vector[$0] }.sorted()
  }

  /// How many entries of a chain that is a copy stand before its history's first event.
  public static let copyOffset = 1

  private static func precedes(_ left: Copy, _ right: Copy) -> Bool {
    let place = firstDifference(left.marks, right.marks)
    guard place < min(left.marks.count, right.marks.count) else { return left.marks.count > right.marks.count }
    return Mark.precedes(left.marks[place], right.marks[place])
  }

  /// The first place at which two histories differ, or the end of the shorter. A digest is of all before it, so once
  /// they differ they do to the end.
  private static func firstDifference(_ left: [Mark], _ right: [Mark]) -> Int {
    var low = 0
    var high = min(left.count, right.count)
    while low < high {
      let middle = (low + high) / 2
      if left[middle].digest == right[middle].digest { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // MARK: Taking in

  /// As `admit`, for a copy, and for what comes after an event that can't be read. A copy is whole by itself: what its events rest on is looked at when they
  /// are folded.
  static func admitOther(
    _ bytes: [UInt8], in range: Range<Int>, to chain: inout Chain, notAfter latest: Int, keepsUnknown: Bool
  ) throws(ChainFault) -> Event? {
    let before = chain.author
    var event: Event?
    if chain.unreadable == 0 {
      do { event = try EventCodec.decode(bytes, in: range, after: &chain.author) } catch {
        guard error.code == .unsupported, keepsUnknown else { throw .malformed(error) }
      }
    }
    if let event, event.timestamp.milliseconds > latest { return event }
    if var copy = chain.copy {
      // Moved out and back, so that the marks grow in place.
      let fork = copy.fork
      chain.copy = nil
      let history = copy.history
      // One that can't be read is later than any.
      copy.extend(bytes, in: range, event?.timestamp ?? Timestamp(milliseconds: .max, counter: .max))
      guard copy.marks.count != fork.sequence || copy.passes(fork) else {
        copy.history = history
        copy.marks.removeLast()
        chain.copy = copy
        chain.author = before
        throw .malformed(DecodeError(.notCanonical, at: 0, in: "copy of a history"))
      }
      chain.copy = copy
    }
    chain.extend(bytes, in: range)
    if event == nil, chain.unreadable == 0 { chain.unreadable = chain.count }
    return event
  }

  /// A copy, or any chain while there are copies, holds more.
  mutating func noteForking(_ place: Int) {
    let chain = chains[place]
    if forking.reach == nil {
      // Nothing but devices' own chains, and the first copy.
      forking.reach = vector
      forking.reach?[chain.id] = 0
    }
    guard let copy = chain.copy else {
      if forking.reach![chain.id] < chain.count { forking.reach![chain.id] = chain.count }
      return
    }
    let device = copy.fork.device
    if forking.reach![device] < copy.marks.count { forking.reach![device] = copy.marks.count }
    forking.changes += 1
    if forking.copies[device]?.contains(chain.id) != true {
      forking.copies[device, default: []].append(chain.id)
      retire(device)
    }
    for id in forking.copies[device]! where id != chain.id {
      guard let other = self.chain(of: id)?.copy else { continue }
      if other.fork.sequence < copy.fork.sequence, copy.passes(other.fork) { retire(id) }
      if copy.fork.sequence < other.fork.sequence, other.passes(copy.fork) { retire(chain.id) }
    }
  }

  private mutating func retire(_ id: DeviceID) {
    guard forking.retired.insert(id).inserted, vector[id] > 0 else { return }
    forking.unsettled.insert(id)
  }

  // MARK: Settling

  /// What is to be added to copies so that all of a retired chain is in them.
  ///
  /// - Parameter entries: all that is held of the chain, from its first entry on.
  /// - Returns: runs of entries to be taken in; empty if all is there; nil if that can't be said before more of the
  ///   copies is there.
  public func additions(for chain: DeviceID, entries: [[UInt8]]) -> [EventBatch.Run]? {
    let device = author(of: chain)
    let events = Array(entries.dropFirst(chain == device ? 0 : Self.copyOffset))
    guard !events.isEmpty else { return [] }
    let digests = digests(of: events, by: device)
    /// Where a copy that has the events so far ends, to be gone on with; the deepest.
    var extended: (id: DeviceID, sequence: Int, count: Int)?
    var isOpen = false
    var difference = 1
    for id in copies(of: device) {
      guard let copy = self.chain(of: id)?.copy else { continue }
      let common = zip(copy.marks, digests).prefix { $0.digest == $1 }.count
      let isSame = common == min(copy.marks.count, digests.count)
      if isSame, copy.marks.count >= digests.count { return [] }
      let place = copy.fork.sequence
      if isSame, copy.marks.count >= place || (digests.count >= place && digests[place - 1] == copy.fork.digest) {
        if extended.map({ $0.sequence < place }) ?? true { extended = (id, place, copy.marks.count) }
      } else if isSame, digests.count < place {
        isOpen = true
      } else {
        difference = max(difference, isSame ? place : common + 1)
      }
    }
    if let extended {
      return [
        EventBatch.Run(
          device: extended.id, firstSequence: extended.count + 1 + Self.copyOffset,
          events: Array(events[extended.count...]))
      ]
    }
    if isOpen { return nil }
    let added = copy(of: device, events, digests, at: difference)
    // It is there, but retired or not whole: more is to come.
    return added.isEmpty ? nil : added
  }

  /// A copy of a chain that has another history somewhere else: they differ at that number of the device's events, or
  /// before.
  ///
  /// - Parameter entries: all that is held of the chain, from its first entry on; at least up to there.
  /// - Returns: runs of entries to be taken in; empty if there is such a copy.
  public func copy(of chain: DeviceID, entries: [[UInt8]], differingAt sequence: Int) -> [EventBatch.Run] {
    let device = author(of: chain)
    let events = Array(entries.dropFirst(chain == device ? 0 : Self.copyOffset))
    precondition((1...events.count).contains(sequence), "histories differ where there is an event")
    return copy(of: device, events, digests(of: events, by: device), at: sequence)
  }

  private func copy(
    of device: DeviceID, _ events: [[UInt8]], _ digests: [Digest], at sequence: Int
  ) -> [EventBatch.Run] {
    let fork = Fork(device: device, sequence: sequence, digest: digests[sequence - 1])
    guard vector[fork.id] == 0 else { return [] }
    return [EventBatch.Run(device: fork.id, firstSequence: 1, events: [fork.bytes] + events)]
  }

  private func digests(of events: [[UInt8]], by device: DeviceID) -> [Digest] {
    var digest = ChainDigest(stack: stack, device: device)
    return events.map {
      digest.append($0)
      return digest.digest
    }
  }

  /// All of a retired chain is in copies.
  public mutating func settled(_ chain: DeviceID) { forking.unsettled.remove(chain) }
}
