/// What the fold knows of causality, whatever the policy: the events' authors, how far each author's knowledge reached
/// at each of its events, and the highest key in each event's past.
///
/// An author's contexts only grow, so its knowledge of another device is a list of steps, and no context is kept whole
/// but the newest: memory is what the contexts' changes are, never devices times devices.
struct CausalIndex {
  /// From that event of the author on it held that much of a device.
  struct Step {
    var since: Int
    var sequence: Int
  }

  struct Chain {
    /// The highest key of the non-void events among an event and its past, by sequence - 1.
    var highest: [EventKey] = []
    /// The devices that the author knew of, in the order in which it met them.
    private(set) var known: [Int32] = []
    /// Its knowledge of each of them, by ascending `since`.
    private(set) var steps: [[Step]] = []
    /// The event at which it learned something last.
    private(set) var newestStep = 0
    /// The context of its newest event, and the places of its devices.
    var context = VersionVector()
    var places: [Int32] = []
    /// By the places of devices, for what is asked at every entry; short of the last ones nothing is known.
    private var now: [Knowledge] = []

    private struct Knowledge {
      /// As in the context.
      var sequence = 0
      /// Where the device stands in `known`.
      var slot: Int32 = -1
    }

    var count: Int { highest.count }

    /// How much of a device is in the newest context.
    func held(of device: Int32) -> Int { Int(device) < now.count ? now[Int(device)].sequence : 0 }

    /// Puts it into the newest context.
    mutating func hold(_ sequence: Int, of device: Int32) {
      if now.count <= Int(device) {
        now.append(contentsOf: repeatElement(Knowledge(), count: Int(device) + 1 - now.count))
      }
      now[Int(device)].sequence = sequence
    }

    /// From that event on, the author held that much of a device.
    mutating func note(_ step: Step, of device: Int32) {
      hold(step.sequence, of: device)
      let slot = Int(now[Int(device)].slot)
      if slot >= 0 { steps[slot].append(step) } else { meet(device, [step]) }
      newestStep = step.since
    }

    /// All that it knew of a device of which it knew nothing before.
    mutating func meet(_ device: Int32, _ steps: [Step]) {
      hold(held(of: device), of: device)
      now[Int(device)].slot = Int32(known.count)
      known.append(device)
      self.steps.append(steps)
      newestStep = max(newestStep, steps.last?.since ?? 0)
    }

    /// How much of a device the author held at its event of that sequence.
    func knowledge(of device: Int32, at sequence: Int) -> Int {
      guard Int(device) < now.count, now[Int(device)].slot >= 0 else { return 0 }
      return knowledge(inSlot: Int(now[Int(device)].slot), at: sequence)
    }

    private func knowledge(inSlot slot: Int, at sequence: Int) -> Int {
      // Mostly it is of late.
      if let last = steps[slot].last, last.since <= sequence { return last.sequence }
      var low = 0
      var high = steps[slot].count
      while low < high {
        let middle = (low + high) / 2
        if steps[slot][middle].since <= sequence { low = middle + 1 } else { high = middle }
      }
      return low > 0 ? steps[slot][low - 1].sequence : 0
    }

    /// Whether another author's newest context has all that this one learned between two of its events.
    func learnedNothing(after first: Int, to last: Int, butWhat other: Chain, of author: Int32) -> Bool {
      guard newestStep > first else { return true }
      for (slot, device) in known.enumerated() where device != author {
        guard let newest = steps[slot].last, newest.since > first else { continue }
        if other.held(of: device) < knowledge(inSlot: slot, at: last) { return false }
      }
      return true
    }
  }

  /// Below every key that an event can have.
  static let noKey = EventKey(Timestamp(milliseconds: .min, counter: .min), DeviceID(high: 0, low: 0))

  private(set) var devices: [DeviceID] = []
  private var places: [DeviceID: Int32] = [:]
  private var newestLookup: (device: DeviceID, place: Int32) = (DeviceID(high: 0, low: 0), -1)
  private(set) var chains: [Chain] = []
  /// The number of events.
  private(set) var total = 0
  /// The highest key of all non-void events.
  private(set) var highest = CausalIndex.noKey
  /// The highest timestamp of all events, void ones included: what an author's clock must pass.
  private(set) var newestTimestamp = Timestamp.zero
  /// Whether a context names more of a device than is folded, which only a fork brings about.
  private(set) var reachesPastChains = false

