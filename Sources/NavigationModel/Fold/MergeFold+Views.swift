extension MergeFold {
  // MARK: What an author saw

  /// Whether the entry was open to an author that held just that past.
  mutating func isOpen(_ node: Int32, _ past: CausalIndex.Past, _ index: CausalIndex) -> Bool {
    let entry = nodes[Int(node)]
    if past.isWhole { return entry.isOpen }
    guard index.holds(past, entry.device, entry.sequence) else { return false }
    var cell = entry.tag
    while cell != MergeFold.none {
      let tag = cells[Int(cell)]
      if index.holds(past, tag.device, tag.sequence) { return true }
      cell = tag.next
    }
    slowChecks += 1
    let seen = removalsSeen(of: node, past, index)
    return seen.isEmpty || hasAssertion(of: node, notCoveredBy: seen, past, index)
  }

  /// The removals of the entry that the author held; of each device's sweeps the newest is enough, as it had seen most.
  private func removalsSeen(of node: Int32, _ past: CausalIndex.Past, _ index: CausalIndex) -> [Tag] {
    var seen: [Tag] = []
    var removal = nodes[Int(node)].removal
    while removal != MergeFold.none {
      let named = removals[Int(removal)]
      if index.holds(past, named.device, named.sequence) {
        seen.append(Tag(device: named.device, sequence: named.sequence))
      }
      removal = named.older
    }
    for (device, list) in sweeps.enumerated() {
      for sweep in list.reversed() where index.holds(past, Int32(device), sweep.sequence) {
        guard knew(node, Int32(device), sweep, index) else { break }
        guard !sweep.keep.contains(node) else { continue }
        seen.append(Tag(device: Int32(device), sequence: sweep.sequence))
        break
      }
    }
    return seen
  }

  /// Whether the author held a push at or above the entry that none of these removals of it had seen.
  private func hasAssertion(
    of node: Int32, notCoveredBy seen: [Tag], _ past: CausalIndex.Past, _ index: CausalIndex
  ) -> Bool {
    func counts(_ device: Int32, _ sequence: Int) -> Bool {
      index.holds(past, device, sequence)
        && !seen.contains { sequence <= index.known(device, to: $0.device, at: $0.sequence) }
    }
    var waiting = [node]
    while let next = waiting.popLast() {
      let entry = nodes[Int(next)]
      // A device's pushes above an entry come after the entry, so an entry that wasn't held hides none that was.
      guard index.holds(past, entry.device, entry.sequence) else { continue }
      if counts(entry.device, entry.sequence) { return true }
      if !ghosts.isEmpty, let ghosts = ghosts[next], ghosts.contains(where: { counts($0.device, $0.sequence) }) {
        return true
      }
      var child = entry.newestChild
      while child != MergeFold.none {
        waiting.append(child)
        child = nodes[Int(child)].olderChild
      }
    }
    return false
  }

  // MARK: What is shown

  /// The open entries, parents before children, siblings in no order.
  func openNodes() -> [Int32] {
    if rowsAreCurrent { return rows }
    var result: [Int32] = []
    var waiting = [MergeFold.root]
    while let next = waiting.popLast() {
      if next != MergeFold.root { result.append(next) }
      var child = nodes[Int(next)].firstChild
      while child != MergeFold.none {
        waiting.append(child)
        child = nodes[Int(child)].nextSibling
      }
    }
    return result
  }

  /// Walks the tree again if the shown rows could not be kept up to date. O(open entries).
  mutating func refreshRows(_ index: CausalIndex) {
    guard !rowsAreCurrent else { return }
    let open = openNodes()
    if open.contains(where: { nodes[Int($0)].nextSibling != MergeFold.none }) {
      if newest.count < nodes.count {
        newest.append(contentsOf: repeatElement(CausalIndex.noKey, count: nodes.count * 2 - newest.count))
      }
      for node in open { newest[Int(node)] = nodes[Int(node)].rank }
      for node in open.reversed() {
        let parent = Int(nodes[Int(node)].parent)
        if newest[parent] < newest[Int(node)] { newest[parent] = newest[Int(node)] }
      }
    }
    rows.removeAll(keepingCapacity: true)
    var waiting = [MergeFold.root]
    var children: [Int32] = []
    while let next = waiting.popLast() {
      if next != MergeFold.root { rows.append(next) }
      children.removeAll(keepingCapacity: true)
      var child = nodes[Int(next)].firstChild
      while child != MergeFold.none {
        children.append(child)
        child = nodes[Int(child)].nextSibling
      }
      if children.count > 1 {
        children.sort { left, right in
          let (leftKey, rightKey) = (newest[Int(left)], newest[Int(right)])
          return leftKey != rightKey ? leftKey < rightKey : id(of: left, index) < id(of: right, index)
        }
      }
      waiting.append(contentsOf: children.reversed())
    }
    rowsAreCurrent = true
  }

  func id(of node: Int32, _ index: CausalIndex) -> EntryID {
    let entry = nodes[Int(node)]
    return EntryID(Dot(index.devices[Int(entry.device)], entry.sequence), Int(entry.index))
  }

  /// All but forks, in no order. The rows must be current.
  func conflicts(_ index: CausalIndex) -> [Conflict] { voids.map(Conflict.noop) + rowConflicts(index) }

  /// Numbers that change whenever the conflicts about shown entries do. The rows must be current.
  var conflictSignature: [Int32] {
    var result: [Int32] = []
    func note(_ node: Int32) {
      let first = nodes[Int(node)].firstChild
      if first != MergeFold.none, nodes[Int(first)].nextSibling != MergeFold.none {
        result.append(-2 - node)
        var child = first
        while child != MergeFold.none {
          result.append(child)
          child = nodes[Int(child)].nextSibling
        }
      }
      if nodes[Int(node)].removal != MergeFold.none { result.append(contentsOf: [node, nodes[Int(node)].removal]) }
    }
    note(MergeFold.root)
    for row in rows { note(row) }
    return result
  }

  /// The conflicts about shown entries, in no order. The rows must be current.
  func rowConflicts(_ index: CausalIndex) -> [Conflict] {
    var result: [Conflict] = []
    for node in [MergeFold.root] + rows {
      var children: [EntryID] = []
      var child = nodes[Int(node)].firstChild
      while child != MergeFold.none {
        children.append(id(of: child, index))
        child = nodes[Int(child)].nextSibling
      }
      if children.count > 1 {
        result.append(.branches(on: node == MergeFold.root ? nil : id(of: node, index), entries: children.sorted()))
      }
      var removal = nodes[Int(node)].removal
      while removal != MergeFold.none {
        let named = removals[Int(removal)]
        result.append(
          .kept(
            entry: id(of: node, index), removedBy: Dot(index.devices[Int(named.device)], named.sequence)))
        removal = named.older
      }
    }
    return result
  }

  // MARK: Forgetting

  /// Lets go of the entries that removals which every device is known to hold have closed for good.
  ///
  /// The links and numbers of the rest stay; a forgotten entry answers to no name. What its pushes assert of its parent
  /// is kept as the parent's ghosts.
  mutating func forget(stable: VersionVector, _ index: CausalIndex) {
    func isStable(_ removal: Tag) -> Bool { removal.sequence <= stable[index.devices[Int(removal.device)]] }
    // Children stand after their parents, so going backwards an entry's children are settled before it is.
    for node in stride(from: Int32(nodes.count - 1), to: MergeFold.root, by: -1) {
      let entry = nodes[Int(node)]
      guard !entry.isOpen, !entry.isForgotten else { continue }
      var seen: [Tag] = []
      var removal = entry.removal
      while removal != MergeFold.none {
        seen.append(Tag(device: removals[Int(removal)].device, sequence: removals[Int(removal)].sequence))
        removal = removals[Int(removal)].older
      }
      for (device, list) in sweeps.enumerated() {
        for sweep in list.reversed() {
          guard knew(node, Int32(device), sweep, index) else { break }
          guard !sweep.keep.contains(node) else { continue }
          seen.append(Tag(device: Int32(device), sequence: sweep.sequence))
        }
      }
      seen.removeAll { !isStable($0) }
      let everything = CausalIndex.Past(
        author: MergeFold.none, sequence: 0, isWhole: true, context: VersionVector(), highest: CausalIndex.noKey,
        changes: [])
      guard !seen.isEmpty, entry.newestChild == MergeFold.none,
        !hasAssertion(of: node, notCoveredBy: seen, everything, index)
      else { continue }
      forget(node)
    }
  }

  private mutating func forget(_ node: Int32) {
    let parent = nodes[Int(node)].parent
    nodes[Int(node)].isForgotten = true
    forgotten += 1
    values[Int(node)] = Value(type: "", payload: [])
    var asserting = ghosts.removeValue(forKey: node) ?? []
    asserting.append(Tag(device: nodes[Int(node)].device, sequence: nodes[Int(node)].sequence))
    if parent != MergeFold.root {
      for tag in asserting {
        if let place = ghosts[parent]?.firstIndex(where: { $0.device == tag.device }) {
          let newest = max(ghosts[parent]?[place].sequence ?? 0, tag.sequence)
          ghosts[parent]?[place].sequence = newest
        } else {
          ghosts[parent, default: []].append(tag)
        }
      }
    }
    // Out of the parent's list of all children.
    if nodes[Int(parent)].newestChild == node {
      nodes[Int(parent)].newestChild = nodes[Int(node)].olderChild
    } else {
      var child = nodes[Int(parent)].newestChild
      while child != MergeFold.none, nodes[Int(child)].olderChild != node { child = nodes[Int(child)].olderChild }
      if child != MergeFold.none { nodes[Int(child)].olderChild = nodes[Int(node)].olderChild }
    }
  }
}
