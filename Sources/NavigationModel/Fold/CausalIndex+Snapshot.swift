extension CausalIndex {
  func write(to numbers: inout [Int]) {
    numbers.append(total)
    numbers.append(highest)
    numbers.append(newestTimestamp.milliseconds)
    numbers.append(newestTimestamp.counter)
    numbers.append(reachesPastChains ? 1 : 0)
    numbers.append(devices.count)
    for (device, chain) in zip(devices, chains) {
      numbers.append(device)
      numbers.append(chain.count)
      for key in chain.highest { numbers.append(key) }
      numbers.append(chain.known.count)
      for (known, steps) in zip(chain.known, chain.steps).sorted(by: { $0.0 < $1.0 }) {
        numbers.append(Int(known))
        numbers.append(steps.count)
        for step in steps {
          numbers.append(step.since)
          numbers.append(step.sequence)
        }
      }
      numbers.append(chain.context.elements.count)
      for element in chain.context.elements {
        numbers.append(element.device)
        numbers.append(element.sequence)
      }
    }
  }

  mutating func read(from reader: inout NumberReader) throws(SnapshotError) {
    let total = try reader.number()
    let highest = try reader.key()
    let newest = Timestamp(milliseconds: try reader.number(), counter: try reader.number())
    let reaches = try reader.number(in: 0...1) == 1
    for place in 0..<(try reader.count()) {
      guard intern(try reader.device()) == place else { throw .damaged }
      var chain = Chain()
      for _ in 0..<(try reader.count()) { chain.highest.append(try reader.key()) }
      for _ in 0..<(try reader.count()) {
        let known = try reader.small(in: Int(chain.known.last ?? -1) + 1...Int(Int32.max))
        var steps: [Step] = []
        for _ in 0..<(try reader.count()) {
          steps.append(
            Step(since: try reader.number(), sequence: try reader.number(in: 1...Dot.maximumSequence)))
        }
        chain.meet(known, steps)
      }
      var elements: [VersionVector.Element] = []
      for _ in 0..<(try reader.count()) {
        elements.append(VersionVector.Element(device: try reader.device(), sequence: try reader.number()))
      }
      guard let context = VersionVector(ascending: elements) else { throw .damaged }
      chain.context = context
      replaceChain(at: place, with: chain)
    }
    for place in chains.indices { notePlaces(of: place) }
    guard chains.reduce(0, { $0 + $1.count }) == total else { throw .damaged }
    restore(total: total, highest: highest, newestTimestamp: newest, reachesPastChains: reaches)
  }
}
