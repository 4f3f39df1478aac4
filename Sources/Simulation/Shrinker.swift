/// Makes a scenario that breaks a law shorter, as long as it breaks the same law: fewer steps, devices, daemons and
/// stacks, plainer settings, less time. (Delta debugging: Zeller and Hildebrandt 2002.)
public struct Shrinker: Sendable {
  /// The shortest that was found.
  public private(set) var scenario: Scenario
  public let law: Law
  /// How many steps there were.
  public let before: Int
  /// How many worlds were run.
  public private(set) var runs = 0
  private let most: Int
  private let sabotage: Law?

  /// - Returns: nil if the scenario breaks no law.
  public init?(_ scenario: Scenario, most: Int = 1500, sabotage: Law? = nil) {
    guard let violation = Simulation(scenario, sabotage: sabotage).violation else { return nil }
    law = violation.law
    before = scenario.count
    self.scenario = scenario
    self.most = most
    self.sabotage = sabotage
    shorten(to: violation.at)
    while shrinkOnce(), runs < most {}
    let last = Simulation(self.scenario, sabotage: sabotage).violation
    self.scenario.why = ["Broke: \(law.rawValue).", "\(last?.detail.prefix(110) ?? "")"]
  }

  /// - Returns: whether the scenario became shorter.
  private mutating func shrinkOnce() -> Bool {
    let old = scenario
    dropSteps()
    dropDevices()
    dropDaemons()
    dropStacks()
    setPlain()
    shortenTimes()
    simplify()
    return scenario != old
  }

  /// Takes a candidate if it breaks the same law.
  @discardableResult
  private mutating func take(_ candidate: Scenario) -> Bool {
    guard candidate != scenario, runs < most, candidate.setting.isWhole,
      candidate.steps.allSatisfy({ candidate.isPossible($0.what) })
    else { return false }
    runs += 1
    guard Simulation(candidate, sabotage: sabotage).violation?.law == law else { return false }
    scenario = candidate
    return true
  }

  private mutating func change(_ change: (inout Scenario) -> Void) -> Bool {
    var candidate = scenario
    change(&candidate)
    return take(candidate)
  }

  /// Nothing after the violation counts.
  private mutating func shorten(to at: Int) {
    guard at < scenario.end else { return }
    _ = change {
      $0.steps.removeAll { $0.at > at }
      $0.end = at + 1
    }
  }

  private mutating func dropSteps() {
    var size = max(1, scenario.steps.count / 2)
    while true {
      var from = 0
      while from < scenario.steps.count {
        let end = min(from + size, scenario.steps.count)
        if !change({ $0.steps.removeSubrange(from..<end) }) { from = end }
      }
      if size == 1 { return }
      size = max(1, size / 2)
    }
  }

  private mutating func dropDevices() {
    for number in (0..<scenario.setting.devices).reversed() where scenario.setting.devices > 1 {
      _ = change { scenario in
        scenario.setting.homes.remove(at: number)
        scenario.keepSteps { place in
          guard case .device(let other) = place else { return place }
          return other == number ? nil : .device(other > number ? other - 1 : other)
        }
      }
    }
  }

  private mutating func dropDaemons() {
    for number in (0..<scenario.setting.daemons).reversed() where scenario.setting.daemons > 1 {
      func renamed(_ daemon: Int) -> Int {
        daemon > number ? daemon - 1 : max(0, daemon == number ? number - 1 : daemon)
      }
      _ = change { scenario in
        scenario.setting.daemons -= 1
        scenario.setting.homes = scenario.setting.homes.map(renamed)
        var links: [Setting.Link] = []
        for link in scenario.setting.links {
          let new = Setting.Link(from: renamed(link.from), to: renamed(link.to))
          if new.from != new.to, !links.contains(new) { links.append(new) }
        }
        scenario.setting.links = links
        scenario.keepSteps { place in
          guard case .daemon(let other) = place else { return place }
          return other == number ? nil : .daemon(renamed(other))
        }
        for place in scenario.steps.indices {
          guard case .fault(var fault) = scenario.steps[place].what, fault.kind == .moved else { continue }
          fault.amount = renamed(fault.amount)
          scenario.steps[place].what = .fault(fault)
        }
      }
    }
    for place in scenario.setting.links.indices.reversed() { _ = change { $0.setting.links.remove(at: place) } }
  }

