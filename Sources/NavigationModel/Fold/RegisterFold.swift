/// The fold of policies `latest` and `lead`: a register that holds the stack which the winning event's author saw after
/// it.
///
/// An author's stack is a chain of entries, each on the one beneath, and an entry is always on the same one, so all
/// stacks of a history together are one tree of entries and a stack is its top: push and pop are O(1), and no stack is
/// ever copied.
struct RegisterFold {
  static let root: Int32 = 0
  static let none: Int32 = -1

  struct Node {
    var device: Int32
    var index: Int32
    var sequence: Int
    var below: Int32
    var depth: Int32
    /// The newest of the events that closed it, in `closings`; none: it was never closed.
    var closing: Int32 = RegisterFold.none
    /// Neighbours in the ring of entries that were never closed; the root is the ring's head.
    var nextUnclosed: Int32
    var previousUnclosed: Int32
  }

  struct Closing {
    var device: Int32
    var sequence: Int
    var older: Int32
  }

  /// An event: its author's stack after it.
  struct Outcome {
    /// The top of the stack.
    var view: Int32
    /// The best of the event and all before it, by `rank`; its sequence is 0 if all are void.
    var bestDevice: Int32
    var bestSequence: Int
    var rank: Rank
    var firstEntry: Int32
  }

  /// What decides between heads: under `lead` first how much of the leader's an event has in its past or is.
  struct Rank {
    var leads: Int
    var key: EventKey

    static func < (left: Rank, right: Rank) -> Bool {
      left.leads != right.leads ? left.leads < right.leads : left.key < right.key
    }
  }

  let leader: DeviceID?
  var nodes: [Node]
  var values: [Value]
  var closings: [Closing] = []
  /// By device, by sequence - 1.
  var outcomes: [[Outcome]] = []
  /// The winner of all; its sequence is 0 if there is none.
  var best: (device: Int32, sequence: Int) = (0, 0)
  var voids: [Dot] = []

  init(leader: DeviceID?) {
    self.leader = leader
    nodes = [
      Node(device: -1, index: 0, sequence: 0, below: 0, depth: 0, nextUnclosed: 0, previousUnclosed: 0)
    ]
    values = [Value(type: "", payload: [])]
  }

  /// Folds the event and says whether it is void. Its past must have been folded.
  mutating func apply(_ event: Event, _ past: CausalIndex.Past, _ index: inout CausalIndex) -> Bool {
    while outcomes.count < index.devices.count { outcomes.append([]) }
    let base = past.isWhole ? best : bestOf(past)
    let leads =
      leader.map { $0 == event.dot.device ? event.dot.sequence : past.context[$0] } ?? 0
    let rank = Rank(leads: leads, key: event.key)
    let before = base.sequence > 0 ? outcome(base).view : RegisterFold.root
    guard event.key > past.highest, let kept = kept(event.action, of: before, &index) else {
      outcomes[Int(past.author)].append(
        Outcome(
          view: RegisterFold.root, bestDevice: base.device, bestSequence: base.sequence, rank: rank,
          firstEntry: RegisterFold.none))
      voids.append(event.dot)
      return true
    }
    var closed = before
    while closed != kept {
      note(Closing(device: past.author, sequence: past.sequence, older: nodes[Int(closed)].closing), of: closed)
      closed = nodes[Int(closed)].below
    }
    let values = event.action.values
    let first = values.isEmpty ? RegisterFold.none : Int32(nodes.count)
    var top = kept
    for (place, value) in values.enumerated() {
      top = push(value, at: place, on: top, past)
    }
    let wins = base.sequence == 0 || outcome(base).rank < rank
    outcomes[Int(past.author)].append(
      Outcome(
        view: top, bestDevice: wins ? past.author : base.device, bestSequence: wins ? past.sequence : base.sequence,
        rank: rank, firstEntry: first))
    if best.sequence == 0 || outcome(best).rank < rank { best = (past.author, past.sequence) }
    return false
  }

  private func outcome(_ dot: (device: Int32, sequence: Int)) -> Outcome {
    outcomes[Int(dot.device)][dot.sequence - 1]
  }

  /// The winner among what the author held.
  private func bestOf(_ past: CausalIndex.Past) -> (device: Int32, sequence: Int) {
    var result: (device: Int32, sequence: Int) = (0, 0)
    func consider(_ device: Int32, _ sequence: Int) {
      let candidate = outcomes[Int(device)][sequence - 1]
      guard candidate.bestSequence > 0 else { return }
      let dot = (device: candidate.bestDevice, sequence: candidate.bestSequence)
      if result.sequence == 0 || outcome(result).rank < outcome(dot).rank { result = dot }
    }
    if past.sequence > 1 { consider(past.author, past.sequence - 1) }
    for change in past.changes { consider(change.device, change.sequence) }
    return result
  }

