import NavigationClient
import NavigationModel

extension World {
  // MARK: What a person does

  func act(_ doing: Step.Doing, on stack: StackName, _ id: Int?, of device: SimulatedDevice) {
    guard device.machine != nil, now >= device.stuckUntil, let shown = device.machine?.state(of: stack)?.entries else {
      return
    }
    let intent = intent(doing, shown.map(\.value), device.seen[stack] ?? shown, on: device)
    device.seen[stack] = shown
    if let id { device.named[id] = SimulatedDevice.Act(stack: stack, intent: intent) }
    act(intent, on: stack, id: id, of: device)
  }

  private func intent(
    _ doing: Step.Doing, _ shown: [Value], _ seen: [Entry], on device: SimulatedDevice
  ) -> Intent {
    switch doing {
    case .push(let count): return .push((0..<count).map { _ in newValue(device) })
    case .pushLong: return .push([newValue(device, isLong: true)])
    case .pop(let count): return .pop(count)
    case .close(let count): return .close(seen.suffix(count).map(\.id))
    case .popToRoot: return .popToRoot
    case .set(let keep, let add, let home):
      return .set(shown.prefix(keep) + (0..<add).map { _ in newValue(device) } + (home ? [World.home] : []))
    case .replace: return .replace(newValue(device))
    }
  }

  private static let home = Value(type: "Page", payload: Array("\"home\"".utf8))

  /// A value that nothing else has.
  private func newValue(_ device: SimulatedDevice, isLong: Bool = false) -> Value {
    device.values += 1
    let more = isLong ? String(repeating: "x", count: 2500) : ""
    return Value(type: "Page", payload: Array("\"\(device.number).\(device.values)\(more)\"".utf8))
  }

  // MARK: What is expected of it

  private func act(_ intent: Intent, on stack: StackName, id: Int?, of device: SimulatedDevice) {
    guard device.machine != nil else { return }
    count("actions")
    let before = device.machine!.entries(of: stack)
    let expected = before.map { Self.path($0, after: intent) }
    let answers = Answers<Result<Outcome, ClientError>>()
    let life = device.life
    device.input(self) { machine, now in
      machine.act(intent, on: stack, id: id.map { "\(device.number).\($0)" }, at: now) { answers.add($0) }
    }
    wait(for: stack, of: device)
    guard device.life == life, device.machine != nil else {
      device.unanswered = id
      return
    }
    // Told at the end of the turn, or never.
    after(0) { [self] in
      guard let answer = answers.all.first else {
        if device.life != life { device.unanswered = id }
        return
      }
      switch answer {
      case .success(let outcome):
        note("\(device.name) \(stack.stack): \(Self.shortened(intent)) → \(Self.shortened(outcome.entries))")
        if outcome.isRepeated { return violated(.doneOnce, "\(device.name): a new id was taken for an old one") }
        if let before, isSabotaged(.asNavigationPath) || outcome.entries.map(\.value) != expected {
          violated(
            .asNavigationPath,
            "\(device.name) \(stack): \(Self.shortened(intent)) on \(Self.shortened(before)) shows "
              + "\(Self.shortened(outcome.entries))")
        }
        guard let dot = outcome.dot, let action = outcome.action else { return count("actions that change nothing") }
        count("events")
        promises.add(promise(stack, dot, action, device, id))
      case .failure(let error):
        count("actions refused: \(error.code.rawValue)")
        note("\(device.name) \(stack.stack): \(Self.shortened(intent)) fails: \(error)")
      }
    }
  }

  /// Somebody waits until the daemon has it, and until all the daemon has is here.
  private func wait(for stack: StackName, of device: SimulatedDevice) {
    let answers = waits
    device.input(self) { machine, now in
      machine.awaitAccepted(stack, at: now) { answers.add((try? $0.get()) != nil) }
      machine.awaitLive(stack, at: now) { answers.add((try? $0.get()) != nil) }
    }
  }

  /// The same action is delivered once more: by a double tap, or by a program that never had its answer.
  func again(_ id: Int, on device: SimulatedDevice) {
    guard let act = device.named[id], device.machine != nil, now >= device.stuckUntil else { return }
    let name = isSabotaged(.doneOnce) ? "another" : "\(device.number).\(id)"
    let answers = Answers<Result<Outcome, ClientError>>()
    device.input(self) { machine, now in
      machine.act(act.intent, on: act.stack, id: name, at: now) { answers.add($0) }
    }
    count("actions repeated")
    after(0) { [self] in
      guard case .success(let outcome) = answers.all.first else { return }
      if let known = promises.promise(of: id, device.number) {
        if !outcome.isRepeated, device.machine?.device == known.dot.device {
          violated(.doneOnce, "\(device.name): the action \(id) was \(known.dot) and is done again")
        }
      } else if let dot = outcome.dot, let action = outcome.action {
        count("events")
        promises.add(promise(act.stack, dot, action, device, id))
      }
    }
  }

  private func promise(
    _ stack: StackName, _ dot: Dot, _ action: Action, _ device: SimulatedDevice, _ id: Int?
  ) -> Promises.Promise {
    let change = device.machine?.state(of: stack)?.lastChange
    return Promises.Promise(
      stack: stack, dot: dot, action: action, timestamp: change?.dot == dot ? change?.timestamp : nil,
      device: device.number, id: id)
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
