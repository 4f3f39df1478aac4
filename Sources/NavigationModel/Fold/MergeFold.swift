/// The fold of policy `merge`: a tree of entries, folded event by event in any order that causality allows, without
/// rollback.
///
/// A push asserts the entries that it creates and all beneath them; a removal covers the assertions that its author
/// held. An entry keeps only its **live tags**: of each device the newest push at or above it that no removal of it has
/// seen and that no open child stands for. A covered tag moves to the parent, which it still asserts. So an entry is
/// open exactly while it has a live tag or an open child, and push and pop are O(1) in the size of the history (the same
/// thought as the tags of an ORSWOT; Bieniusa et al. 2012).
///
/// Why a tag that moves to a parent can't have been covered there before: a removal that isn't void names, with an
/// entry, all of its children that were open to its author. So a removal of the parent that had seen the tag either
/// named the child too, and moved the tag at the same time, or stands on one that had.
struct MergeFold {
  static let root: Int32 = 0
  static let none: Int32 = -1

  struct Tag {
    var device: Int32
    var sequence: Int
  }

  /// An entry. Links are indices into `nodes`.
  struct Node {
    var device: Int32
    var index: Int32
    var sequence: Int
    var parent: Int32
    var depth: Int32
    /// Open children, in no order.
    var firstChild: Int32 = MergeFold.none
    var nextSibling: Int32 = MergeFold.none
    var previousSibling: Int32 = MergeFold.none
    /// All children that ever were, the newest first.
    var newestChild: Int32 = MergeFold.none
    var olderChild: Int32 = MergeFold.none
    /// The newest of the removals that named it, in `removals`.
    var removal: Int32 = MergeFold.none
    var isOpen = true
    var isForgotten = false
    /// The highest key of the pushes at it or above it, those above open children left out.
    var rank: EventKey
    /// The first of its live tags, in `cells`.
    var tag: Int32 = MergeFold.none
  }

  /// A live tag of an entry, or a free cell.
  struct Cell {
    var device: Int32
    var next: Int32
    var sequence: Int
  }

  /// A removal that named an entry.
  struct Removal {
    var device: Int32
    var sequence: Int
    var older: Int32
  }

  /// An event that closed all that its author held, but for a few entries.
  struct Sweep {
    var sequence: Int
    var keep: [Int32]
    /// How many nodes there were: what is newer, its author can't have held.
    var nodesBefore: Int32
  }

  var nodes: [Node]
  /// The nodes' values, by the same index.
  var values: [Value]
  var cells: [Cell] = []
  /// The first of the cells that are free.
  var freeCell = MergeFold.none
  var removals: [Removal] = []
  /// The sweeps of each device, by ascending sequence.
  var sweeps: [[Sweep]] = []
  /// The first entry that each event of a device created, by sequence - 1.
  var firstEntries: [[Int32]] = []
  /// Of forgotten entries, what still asserts their parents: of each device the newest.
  var ghosts: [Int32: [Tag]] = [:]
  var forgotten = 0
  var voids: [Dot] = []
  /// The shown entries, bottom to top, if `rowsAreCurrent`.
  var rows: [Int32] = []
  var rowsAreCurrent = true
  /// Room for `refreshRows`: the highest key at or above each open entry.
  var newest: [EventKey] = []
  /// How many questions about an author's view the live tags couldn't answer.
  var slowChecks = 0

  init() {
    nodes = [
      Node(
        device: MergeFold.none, index: 0, sequence: 0, parent: MergeFold.none, depth: 0, rank: CausalIndex.noKey)
    ]
    values = [Value(type: "", payload: [])]
  }

  // MARK: One event

  /// Folds the event and says whether it is void. Its past must have been folded.
  mutating func apply(_ event: Event, _ past: CausalIndex.Past, _ index: inout CausalIndex) -> Bool {
    while firstEntries.count < index.devices.count {
      firstEntries.append([])
      sweeps.append([])
    }
    guard event.key > past.highest, let plan = plan(event.action, past, &index) else {
      firstEntries[Int(past.author)].append(MergeFold.none)
      voids.append(event.dot)
      return true
    }
    let nodesBefore = Int32(nodes.count)
    switch plan.removal {
    case .nothing: break
    case .entries(let entries):
      for node in entries { remove(node, past, index) }
    case .allBut(let keep):
      for node in openNodes().reversed() where index.holds(past, nodes[Int(node)].device, nodes[Int(node)].sequence) {
        if !keep.contains(node) { remove(node, past, index) }
      }
      sweeps[Int(past.author)].append(Sweep(sequence: past.sequence, keep: keep, nodesBefore: nodesBefore))
    }
    let values = event.action.values
    firstEntries[Int(past.author)].append(values.isEmpty ? MergeFold.none : Int32(nodes.count))
    if !values.isEmpty { push(values, on: plan.base, event.key, past, index) }
    return false
  }