  /// What an event's author held, as the fold asks for it.
  struct Past {
    var author: Int32
    var sequence: Int
    /// The author held every event that the replica holds.
    var isWhole: Bool
    var context: VersionVector
    /// The highest key of the non-void events in it.
    var highest: EventKey
    /// Where the context reaches further than the author's previous one: places of devices and numbers, clamped to what
    /// is held.
    var changes: [(device: Int32, sequence: Int)]
  }

  /// The place of a device, nil for one that was never met.
  mutating func place(of device: DeviceID) -> Int32? {
    if newestLookup.place >= 0, newestLookup.device == device { return newestLookup.place }
    guard let place = places[device] else { return nil }
    newestLookup = (device, place)
    return place
  }

  mutating func intern(_ device: DeviceID) -> Int32 {
    if let place = place(of: device) { return place }
    let place = Int32(devices.count)
    devices.append(device)
    places[device] = place
    chains.append(Chain())
    newestLookup = (device, place)
    return place
  }

  /// Puts back what a snapshot held.
  mutating func replaceChain(at place: Int, with chain: Chain) { chains[place] = chain }

  /// Finds the places of a context's devices; those that never acted get one.
  mutating func notePlaces(of chain: Int) {
    chains[chain].places = chains[chain].context.elements.map { intern($0.device) }
    for (place, element) in zip(chains[chain].places, chains[chain].context.elements) {
      chains[chain].hold(element.sequence, of: place)
    }
  }

  mutating func restore(total: Int, highest: EventKey, newestTimestamp: Timestamp, reachesPastChains: Bool) {
    self.total = total
    self.highest = highest
    self.newestTimestamp = newestTimestamp
    self.reachesPastChains = reachesPastChains
  }

  func count(_ device: Int32) -> Int { chains[Int(device)].count }

  /// All that is held.
  var vector: VersionVector {
    var elements: [VersionVector.Element] = []
    for (place, chain) in chains.enumerated() where chain.count > 0 {
      elements.append(VersionVector.Element(device: devices[place], sequence: chain.count))
    }
    elements.sort { $0.device < $1.device }
    return VersionVector(ascending: elements) ?? VersionVector()
  }

  /// Takes note of what the author of an event held. Whatever of the context is not held, as after a fork, is left out.
  mutating func begin(_ event: Event) -> Past {
    let author = intern(event.dot.device)
    let count = chains[Int(author)].count
    precondition(event.dot.sequence == count + 1, "\(event.dot) is not its device's next event: \(count) are folded")
    var highest = count > 0 ? chains[Int(author)].highest[count - 1] : CausalIndex.noKey
    var changes: [(device: Int32, sequence: Int)] = []
    var context = event.context
    if context.total != chains[Int(author)].context.total || context != chains[Int(author)].context {
      changes = self.changes(to: context, of: author)
      if context.total + count != total || reachesPastChains, !isClosed(context, changes, of: author),
        close(&context, changes, of: author)
      {
        changes = self.changes(to: context, of: author)
      }
      for (place, change) in changes.enumerated() {
        chains[Int(author)].note(Step(since: event.dot.sequence, sequence: change.sequence), of: change.device)
        let held = min(change.sequence, chains[Int(change.device)].count)
        if held < change.sequence {
          reachesPastChains = true
          changes[place].sequence = held
        }
        if held > 0 { highest = max(highest, chains[Int(change.device)].highest[held - 1]) }
      }
      changes.removeAll { $0.sequence == 0 }
      keep(context, of: author)
    }
    let isWhole =
      reachesPastChains
      ? chains.indices.allSatisfy { $0 == author || chains[$0].count <= context[devices[$0]] }
      : context.total + count == total
    return Past(
      author: author, sequence: event.dot.sequence, isWhole: isWhole, context: context,
      highest: isWhole ? self.highest : highest, changes: changes)
  }

