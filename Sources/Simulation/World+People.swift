import NavigationClient
import NavigationModel

extension World {
  // MARK: When

  /// People act in bursts, and then look at what they have for a while.
  func planAction(of device: SimulatedDevice) {
    let wait = random.chance(0.6) ? random.int(0...400) : random.wait(mean: 2 * plan.pause)
    after(wait) { [self] in
      guard !isHealed else { return }
      if device.machine != nil, now >= device.stuckUntil { act(on: device) }
      planAction(of: device)
    }
  }

  // MARK: What

  private func act(on device: SimulatedDevice) {
    let stack = random.pick(plan.stacks)
    guard let shown = device.machine?.state(of: stack)?.entries else { return }
    let intent = intent(shown.map(\.value), device.seen[stack] ?? shown, on: device)
    device.seen[stack] = shown
    var id: String?
    if random.chance(plan.intentIDs) {
      device.intents += 1
      id = "i\(device.intents)"
    }
    act(intent, on: stack, id: id, of: device)
    if let id, random.chance(0.3) { repeatAct(SimulatedDevice.Act(stack: stack, intent: intent, id: id), on: device) }
  }

  private func intent(_ shown: [Value], _ seen: [Entry], on device: SimulatedDevice) -> Intent {
    let isDeep = shown.count > 12
    switch random.int(0...99) {
    case 0..<(isDeep ? 10 : 45): return .push((0..<random.pick([1, 1, 1, 2, 3])).map { _ in newValue(device) })
    case ..<68: return .pop(random.pick([1, 1, 1, 2, 3]))
    case ..<76: return .close(seen.suffix(random.int(1...2)).map(\.id))
    case ..<80: return .popToRoot
    case ..<90:
      let keep = shown.prefix(random.int(0...shown.count))
      return .set(keep + (0..<random.int(0...2)).map { _ in random.chance(0.3) ? World.home : newValue(device) })
    case _: return .replace(newValue(device))
    }
  }

  private static let home = Value(type: "Page", payload: Array("\"home\"".utf8))

  /// A value that nothing else has.
  private func newValue(_ device: SimulatedDevice) -> Value {
    device.values += 1
    let long = random.chance(0.05) ? String(repeating: "x", count: random.int(100...3000)) : ""
    return Value(type: "Page", payload: Array("\"\(device.number).\(device.values)\(long)\"".utf8))
  }

  // MARK: What is expected of it

  private func act(_ intent: Intent, on stack: StackName, id: String?, of device: SimulatedDevice) {
    guard device.machine != nil else { return }
    count("actions")
    let before = device.machine!.entries(of: stack)
    let expected = before.map { Self.path($0, after: intent) }
    let answers = Answers<Result<Outcome, ClientError>>()
    let life = device.life
    device.input(self) { machine, now in
      machine.act(intent, on: stack, id: id, at: now) { answers.add($0) }
    }
    guard device.life == life, device.machine != nil else {
      if let id { device.unanswered = SimulatedDevice.Act(stack: stack, intent: intent, id: id) }
      return
    }
    // Told at the end of the turn, or never.
    after(0) { [self] in
      guard let answer = answers.all.first else {
        if let id, device.life != life {
          device.unanswered = SimulatedDevice.Act(stack: stack, intent: intent, id: id)
        }
        return
      }
      switch answer {
      case .success(let outcome):
        note("\(device.name) \(stack.stack): \(Self.shortened(intent)) → \(Self.shortened(outcome.entries))")
        if outcome.isRepeated { return violated(.doneOnce, "\(device.name): a new id was taken for an old one") }
        if let before, outcome.entries.map(\.value) != expected {
          violated(
            .asNavigationPath,
            "\(device.name) \(stack): \(Self.shortened(intent)) on \(Self.shortened(before)) shows "
              + "\(Self.shortened(outcome.entries))")
        }
        guard let dot = outcome.dot, let action = outcome.action else { return count("actions that change nothing") }
        count("events")
        promises.add(Promises.Promise(stack: stack, dot: dot, action: action, device: device.number, id: id))
      case .failure(let error):
        count("actions refused: \(error.code.rawValue)")
        note("\(device.name) \(stack.stack): \(Self.shortened(intent)) fails: \(error)")
      }
    }
  }

  /// The same action is delivered again: by a double tap, or by a program that never had its answer.
  func repeatAct(_ act: SimulatedDevice.Act, on device: SimulatedDevice) {
    let known = promises.promise(of: act.id, device.number)
    let answers = Answers<Result<Outcome, ClientError>>()
    device.input(self) { machine, now in
      machine.act(act.intent, on: act.stack, id: act.id, at: now) { answers.add($0) }
    }
    count("actions repeated")
    after(0) { [self] in
      guard case .success(let outcome) = answers.all.first else { return }
      if let known = known ?? promises.promise(of: act.id, device.number) {
        if !outcome.isRepeated, device.ids.contains(known.dot.device), device.machine?.device == known.dot.device {
          violated(.doneOnce, "\(device.name): \(act.id) was \(known.dot) and is done again")
        }
      } else if let dot = outcome.dot, let action = outcome.action {
        count("events")
        promises.add(
          Promises.Promise(stack: act.stack, dot: dot, action: action, device: device.number, id: act.id))
      }
    }
  }

  /// What a `NavigationPath` comes to.
  private static func path(_ entries: [Entry], after intent: Intent) -> [Value] {
    let path = entries.map(\.value)
    switch intent {
    case .push(let values): return path + values
    case .pop(let count): return path.dropLast(max(0, count))
    case .close(let named):
      return !named.isEmpty && entries.suffix(named.count).map(\.id) == named ? path.dropLast(named.count) : path
    case .popToRoot: return []
    case .set(let values): return values
    case .replace(let value): return path.dropLast() + [value]
    }
  }
}
