package import NavigationModel

/// The rules of `merge`, `latest` and `lead` as plainly as they can be said, slow and without a clever thought: what the
/// fold is compared with, in tests and simulations. Itself checked against the reference's histories.
///
/// It takes admitted events in any causal order and keeps every assertion and removal of every entry.
package struct SpecificationFold {
  private struct Removal {
    let dot: Dot
    let context: VersionVector
  }

  package let policy: Policy
  private var parents: [EntryID: EntryID?] = [:]
  private var values: [EntryID: Value] = [:]
  private var asserts: [EntryID: [Dot]] = [:]
  private var removals: [EntryID: [Removal]] = [:]
  private var ranks: [EntryID: EventKey] = [:]
  private var highest: [Dot: EventKey] = [:]
  private var counts = VersionVector()
  private var voids: [Dot] = []

  private var events: [Dot: Event] = [:]
  private var views: [Dot: [EntryID]] = [:]
  private var bases: [Dot: Dot] = [:]
  private var best: [Dot: Dot] = [:]

  package init(policy: Policy) { self.policy = policy }

  /// The event's own context with its author in it.
  private func past(_ event: Event) -> VersionVector {
    var past = event.context
    past[event.dot.device] = event.dot.sequence - 1
    return past
  }

  /// The newest event up to that number: after a fork the folded history may be the shorter one.
  private func nearest(_ device: DeviceID, _ sequence: Int) -> Dot { Dot(device, min(sequence, counts[device])) }

  private func created(_ event: Event) -> [(EntryID, Value)] {
    event.action.values.enumerated().map { (EntryID(event.dot, $0.offset), $0.element) }
  }

  package mutating func apply(_ event: Event) {
    events[event.dot] = event
    let past = past(event)
    let seen = past.elements.compactMap { highest[nearest($0.device, $0.sequence)] }
    counts[event.dot.device] = event.dot.sequence
    let isAbove = seen.allSatisfy { $0 < event.key }
    let isValid =
      policy == .merge ? applyMerge(event, past, isAbove) : applyRegister(event, past, isAbove)
    let keys = isValid ? seen + [event.key] : seen
    if let key = keys.max() { highest[event.dot] = key }
    if !isValid { voids.append(event.dot) }
  }

  // MARK: merge

  private func isOpen(_ entry: EntryID, in past: VersionVector? = nil) -> Bool {
    (asserts[entry] ?? []).contains { assert in
      (past?.contains(assert) ?? true)
        && !(removals[entry] ?? []).contains { (past?.contains($0.dot) ?? true) && $0.context.contains(assert) }
    }
  }

  private func children(of entry: EntryID?) -> [EntryID] { parents.filter { $0.value == entry }.map(\.key) }

  private mutating func applyMerge(_ event: Event, _ past: VersionVector, _ isAbove: Bool) -> Bool {
    guard isAbove else { return false }
    var gone: [EntryID] = []
    var base: EntryID?
    switch event.action {
    case .push(let on, let values):
      guard !values.isEmpty else { return false }
      if let on { guard isOpen(on, in: past) else { return false } }
      base = on
    case .set(let keep, _):
      guard Set(keep).count == keep.count else { return false }
      for entry in keep {
        guard isOpen(entry, in: past), let parent = parents[entry] else { return false }
        if let parent { guard keep.contains(parent) else { return false } }
      }
      gone = parents.keys.filter { past.contains($0.dot) && !keep.contains($0) }
      base = keep.last
    case .popToRoot: gone = parents.keys.filter { past.contains($0.dot) }
    case .pop(let entries):
      guard isClosable(entries, past) else { return false }
      gone = entries
    case .replace(let entry, _):
      guard isClosable([entry], past), let parent = parents[entry] else { return false }
      gone = [entry]
      base = parent
    }
    for entry in gone { removals[entry, default: []].append(Removal(dot: event.dot, context: past)) }
    for (entry, value) in created(event) {
      parents[entry] = .some(base)
      values[entry] = value
      base = entry
    }
    var at = created(event).last?.0
    while let entry = at {
      asserts[entry, default: []].append(event.dot)
      ranks[entry] = max(ranks[entry] ?? event.key, event.key)
      at = parents[entry] ?? nil
    }
    return true
  }

  private func isClosable(_ entries: [EntryID], _ past: VersionVector) -> Bool {
    !entries.isEmpty && Set(entries).count == entries.count
      && entries.allSatisfy { entry in
        isOpen(entry, in: past)
          && children(of: entry).allSatisfy { entries.contains($0) || !isOpen($0, in: past) }
      }
  }

  private func rows(above entry: EntryID? = nil) -> [EntryID] {
    children(of: entry).filter { isOpen($0) }
      .sorted { left, right in
        guard let leftRank = ranks[left], let rightRank = ranks[right] else { return false }
        return leftRank != rightRank ? leftRank < rightRank : left < right
      }
      .flatMap { [$0] + rows(above: $0) }
  }

  // MARK: latest, lead

  private func rank(_ dot: Dot) -> (Int, EventKey) {
    guard let event = events[dot] else { fatalError("unknown \(dot)") }
    guard case .lead(let leader) = policy else { return (0, event.key) }
    return (past(event)[leader] + (dot.device == leader ? 1 : 0), event.key)
  }

  private mutating func applyRegister(_ event: Event, _ past: VersionVector, _ isAbove: Bool) -> Bool {
    let base = past.elements.compactMap { best[nearest($0.device, $0.sequence)] }.max { rank($0) < rank($1) }
    let before = base.flatMap { views[$0] } ?? []
    guard isAbove, let view = view(after: event, on: before) else {
      if let base { best[event.dot] = base }
      return false
    }
    for (entry, value) in created(event) { values[entry] = value }
    views[event.dot] = view
    if let base { bases[event.dot] = base }
    best[event.dot] = [event.dot, base].compactMap { $0 }.max { rank($0) < rank($1) }
    return true
  }

  private func view(after event: Event, on before: [EntryID]) -> [EntryID]? {
    let new = created(event).map(\.0)
    switch event.action {
    case .push(let on, let values): return !values.isEmpty && before.last == on ? before + new : nil
    case .pop(let entries):
      return !entries.isEmpty && before.suffix(entries.count) == entries[...] ? before.dropLast(entries.count) : nil
    case .popToRoot: return []
    case .set(let keep, _): return before.starts(with: keep) ? keep + new : nil
    case .replace(let entry, _): return before.last == entry ? before.dropLast() + new : nil
    }
  }

  // MARK: Result

  private var winner: Dot? { views.keys.max { rank($0) < rank($1) } }

  package var entries: [Entry] {
    let ids = policy == .merge ? rows() : winner.flatMap { views[$0] } ?? []
    return ids.map { id in
      guard let value = values[id] else { fatalError("an entry without a value") }
      return Entry(id: id, value: value)
    }
  }

  package var conflicts: Set<Conflict> {
    var result = Set(voids.map(Conflict.noop))
    if policy == .merge {
      let rows = rows()
      for entry in [nil] + rows.map(Optional.some) {
        let open = children(of: entry).filter { rows.contains($0) }.sorted()
        if open.count > 1 { result.insert(.branches(on: entry, entries: open)) }
      }
      for entry in rows {
        for removal in removals[entry] ?? [] { result.insert(.kept(entry: entry, removedBy: removal.dot)) }
      }
      return result
    }
    guard let winner else { return result }
    let shown = Set(views[winner] ?? [])
    var line: Set<Dot> = []
    var at: Dot? = winner
    while let dot = at {
      line.insert(dot)
      at = bases[dot]
    }
    var shut: [Dot: Set<EntryID>] = [:]
    for (dot, view) in views {
      shut[dot] = bases[dot].map { Set(views[$0] ?? []).subtracting(view) } ?? []
    }
    let every = shut.values.reduce(into: Set<EntryID>()) { $0.formUnion($1) }
    for dot in views.keys where !line.contains(dot) {
      guard let event = events[dot], let closed = shut[dot] else { continue }
      if !closed.isDisjoint(with: shown)
        || created(event).contains(where: { !shown.contains($0.0) && !every.contains($0.0) })
      {
        result.insert(.overridden(dot))
      }
    }
    return result
  }
}
