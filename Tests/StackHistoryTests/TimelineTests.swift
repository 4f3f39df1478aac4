import NavigationModel
import StackHistory
import TestSupport
import Testing
import WireFormat

/// A history that is made by folding: what devices do on what they see.
struct Devices {
  private(set) var events: [Event] = []
  private var held: [VersionVector]
  private var clock = 1_000_000
  let ids: [DeviceID]
  let policy: Policy

  init(_ count: Int, policy: Policy = .merge) {
    ids = (0..<count).map { DeviceID(high: UInt64($0 + 1), low: 0) }
    held = ids.map { _ in VersionVector() }
    self.policy = policy
  }

  func fold(_ device: Int) -> StackFold {
    var fold = StackFold(policy: policy)
    for event in events where held[device].contains(event.dot) { fold.apply(event) }
    return fold
  }

  /// Adds what an intent comes to on a device's own view.
  mutating func act(_ device: Int, _ intent: Intent) {
    var fold = fold(device)
    guard let action = fold.action(for: intent) else { return }
    var context = held[device]
    let sequence = context[ids[device]] + 1
    context[ids[device]] = 0
    clock += 1000
    events.append(
      Event(
        dot: Dot(ids[device], sequence), context: context, timestamp: Timestamp(milliseconds: clock, counter: 0),
        action: action))
    held[device][ids[device]] = sequence
  }

  mutating func level() {
    var all = VersionVector()
    for own in held { all.join(own) }
    held = held.map { _ in all }
  }

  mutating func play(_ count: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for number in 0..<count {
      let device = Int.random(in: ids.indices, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0: act(device, .popToRoot)
      case 1: act(device, .set([text("a\(number)"), text("b\(number)")]))
      case 2: act(device, .replace(text("r\(number)")))
      case 3...5: act(device, .pop(Int.random(in: 1...2, using: &random)))
      case _: act(device, .push([text("v\(number)")]))
      }
      if Int.random(in: 0..<4, using: &random) == 0 { level() }
    }
  }
}

func text(_ text: String) -> Value { Value(type: "String", payload: Array("\"\(text)\"".utf8)) }

@Suite struct TimelineTests {
  private func timeline(_ devices: Devices) throws -> Timeline {
    var timeline = Timeline(stack: try StackName("test/timeline"), policy: devices.policy)
    for event in devices.events { try timeline.append(event) }
    return timeline
  }

  /// Any moment is what folding that far comes to, in whatever order the moments are looked at, and any event is itself.
  @Test(arguments: [Policy.merge, .latest, .lead(DeviceID(high: 1, low: 0))])
  func everyMomentIsTheFoldOfItsEvents(policy: Policy) throws {
    var devices = Devices(3, policy: policy)
    devices.play(300, seed: 7)
    var timeline = try timeline(devices)
    #expect(timeline.count == devices.events.count)
    var fold = StackFold(policy: policy)
    var moments = [[Entry]()]
    var voids: [Int] = []
    for (place, event) in devices.events.enumerated() {
      if fold.apply(event) { voids.append(place + 1) }
      moments.append(fold.entries())
    }
    for moment in (0...timeline.count).reversed() {
      #expect(timeline.entries(at: moment) == moments[moment])
      #expect(timeline.depth(at: moment) == moments[moment].count)
    }
    for number in [timeline.count, 1, 17, 2, 150] {
      #expect(timeline.event(number) == devices.events[number - 1])
      #expect(timeline.author(of: number) == devices.events[number - 1].dot.device)
      #expect(timeline.number(of: devices.events[number - 1].dot) == number)
    }
    #expect((1...timeline.count).filter { timeline.isVoid($0) } == voids)
    #expect(timeline.conflicts() == fold.conflicts())
  }