  private mutating func dropStacks() {
    for number in (0..<scenario.setting.stacks.count).reversed() where scenario.setting.stacks.count > 1 {
      _ = change { scenario in
        scenario.setting.stacks.remove(at: number)
        scenario.steps = scenario.steps.compactMap { step in
          guard case .act(let device, let stack, let doing, let id) = step.what else { return step }
          if stack == number { return nil }
          let new = stack > number ? stack - 1 : stack
          return Step(at: step.at, what: .act(device: device, stack: new, doing, id: id))
        }
      }
    }
  }

  private mutating func setPlain() {
    let plain = Setting()
    _ = change { $0.setting.policy = plain.policy }
    _ = change { $0.setting.latency = plain.latency }
    let numbers: [WritableKeyPath<Setting, Int>] = [
      \.slowestJob, \.credit, \.eventsAnAppend, \.batchBytes, \.commitBytes, \.maximumBacklog, \.idleStacks,
      \.highWaterMark,
    ]
    for path in numbers { _ = change { $0.setting[keyPath: path] = plain[keyPath: path] } }
  }

  private mutating func shortenTimes() {
    // From the last pause to the first, so that a change moves what comes after it only.
    for place in scenario.steps.indices.reversed() {
      let gap = scenario.steps[place].at - (place > 0 ? scenario.steps[place - 1].at : 0)
      for share in [0, gap / 4, gap / 2] where gap > 50 {
        let earlier = gap - share
        let isTaken = change { scenario in
          for later in place..<scenario.steps.count { scenario.steps[later].at -= earlier }
          scenario.end -= earlier
        }
        if isTaken { break }
      }
    }
    let last = scenario.steps.last?.at ?? 0
    for end in [last + 1, last + (scenario.end - last) / 2] where end < scenario.end { _ = change { $0.end = end } }
    for place in scenario.steps.indices {
      guard case .fault(let fault) = scenario.steps[place].what, fault.lasts > 100 else { continue }
      for lasts in [100, fault.lasts / 4, fault.lasts / 2] {
        var shorter = fault
        shorter.lasts = lasts
        if change({ $0.steps[place].what = .fault(shorter) }) { break }
      }
    }
  }

  private mutating func simplify() {
    for place in scenario.steps.indices {
      switch scenario.steps[place].what {
      case .act(let device, let stack, let doing, let id):
        if id != nil { _ = change { $0.steps[place].what = .act(device: device, stack: stack, doing, id: nil) } }
        if doing != .push(1) {
          _ = change { $0.steps[place].what = .act(device: device, stack: stack, .push(1), id: id) }
        }
      case .fault(let fault) where fault.places.count > 1 && fault.kind != .cloned:
        for place in fault.places {
          var fewer = fault
          fewer.places.removeAll { $0 == place }
          if let at = scenario.steps.firstIndex(where: { $0.what == .fault(fault) }) {
            if change({ $0.steps[at].what = .fault(fewer) }) { break }
          }
        }
      case .fault, .again: break
      }
    }
  }
}

extension Scenario {
  /// Renames everybody; who is nil is gone, with what was to happen to them.
  fileprivate mutating func keepSteps(_ renamed: (Place) -> Place?) {
    steps = steps.compactMap { step in
      switch step.what {
      case .act(let device, let stack, let doing, let id):
        guard let new = renamed(.device(device)) else { return nil }
        return Step(at: step.at, what: .act(device: new.number, stack: stack, doing, id: id))
      case .again(let device, let id):
        return renamed(.device(device)).map { Step(at: step.at, what: .again(device: $0.number, id: id)) }
      case .fault(var fault):
        let places = fault.places.compactMap(renamed)
        if places.count < fault.places.count, fault.kind == .cloned || places.isEmpty { return nil }
        fault.places = places
        return Step(at: step.at, what: .fault(fault))
      }
    }
  }
}