  /// The top of what the action leaves of its author's stack, before it puts anything on; nil if it doesn't fit.
  private func kept(_ action: Action, of view: Int32, _ index: inout CausalIndex) -> Int32? {
    switch action {
    case .push(let on, let values):
      guard !values.isEmpty else { return nil }
      guard let on else { return view == RegisterFold.root ? view : nil }
      return node(of: on, &index) == view ? view : nil
    case .pop(let entries):
      guard !entries.isEmpty else { return nil }
      var top = view
      for id in entries.reversed() {
        guard top != RegisterFold.root, node(of: id, &index) == top else { return nil }
        top = nodes[Int(top)].below
      }
      return top
    case .popToRoot: return RegisterFold.root
    case .set(let keep, _):
      guard keep.count <= Int(nodes[Int(view)].depth) else { return nil }
      var top = view
      while Int(nodes[Int(top)].depth) > keep.count { top = nodes[Int(top)].below }
      var entry = top
      for id in keep.reversed() {
        guard node(of: id, &index) == entry else { return nil }
        entry = nodes[Int(entry)].below
      }
      return top
    case .replace(let entry, _):
      guard view != RegisterFold.root, node(of: entry, &index) == view else { return nil }
      return nodes[Int(view)].below
    }
  }

  private func node(of id: EntryID, _ index: inout CausalIndex) -> Int32? {
    guard let device = index.place(of: id.dot.device), Int(device) < outcomes.count, id.dot.sequence >= 1,
      id.dot.sequence <= outcomes[Int(device)].count
    else { return nil }
    let first = outcomes[Int(device)][id.dot.sequence - 1].firstEntry
    guard first != RegisterFold.none, id.index >= 0, id.index < nodes.count - Int(first) else { return nil }
    let place = Int(first) + id.index
    return nodes[place].device == device && nodes[place].sequence == id.dot.sequence ? Int32(place) : nil
  }

  private mutating func push(_ value: Value, at place: Int, on below: Int32, _ past: CausalIndex.Past) -> Int32 {
    let new = Int32(nodes.count)
    let last = nodes[0].previousUnclosed
    nodes.append(
      Node(
        device: past.author, index: Int32(place), sequence: past.sequence, below: below,
        depth: nodes[Int(below)].depth + 1, nextUnclosed: 0, previousUnclosed: last))
    values.append(value)
    nodes[Int(last)].nextUnclosed = new
    nodes[0].previousUnclosed = new
    return new
  }

  private mutating func note(_ closing: Closing, of node: Int32) {
    if nodes[Int(node)].closing == RegisterFold.none {
      let (previous, next) = (nodes[Int(node)].previousUnclosed, nodes[Int(node)].nextUnclosed)
      nodes[Int(previous)].nextUnclosed = next
      nodes[Int(next)].previousUnclosed = previous
    }
    closings.append(closing)
    nodes[Int(node)].closing = Int32(closings.count - 1)
  }

  /// The shown entries' nodes, bottom to top. O(depth).
  var rows: [Int32] {
    var result: [Int32] = []
    var entry = best.sequence > 0 ? outcome(best).view : RegisterFold.root
    while entry != RegisterFold.root {
      result.append(entry)
      entry = nodes[Int(entry)].below
    }
    result.reverse()
    return result
  }

  func id(of node: Int32, _ index: CausalIndex) -> EntryID {
    let entry = nodes[Int(node)]
    return EntryID(Dot(index.devices[Int(entry.device)], entry.sequence), Int(entry.index))
  }

  /// All but forks, in no order. O(entries shown and entries never closed).
  ///
  /// An event is overridden if it closed an entry that is shown, or created one that is neither shown nor closed by any
  /// event. The events on the winner's line of bases do neither: what they closed is gone from the winner's stack, and
  /// what they created is in it or was closed on the way.
  func conflicts(_ index: CausalIndex) -> [Conflict] {
    let rows = rows
    let shown = Set(rows)
    var overridden: Set<Dot> = []
    var entry = nodes[0].nextUnclosed
    while entry != RegisterFold.root {
      if !shown.contains(entry) { overridden.insert(id(of: entry, index).dot) }
      entry = nodes[Int(entry)].nextUnclosed
    }
    for row in rows {
      var closing = nodes[Int(row)].closing
      while closing != RegisterFold.none {
        let closed = closings[Int(closing)]
        overridden.insert(Dot(index.devices[Int(closed.device)], closed.sequence))
        closing = closed.older
      }
    }
    return voids.map(Conflict.noop) + overridden.map(Conflict.overridden)
  }
}