  /// Where a context reaches further than its author's last one. No look-up but for devices that are new in it.
  private mutating func changes(to context: VersionVector, of author: Int32) -> [(device: Int32, sequence: Int)] {
    let before = chains[Int(author)].context.elements
    let places = chains[Int(author)].places
    var result: [(device: Int32, sequence: Int)] = []
    var left = 0
    for element in context.elements {
      while left < before.count, before[left].device < element.device { left += 1 }
      if left < before.count, before[left].device == element.device {
        if element.sequence > before[left].sequence { result.append((places[left], element.sequence)) }
      } else {
        let device = intern(element.device)
        if device != author { result.append((device, element.sequence)) }
      }
    }
    return result
  }

  /// Makes it the author's last context, and notes the places of its devices.
  private mutating func keep(_ context: VersionVector, of author: Int32) {
    let before = chains[Int(author)].context.elements
    let isSame =
      before.count == context.elements.count && zip(before, context.elements).allSatisfy { $0.device == $1.device }
    chains[Int(author)].context = context
    if !isSame { notePlaces(of: Int(author)) }
  }

  /// Whether a context surely has what the authors of the events that it names held, as nearly all have. The author's
  /// last one had, so only what they learned since is looked at; after a fork that isn't known.
  private mutating func isClosed(
    _ context: VersionVector, _ changes: [(device: Int32, sequence: Int)], of author: Int32
  ) -> Bool {
    let own = Int(author)
    guard !reachesPastChains, context.total >= chains[own].context.total, context.covers(chains[own].context) else {
      return false
    }
    let before = changes.map { chains[own].held(of: $0.device) }
    for change in changes { chains[own].hold(change.sequence, of: change.device) }
    var isClosed = true
    for (change, before) in zip(changes, before) where isClosed {
      let other = Int(change.device)
      isClosed =
        change.sequence <= chains[other].count
        && chains[other].learnedNothing(after: before, to: change.sequence, butWhat: chains[own], of: author)
    }
    return isClosed
  }

  /// Whether a context has what the authors of the events that it names held, as far as these are counted in.
  func isClosed(_ context: VersionVector) -> Bool {
    chains.indices.allSatisfy { place in
      let held = min(context[devices[place]], chains[place].count)
      return held == 0
        || zip(chains[place].known, chains[place].steps).allSatisfy { known, steps in
          steps.isEmpty || chains[place].knowledge(of: known, at: held) <= context[devices[Int(known)]]
        }
    }
  }

  /// Takes into a context what the authors of the events that it names held: whoever holds an event holds its past. Only
  /// a faulty device leaves it out, and the fold would depend on the order of arrival; for all others nothing changes.
  ///
  /// - Returns: whether anything was taken in.
  private func close(
    _ context: inout VersionVector, _ changes: [(device: Int32, sequence: Int)], of author: Int32
  ) -> Bool {
    let before = context.total
    if !context.covers(chains[Int(author)].context) { context.join(chains[Int(author)].context) }
    for change in changes {
      let chain = chains[Int(change.device)]
      let held = min(change.sequence, chain.count)
      if held == 0 || held == chain.count && chain.context.total <= context.total && context.covers(chain.context) {
        continue
      }
      for (known, steps) in zip(chain.known, chain.steps) where known != author && !steps.isEmpty {
        let sequence = chain.knowledge(of: known, at: held)
        if sequence > context[devices[Int(known)]] { context[devices[Int(known)]] = sequence }
      }
    }
    return context.total != before
  }

  /// Counts the event in.
  mutating func end(_ past: Past, key: EventKey, isVoid: Bool) {
    chains[Int(past.author)].highest.append(isVoid ? past.highest : max(past.highest, key))
    total += 1
    newestTimestamp = max(newestTimestamp, key.timestamp)
    if !isVoid { highest = max(highest, key) }
  }

  /// How much of a device the author of that event held when it acted.
  func known(_ device: Int32, to author: Int32, at sequence: Int) -> Int {
    if device == author { return sequence - 1 }
    return chains[Int(author)].knowledge(of: device, at: sequence)
  }

  /// Whether the author of the event held an event of a device.
  func holds(_ past: Past, _ device: Int32, _ sequence: Int) -> Bool {
    if past.isWhole { return true }
    if device == past.author { return sequence < past.sequence }
    return sequence <= chains[Int(past.author)].held(of: device)
  }
}