  private struct Plan {
    enum Removal {
      case nothing
      /// Above first.
      case entries([Int32])
      case allBut([Int32])
    }

    var removal: Removal
    /// What new entries are put on.
    var base: Int32
  }

  /// What the action does, nil if it is void in its author's view.
  private mutating func plan(_ action: Action, _ past: CausalIndex.Past, _ index: inout CausalIndex) -> Plan? {
    switch action {
    case .push(let on, let values):
      guard !values.isEmpty else { return nil }
      guard let on else { return Plan(removal: .nothing, base: MergeFold.root) }
      guard let base = node(of: on, &index), isOpen(base, past, index) else { return nil }
      return Plan(removal: .nothing, base: base)
    case .pop(let entries):
      guard let closed = closable(entries, past, &index) else { return nil }
      return Plan(removal: .entries(closed), base: MergeFold.root)
    case .popToRoot:
      return Plan(removal: .allBut([]), base: MergeFold.root)
    case .set(let keep, _):
      var kept: [Int32] = []
      for id in keep {
        guard let node = node(of: id, &index), isOpen(node, past, index), !kept.contains(node) else { return nil }
        kept.append(node)
      }
      for node in kept {
        let parent = nodes[Int(node)].parent
        guard parent == MergeFold.root || kept.contains(parent) else { return nil }
      }
      return Plan(removal: .allBut(kept), base: kept.last ?? MergeFold.root)
    case .replace(let entry, _):
      guard let closed = closable([entry], past, &index) else { return nil }
      return Plan(removal: .entries(closed), base: nodes[Int(closed[0])].parent)
    }
  }

  /// The entries' nodes, those above first, if all are open to the author and leave no child open to it; else nil.
  private mutating func closable(_ entries: [EntryID], _ past: CausalIndex.Past, _ index: inout CausalIndex) -> [Int32]?
  {
    var closed: [Int32] = []
    closed.reserveCapacity(entries.count)
    for id in entries {
      guard let node = node(of: id, &index), isOpen(node, past, index) else { return nil }
      closed.append(node)
    }
    guard !closed.isEmpty else { return nil }
    if closed.count > 1 {
      guard Set(closed).count == closed.count else { return nil }
      closed.sort { nodes[Int($0)].depth > nodes[Int($1)].depth }
    }
    for node in closed {
      // What its author saw open is an open child, or one that is closed by something it hadn't seen.
      var child = past.isWhole ? nodes[Int(node)].firstChild : nodes[Int(node)].newestChild
      while child != MergeFold.none {
        if !closed.contains(child), isOpen(child, past, index) { return nil }
        child = past.isWhole ? nodes[Int(child)].nextSibling : nodes[Int(child)].olderChild
      }
    }
    return closed
  }

  /// The entry of that id, nil if there is none.
  mutating func node(of id: EntryID, _ index: inout CausalIndex) -> Int32? {
    guard let device = index.place(of: id.dot.device), Int(device) < firstEntries.count, id.dot.sequence >= 1,
      id.dot.sequence <= firstEntries[Int(device)].count
    else { return nil }
    let first = firstEntries[Int(device)][id.dot.sequence - 1]
    guard first != MergeFold.none, id.index >= 0, id.index < nodes.count - Int(first) else { return nil }
    let place = Int(first) + id.index
    guard nodes[place].device == device, nodes[place].sequence == id.dot.sequence, !nodes[place].isForgotten else {
      return nil
    }
    return Int32(place)
  }

  // MARK: Putting on and taking off

  private mutating func push(
    _ values: [Value], on base: Int32, _ key: EventKey, _ past: CausalIndex.Past, _ index: CausalIndex
  ) {
    if rowsAreCurrent, base != rows.last ?? MergeFold.root { rowsAreCurrent = false }
    var parent = base
    for (place, value) in values.enumerated() {
      let new = Int32(nodes.count)
      nodes.append(
        Node(
          device: past.author, index: Int32(place), sequence: past.sequence, parent: parent,
          depth: nodes[Int(parent)].depth + 1, rank: key))
      self.values.append(value)
      nodes[Int(new)].olderChild = nodes[Int(parent)].newestChild
      nodes[Int(parent)].newestChild = new
      link(new, under: parent)
      if rowsAreCurrent { rows.append(new) }
      parent = new
    }
    addCell(Tag(device: past.author, sequence: past.sequence), to: Int(parent))
    var entry = base
    while entry != MergeFold.root, !nodes[Int(entry)].isOpen {  // in use elsewhere: it comes back
      nodes[Int(entry)].isOpen = true
      rowsAreCurrent = false
      noteSweeps(of: entry, index)
      link(entry, under: nodes[Int(entry)].parent)
      entry = nodes[Int(entry)].parent
    }
  }

