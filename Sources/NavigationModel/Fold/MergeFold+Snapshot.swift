extension MergeFold {
  func write(to numbers: inout [Int]) {
    numbers.append(nodes.count - 1)
    for (place, node) in nodes.enumerated().dropFirst() {
      numbers += [
        Int(node.device), Int(node.index), node.sequence, Int(node.parent), Int(node.removal),
        (node.isOpen ? 1 : 0) + (node.isForgotten ? 2 : 0),
      ]
      numbers.append(node.rank)
      write(tags(of: Int32(place)), to: &numbers)
      write(ghosts[Int32(place)] ?? [], to: &numbers)
    }
    numbers.append(removals.count)
    for removal in removals { numbers += [Int(removal.device), removal.sequence, Int(removal.older)] }
    numbers.append(firstEntries.count)
    for (entries, sweeps) in zip(firstEntries, sweeps) {
      numbers.append(entries.count)
      numbers += entries.map(Int.init)
      numbers.append(sweeps.count)
      for sweep in sweeps {
        numbers.append(sweep.sequence)
        numbers.append(Int(sweep.nodesBefore))
        numbers.append(sweep.keep.count)
        numbers += sweep.keep.map(Int.init)
      }
    }
    numbers.append(voids.count)
    for dot in voids { numbers.append(dot) }
  }

  private func write(_ tags: [Tag], to numbers: inout [Int]) {
    numbers.append(tags.count)
    for tag in tags { numbers += [Int(tag.device), tag.sequence] }
  }

  mutating func read(
    from reader: inout NumberReader, values: [Value], _ index: CausalIndex
  ) throws(SnapshotError) {
    let devices = 0...max(0, index.devices.count - 1)
    let count = try reader.count()
    guard count + 1 == values.count, count < Int(Int32.max), count == 0 || !index.devices.isEmpty else {
      throw .damaged
    }
    self.values = values
    for place in 0..<count {
      let device = try reader.small(in: devices)
      let entry = try reader.small(in: 0...Int(Int32.max))
      let sequence = try reader.number(in: 1...Dot.maximumSequence)
      let parent = try reader.small(in: 0...place)
      let removal = try reader.small(in: -1...Int(Int32.max))
      let flags = try reader.number(in: 0...2)
      var node = Node(
        device: device, index: entry, sequence: sequence, parent: parent, depth: nodes[Int(parent)].depth + 1,
        rank: try reader.key())
      node.removal = removal
      node.isOpen = flags & 1 == 1
      node.isForgotten = flags & 2 == 2
      if node.isForgotten {
        forgotten += 1
      } else {
        node.olderChild = nodes[Int(parent)].newestChild
        nodes[Int(parent)].newestChild = Int32(place + 1)
      }
      let tags = try tags(from: &reader, devices)
      nodes.append(node)
      for tag in tags.reversed() { addCell(tag, to: place + 1) }
      let ghosts = try self.tags(from: &reader, devices)
      if !ghosts.isEmpty { self.ghosts[Int32(place + 1)] = ghosts }
      if node.isOpen {
        guard parent == MergeFold.root || nodes[Int(parent)].isOpen else { throw .damaged }
        link(Int32(place + 1), under: parent)
      }
    }
    for place in 0..<(try reader.count()) {
      removals.append(
        Removal(
          device: try reader.small(in: devices), sequence: try reader.number(in: 1...Dot.maximumSequence),
          older: try reader.small(in: -1...place - 1)))
    }
    guard nodes.allSatisfy({ Int($0.removal) < removals.count }) else { throw .damaged }
    for _ in 0..<(try reader.count()) {
      var entries: [Int32] = []
      for _ in 0..<(try reader.count()) { entries.append(try reader.small(in: -1...count)) }
      firstEntries.append(entries)
      var list: [Sweep] = []
      for _ in 0..<(try reader.count()) {
        var sweep = Sweep(
          sequence: try reader.number(in: 1...Dot.maximumSequence), keep: [],
          nodesBefore: try reader.small(in: 0...count + 1))
        for _ in 0..<(try reader.count()) { sweep.keep.append(try reader.small(in: 0...count)) }
        list.append(sweep)
      }
      sweeps.append(list)
    }
    guard firstEntries.count <= index.devices.count,
      firstEntries.indices.allSatisfy({ firstEntries[$0].count == index.count(Int32($0)) })
    else { throw .damaged }
    for _ in 0..<(try reader.count()) { voids.append(Dot(try reader.device(), try reader.number())) }
    rowsAreCurrent = false
  }

  private func tags(from reader: inout NumberReader, _ devices: ClosedRange<Int>) throws(SnapshotError) -> [Tag] {
    var tags: [Tag] = []
    for _ in 0..<(try reader.count()) {
      tags.append(
        Tag(device: try reader.small(in: devices), sequence: try reader.number(in: 1...Dot.maximumSequence)))
    }
    return tags
  }
}
