/// How large worlds are made.
public enum ScenarioSize: Sendable {
  /// For tests: a fraction of a second each.
  case small
  case full
}

extension Scenario {
  /// A world as the seed has it: people who act in bursts and then look at what they have for a while, and what goes
  /// wrong around them.
  public init(seed: UInt64, size: ScenarioSize) {
    self.init(seed: seed)
    var random = Randomness(seed: seed, "scenario")
    let isSmall = size == .small
    setting = Setting(random: &random, isSmall: isSmall)
    end = isSmall ? random.int(20_000...90_000) : random.int(60_000...600_000)
    makeFaults(&random)
    let actions = isSmall ? random.int(20...90) : random.int(50...400)
    let intents = random.chance(0.5) ? 0 : 0.3
    let pause = max(50, end * setting.devices / actions)
    for device in 0..<setting.devices {
      var random = Randomness(seed: seed, "person", device)
      makeActions(of: device, pause, ids: intents, &random)
    }
    steps.sort { $0.at < $1.at }
  }

  // MARK: People

  private mutating func makeActions(of device: Int, _ pause: Int, ids: Double, _ random: inout Randomness) {
    var at = 0
    var depth = 0
    var id = 0
    while true {
      at += random.chance(0.6) ? random.int(0...400) : random.wait(mean: 2 * pause)
      guard at < end else { return }
      let doing = Self.doing(&depth, &random)
      let isNamed = random.chance(ids)
      if isNamed { id += 1 }
      let stack = random.int(0...setting.stacks.count - 1)
      steps.append(Step(at: at, what: .act(device: device, stack: stack, doing, id: isNamed ? id : nil)))
      if isNamed, random.chance(0.3) {
        steps.append(Step(at: at + random.int(0...50), what: .again(device: device, id: id)))
      }
    }
  }

  private static func doing(_ depth: inout Int, _ random: inout Randomness) -> Step.Doing {
    switch random.int(0...99) {
    case 0..<(depth > 12 ? 10 : 45):
      if random.chance(0.08) { return .pushLong }
      let count = random.pick([1, 1, 1, 2, 3])
      depth += count
      return .push(count)
    case ..<68:
      let count = random.pick([1, 1, 1, 2, 3])
      depth = max(0, depth - count)
      return .pop(count)
    case ..<76: return .close(random.int(1...2))
    case ..<80:
      depth = 0
      return .popToRoot
    case ..<90: return .set(keep: random.int(0...6), add: random.int(0...2), home: random.chance(0.3))
    case _: return .replace
    }
  }

  // MARK: Faults

  private mutating func makeFaults(_ random: inout Randomness) {
    // Some worlds know one fault and often, others many; a few know none.
    let share = random.pick([0.0, 0.08, 0.2, 0.4, 0.7])
    var means: [FaultKind: Int] = [:]
    let kinds = FaultKind.allCases.filter {
      switch $0 {
      case .backup: false
      case .moved: setting.daemons > 1
      case _: true
      }
    }
    for kind in kinds where random.chance(share) { means[kind] = end / random.int(1...8) }
    if random.chance(0.3) { means[random.pick(kinds)] = end / random.int(4...20) }
    if means[.restored] != nil { means[.backup] = end / 4 }
    for kind in FaultKind.allCases {
      guard let mean = means[kind] else { continue }
      var random = Randomness(seed: seed, kind.rawValue)
      var at = random.wait(mean: mean)
      while at < end {
        if let fault = fault(kind, &random) { steps.append(Step(at: at, what: .fault(fault))) }
        at += random.wait(mean: mean)
      }
    }
  }