  /// Pages are decoded from the checkpoint before them.
  @Test func farMomentsOfALongHistory() throws {
    var timeline = Timeline(stack: try StackName("test/long"), policy: .merge)
    let ids = [DeviceID(high: 1, low: 0), DeviceID(high: 2, low: 0)]
    var events: [Event] = []
    for number in 0..<10_000 {
      let author = ids[number % 2]
      let event = Event(
        dot: Dot(author, number / 2 + 1),
        context: number == 0 ? VersionVector() : [ids[(number + 1) % 2]: (number + 1) / 2],
        timestamp: Timestamp(milliseconds: number, counter: 0),
        action: number % 2 == 0
          ? .push(on: nil, values: [text("\(number)")]) : .pop(entries: [EntryID(Dot(ids[0], number / 2 + 1), 0)]))
      events.append(event)
      try timeline.append(event)
    }
    #expect(timeline.size.checkpoints == 5)
    for number in [9999, 1, 5000, 2048, 2049, 4097, 10_000] { #expect(timeline.event(number) == events[number - 1]) }
  }

  @Test func whatWasDecidedIsNoted() throws {
    var devices = Devices(2)
    devices.act(0, .push([text("list")]))
    devices.level()
    devices.act(0, .push([text("a")]))
    devices.act(1, .push([text("b")]))
    devices.level()
    devices.act(0, .pop(1))
    let timeline = try timeline(devices)
    #expect(timeline.newConflicts(at: 2).isEmpty)
    let branches = timeline.newConflicts(at: 3)
    #expect(branches.count == 1)
    guard case .branches(_, let entries) = branches.first else { return #expect(Bool(false)) }
    #expect(entries.count == 2)
    #expect(timeline.isConcurrent(3) && !timeline.isConcurrent(2))
    #expect(timeline.decision(from: 1, step: 1) == 3 && timeline.decision(from: 4, step: 1) == nil)
    #expect(timeline.decision(from: 4, step: -1) == 3)
  }

  @Test func pastsOfCausality() throws {
    var devices = Devices(2)
    devices.act(0, .push([text("list")]))
    devices.level()
    devices.act(0, .push([text("a")]))
    devices.act(1, .push([text("b")]))
    var timeline = try timeline(devices)
    var seen: [Value] = []
    if var fold = timeline.fold(seenBy: Dot(devices.ids[1], 1)) { seen = fold.entries().map(\.value) }
    #expect(seen == [text("list"), text("b")])
    var fold = timeline.fold(madeBy: devices.events[1].timestamp.milliseconds)
    let made = fold.entries().map(\.value)
    #expect(made == [text("list"), text("a")])
    #expect(timeline.moment(at: devices.events[0].timestamp.milliseconds) == 1)
  }
}

@Suite struct EffectTests {
  private func timeline(_ devices: Devices) throws -> Timeline {
    var timeline = Timeline(stack: try StackName("test/timeline"), policy: devices.policy)
    for event in devices.events { try timeline.append(event) }
    return timeline
  }

  private func spelled(_ effect: Effect) -> String {
    effect.lines.map { line in
      let value = String(decoding: line.entry.value.payload.dropFirst().dropLast(), as: UTF8.self)
      return switch line.change {
      case .same: value
      case .moved: "^" + value
      case .closed: "-" + value
      case .opened: "+" + value
      }
    }.joined(separator: " ")
  }

  @Test func anEffectSaysWhatWasOpenedAndClosed() throws {
    var devices = Devices(1)
    devices.act(0, .push([text("a"), text("b")]))
    devices.act(0, .replace(text("c")))
    devices.act(0, .pop(1))
    devices.act(0, .set([text("a"), text("x"), text("y")]))
    var timeline = try timeline(devices)
    for (number, effect) in zip(1..., ["+a +b", "a -b +c", "a -c", "a +x +y"]) {
      let found = spelled(timeline.effect(of: number))
      #expect(found == effect)
    }
  }

  /// A newer branch comes on top: what stood there moves, and is neither closed nor opened.
  @Test func branchesThatChangeTheirOrder() throws {
    var devices = Devices(2)
    devices.act(0, .push([text("a")]))
    devices.act(1, .push([text("b")]))
    devices.act(0, .push([text("c")]))
    var timeline = try timeline(devices)
    let effect = timeline.effect(of: 3)
    #expect(spelled(effect) == "b ^a +c")
    #expect(effect.closed.isEmpty)
  }

  /// What an event did goes away, what came later stays.
  @Test func undoingKeepsWhatCameLater() throws {
    var devices = Devices(1)
    devices.act(0, .push([text("a"), text("b"), text("c")]))
    devices.act(0, .pop(1))
    devices.act(0, .push([text("d")]))
    devices.act(0, .push([text("e")]))
    var timeline = try timeline(devices)
    let rest = [1: ["d", "e"], 2: ["a", "b", "c", "d", "e"], 3: ["a", "b", "e"], 4: ["a", "b", "d"]]
    for (number, values) in rest {
      let undone = timeline.pathUndoing(number)
      #expect(undone == values.map(text), "\(number)")
    }
  }

  @Test func nothingIsLeftToUndo() throws {
    var devices = Devices(1)
    devices.act(0, .push([text("a")]))
    devices.act(0, .pop(1))
    var timeline = try timeline(devices)
    let (first, second) = (timeline.pathUndoing(1), timeline.pathUndoing(2))
    #expect(first == nil && second == [text("a")])
  }
}

@Suite struct GraphLanesTests {
  @Test func aLaneADeviceAndALineWhereKnowledgeCame() throws {
    var devices = Devices(3)
    devices.act(0, .push([text("a")]))
    devices.level()
    devices.act(1, .push([text("b")]))
    devices.act(0, .push([text("c")]))
    devices.level()
    devices.act(2, .push([text("d")]))
    devices.act(0, .pop(1))
    var lanes = GraphLanes(marks: .unicode, last: nil)
    #expect(devices.events.map { lanes.line($0) } == ["●", "├─●", "● │", "├─├─●", "●─┤ │"])
    var ends = VersionVector()
    for event in devices.events { ends[event.dot.device] = max(ends[event.dot.device], event.dot.sequence) }
    var closing = GraphLanes(marks: .ascii, last: ends)
    #expect(devices.events.map { closing.line($0) } == ["*", "+-*", "*", "+-*", "*"])
  }
}

@Suite struct StatisticsTests {
  @Test func figuresAreCounted() throws {
    var devices = Devices(2)
    devices.act(0, .push([text("a"), text("b")]))
    devices.level()
    devices.act(1, .pop(1))
    devices.level()
    devices.act(0, .push([text("a")]))
    var timeline = Timeline(stack: try StackName("test/stats"), policy: .merge)
    for event in devices.events { try timeline.append(event) }
    let figures = timeline.statistics(mostVisited: 1)
    #expect(figures.events == 3 && figures.pushes == 2 && figures.backs == 1)
    #expect(figures.deepest == 2 && figures.depth == 2)
    #expect(figures.depths == [0, 1, 2])
    #expect(figures.visits.map(\.value) == [text("a")] && figures.visits.map(\.count) == [2])
    #expect(figures.devices.map(\.events) == [2, 1])
    #expect(figures.spans.map(\.events).reduce(0, +) == 3)
  }

  /// Moments whose rows were let go are the same as ever.
  @Test(arguments: [Policy.merge, .latest]) func fewRows(policy: Policy) throws {
    var devices = Devices(3, policy: policy)
    devices.play(250, seed: 11)
    var whole = Timeline(stack: try StackName("test/timeline"), policy: policy)
    var small = Timeline(stack: try StackName("test/timeline"), policy: policy, maximumRows: 60)
    for event in devices.events {
      try whole.append(event)
      try small.append(event)
    }
    let rows = (whole.size.rows, small.size.rows)
    #expect(rows.0 > 200 && rows.1 < 120, "\(rows)")
    var random = SeededGenerator(seed: 12)
    for _ in 0..<300 {
      let moment = Int.random(in: 0...small.count, using: &random)
      let (found, right) = (small.entries(at: moment), whole.entries(at: moment))
      #expect(found == right, "\(moment)")
      #expect(small.depth(at: moment) == whole.depth(at: moment))
    }
    for moment in 0...small.count {
      let (found, right) = (small.entries(at: moment), whole.entries(at: moment))
      #expect(found == right, "\(moment)")
    }
  }

  /// Events over many pages, found in any order; and with checkpoints so few that each is far away.
  @Test(arguments: [64 << 20, 2048]) func manyPages(checkpointBytes: Int) throws {
    let ids = (0..<3).map { DeviceID(high: UInt64($0 + 1), low: 9) }
    var timeline = Timeline(
      stack: try StackName("test/pages"), policy: .merge, checkpointBytes: checkpointBytes)
    var events: [Event] = []
    var vector = VersionVector()
    var shown: [EntryID] = []
    for number in 0..<9000 {
      let device = ids[number % 3]
      var context = vector
      let sequence = context[device] + 1
      context[device] = 0
      let dot = Dot(device, sequence)
      let action: Action
      if let top = shown.last, number % 4 == 3 {
        action = .pop(entries: [top])
        shown.removeLast()
      } else if shown.count > 6 {
        action = .popToRoot
        shown = []
      } else {
        action = .push(on: shown.last, values: [text("v\(number)")])
        shown.append(EntryID(dot, 0))
      }
      let event = Event(
        dot: dot, context: context, timestamp: Timestamp(milliseconds: 1000 + number, counter: 0), action: action)
      events.append(event)
      try timeline.append(event)
      vector[device] = sequence
    }
    #expect(checkpointBytes > 1 << 20 ? timeline.size.checkpoints == 5 : timeline.size.checkpoints <= 3)
    for number in 1...events.count where timeline.event(number) != events[number - 1] { Issue.record("\(number)") }
    var random = SeededGenerator(seed: 3)
    for _ in 0..<30 {
      let number = Int.random(in: 1...events.count, using: &random)
      #expect(timeline.event(number) == events[number - 1], "\(number)")
    }
    for number in stride(from: events.count, to: 0, by: -1500) {
      #expect(timeline.event(number) == events[number - 1], "\(number)")
    }
    #expect(timeline.entries(at: timeline.count).map(\.id) == shown)
  }
}
