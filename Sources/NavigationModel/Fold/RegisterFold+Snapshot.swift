extension RegisterFold {
  func write(to numbers: inout [Int]) {
    numbers.append(nodes.count - 1)
    for node in nodes.dropFirst() {
      numbers += [Int(node.device), Int(node.index), node.sequence, Int(node.below), Int(node.closing)]
    }
    numbers.append(closings.count)
    for closing in closings { numbers += [Int(closing.device), closing.sequence, Int(closing.older)] }
    numbers.append(outcomes.count)
    for list in outcomes {
      numbers.append(list.count)
      for outcome in list {
        numbers += [
          Int(outcome.view), Int(outcome.bestDevice), outcome.bestSequence, outcome.rank.leads,
          Int(outcome.firstEntry),
        ]
        numbers.append(outcome.rank.key)
      }
    }
    numbers += [Int(best.device), best.sequence, voids.count]
    for dot in voids { numbers.append(dot) }
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
      let below = try reader.small(in: 0...place)
      var node = Node(
        device: device, index: entry, sequence: sequence, below: below, depth: nodes[Int(below)].depth + 1,
        nextUnclosed: 0, previousUnclosed: 0)
      node.closing = try reader.small(in: -1...Int(Int32.max))
      if node.closing == RegisterFold.none {
        node.previousUnclosed = nodes[0].previousUnclosed
        nodes[Int(node.previousUnclosed)].nextUnclosed = Int32(place + 1)
        nodes[0].previousUnclosed = Int32(place + 1)
      }
      nodes.append(node)
    }
    for place in 0..<(try reader.count()) {
      closings.append(
        Closing(
          device: try reader.small(in: devices), sequence: try reader.number(in: 1...Dot.maximumSequence),
          older: try reader.small(in: -1...place - 1)))
    }
    guard nodes.allSatisfy({ Int($0.closing) < closings.count }) else { throw .damaged }
    for _ in 0..<(try reader.count()) {
      var list: [Outcome] = []
      for _ in 0..<(try reader.count()) {
        let view = try reader.small(in: 0...count)
        let device = try reader.small(in: devices)
        let sequence = try reader.number(in: 0...Dot.maximumSequence)
        let leads = try reader.number()
        let first = try reader.small(in: -1...count)
        list.append(
          Outcome(
            view: view, bestDevice: device, bestSequence: sequence, rank: Rank(leads: leads, key: try reader.key()),
            firstEntry: first))
      }
      outcomes.append(list)
    }
    best = (try reader.small(in: devices), try reader.number(in: 0...Dot.maximumSequence))
    for _ in 0..<(try reader.count()) { voids.append(Dot(try reader.device(), try reader.number())) }
    func isThere(_ device: Int32, _ sequence: Int) -> Bool {
      sequence == 0 || (Int(device) < outcomes.count && sequence <= outcomes[Int(device)].count)
    }
    guard outcomes.count <= index.devices.count, isThere(best.device, best.sequence),
      outcomes.allSatisfy({ $0.allSatisfy { isThere($0.bestDevice, $0.bestSequence) } }),
      outcomes.indices.allSatisfy({ outcomes[$0].count == index.count(Int32($0)) })
    else { throw .damaged }
  }
}