  private func fault(_ kind: FaultKind, _ random: inout Randomness) -> Fault? {
    let device = Place.device(random.int(0...setting.devices - 1))
    let daemon = Place.daemon(random.int(0...setting.daemons - 1))
    let either = random.chance(0.5) ? device : daemon
    func with(
      _ places: [Place], _ amount: Int = 0, _ other: Int = 0, for lasts: Int = 0
    ) -> Fault { Fault(kind: kind, places: places, amount: amount, other: other, lasts: lasts) }
    switch kind {
    case .connectionCut: return with([either])
    case .partition, .partitionOut, .partitionIn:
      let all = (0..<setting.devices).map { Place.device($0) } + (0..<setting.daemons).map { Place.daemon($0) }
      let group = all.filter { _ in random.chance(0.4) }
      return group.isEmpty ? nil : with(group, for: random.int(500...60_000))
    case .slowNetwork: return with([], random.int(50...3000), for: random.int(1000...20_000))
    case .duplicates: return with([], random.int(10...200), for: random.int(1000...60_000))
    case .stuck: return with([either], for: random.int(500...(either == device ? 40_000 : 10_000)))
    case .crash: return with([either], for: random.int(50...8000))
    case .crashInDisk: return with([either], random.int(0...6), for: random.int(100...5000))
    case .closed: return with([device], for: random.int(100...end / 2))
    case .diskFull: return with([either], for: random.int(500...20_000))
    case .diskErrors:
      let reads = random.chance(0.7) ? random.int(5...60) : 0
      return with([either], reads, random.chance(0.7) ? random.int(5...60) : 0, for: random.int(500...15_000))
    case .clockJump:
      return either == device
        ? with([device], random.int(-600_000...600_000)) : with([daemon], random.int(-200_000...200_000))
    case .clockAhead: return with([device], 3_600_000)
    case .clockDrift: return with([device], random.int(-20_000...20_000))
    case .backup: return with([device])
    case .restored: return with([device], for: random.int(50...5000))
    case .cloned:
      let other = Place.device(random.int(0...setting.devices - 1))
      return other == device ? nil : with([device, other], for: random.int(50...5000))
    case .lostSeconds:
      let lost = random.chance(0.6) ? random.int(1...1000) : random.int(1000...20_000)
      return with([daemon], lost, lost > 1000 || random.chance(0.3) ? 1 : 0, for: random.int(50...8000))
    case .lostStore: return with([daemon], for: random.int(50...8000))
    case .moved: return with([device], random.int(0...setting.daemons - 1))
    case .newer, .otherVersion: return with([either], for: random.int(1000...60_000))
    case .wasNewer: return with([daemon], for: random.int(50...8000))
    }
  }
}

extension Setting {
  init(random: inout Randomness, isSmall: Bool) {
    let devices = random.chance(0.7) ? random.int(2...4) : random.int(2...(isSmall ? 6 : 12))
    daemons = random.pick([1, 1, 2, 2, 3])
    homes = (0..<devices).map { _ in random.int(0...daemons - 1) }
    // All hang together; some links are followed from both ends, and three daemons may make a ring.
    for daemon in stride(from: 1, to: daemons, by: 1) {
      let other = random.int(0...daemon - 1)
      let isUp = random.chance(0.5)
      links.append(isUp ? Link(from: daemon, to: other) : Link(from: other, to: daemon))
      if random.chance(0.3) { links.append(isUp ? Link(from: other, to: daemon) : Link(from: daemon, to: other)) }
    }
    if daemons == 3, random.chance(0.3) {
      let ring = Link(from: 0, to: 2)
      if !links.contains(ring) { links.append(ring) }
    }
    stacks = ["main", "music", "work"].prefix(random.chance(0.6) ? 1 : random.int(1...3)).map(Setting.stack)
    policy = random.chance(0.6) ? .merge : random.chance(0.5) ? .latest : .lead
    latency = random.chance(0.5) ? 0...2 : 1...random.int(10...400)
    slowestJob = latency.upperBound > 10 ? 60 : 3
    if random.chance(0.4) { credit = random.int(200...8000) }
    if random.chance(0.2) { eventsAnAppend = random.int(1...8) }
    if random.chance(0.5) { batchBytes = random.int(100...2000) }
    if random.chance(0.5) { commitBytes = random.int(100...4000) }
    if random.chance(0.3) {
      maximumBacklog = random.int(8_000...40_000)
      // An append has to fit into it, with values of a few kilobytes.
      eventsAnAppend = min(eventsAnAppend, maximumBacklog / 4_000)
    }
    if random.chance(0.5) { idleStacks = random.int(0...1) }
    if random.chance(0.4) { highWaterMark = random.int(4...32) }
  }
}