  /// Takes off an entry what the author of a removal had seen of it.
  private mutating func remove(_ node: Int32, _ past: CausalIndex.Past, _ index: CausalIndex) {
    let at = Int(node)
    removals.append(Removal(device: past.author, sequence: past.sequence, older: nodes[at].removal))
    nodes[at].removal = Int32(removals.count - 1)
    guard nodes[at].isOpen else { return }
    let parent = nodes[at].parent
    var before = MergeFold.none
    var cell = nodes[at].tag
    while cell != MergeFold.none {
      let tag = cells[Int(cell)]
      if index.holds(past, tag.device, tag.sequence) {
        if before == MergeFold.none { nodes[at].tag = tag.next } else { cells[Int(before)].next = tag.next }
        give(cell, to: parent)
      } else {
        before = cell
      }
      cell = tag.next
    }
    if nodes[at].firstChild == MergeFold.none, nodes[at].tag == MergeFold.none { close(node) }
  }

  /// Hands on a live tag that its entry gave up; of each device the newest is enough.
  private mutating func give(_ cell: Int32, to node: Int32) {
    let tag = cells[Int(cell)]
    if node != MergeFold.root {
      var own = nodes[Int(node)].tag
      while own != MergeFold.none {
        if cells[Int(own)].device == tag.device {
          if cells[Int(own)].sequence < tag.sequence { cells[Int(own)].sequence = tag.sequence }
          break
        }
        own = cells[Int(own)].next
      }
      if own == MergeFold.none {
        cells[Int(cell)].next = nodes[Int(node)].tag
        nodes[Int(node)].tag = cell
        return
      }
    }
    cells[Int(cell)].next = freeCell
    freeCell = cell
  }

  mutating func addCell(_ tag: Tag, to node: Int) {
    let cell = Cell(device: tag.device, next: nodes[node].tag, sequence: tag.sequence)
    if freeCell == MergeFold.none {
      nodes[node].tag = Int32(cells.count)
      cells.append(cell)
    } else {
      let free = Int(freeCell)
      freeCell = cells[free].next
      nodes[node].tag = Int32(free)
      cells[free] = cell
    }
  }

  /// The live tags of an entry.
  func tags(of node: Int32) -> [Tag] {
    var result: [Tag] = []
    var cell = nodes[Int(node)].tag
    while cell != MergeFold.none {
      result.append(Tag(device: cells[Int(cell)].device, sequence: cells[Int(cell)].sequence))
      cell = cells[Int(cell)].next
    }
    return result
  }

  private mutating func close(_ node: Int32) {
    let at = Int(node)
    let parent = nodes[at].parent
    nodes[at].isOpen = false
    if rowsAreCurrent { if rows.last == node { rows.removeLast() } else { rowsAreCurrent = false } }
    let previous = nodes[at].previousSibling
    let next = nodes[at].nextSibling
    if previous != MergeFold.none {
      nodes[Int(previous)].nextSibling = next
    } else {
      nodes[Int(parent)].firstChild = next
    }
    if next != MergeFold.none { nodes[Int(next)].previousSibling = previous }
    nodes[at].previousSibling = MergeFold.none
    nodes[at].nextSibling = MergeFold.none
    if parent != MergeFold.root, nodes[at].rank > nodes[Int(parent)].rank {  // a branch's newest push is not forgotten
      nodes[Int(parent)].rank = nodes[at].rank
    }
  }

  mutating func link(_ node: Int32, under parent: Int32) {
    let first = nodes[Int(parent)].firstChild
    nodes[Int(node)].nextSibling = first
    nodes[Int(node)].previousSibling = MergeFold.none
    if first != MergeFold.none { nodes[Int(first)].previousSibling = node }
    nodes[Int(parent)].firstChild = node
  }

  /// A sweep doesn't name entries that are closed when it comes. When one of them opens again, what swept it is noted.
  private mutating func noteSweeps(of node: Int32, _ index: CausalIndex) {
    for (device, list) in sweeps.enumerated() {
      for sweep in list.reversed() {
        guard knew(node, Int32(device), sweep, index) else { break }
        guard !sweep.keep.contains(node) else { continue }
        var removal = nodes[Int(node)].removal
        while removal != MergeFold.none {
          let known = removals[Int(removal)]
          if known.device == device, known.sequence == sweep.sequence { break }
          removal = known.older
        }
        guard removal == MergeFold.none else { continue }
        removals.append(
          Removal(device: Int32(device), sequence: sweep.sequence, older: nodes[Int(node)].removal))
        nodes[Int(node)].removal = Int32(removals.count - 1)
      }
    }
  }

  /// Whether the author of a sweep held the entry. If not, it didn't at its earlier sweeps.
  func knew(_ node: Int32, _ device: Int32, _ sweep: Sweep, _ index: CausalIndex) -> Bool {
    guard node < sweep.nodesBefore else { return false }
    let entry = nodes[Int(node)]
    return entry.sequence <= index.known(entry.device, to: device, at: sweep.sequence)
  }
}
