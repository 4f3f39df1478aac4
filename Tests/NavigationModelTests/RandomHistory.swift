import NavigationModel
import TestSupport

/// A device as the tests move it: it acts on what it shows and takes over what others hold.
final class TestDevice {
  let id: DeviceID
  let policy: Policy
  let skew: Int
  private(set) var events: [Event] = []
  private(set) var held = VersionVector()
  private var clock = Timestamp.zero
  var fold: StackFold

  init(id: DeviceID, policy: Policy, skew: Int) {
    self.id = id
    self.policy = policy
    self.skew = skew
    fold = StackFold(policy: policy)
  }

  /// Acts and returns the event, nil if there was nothing to do.
  func act(_ intent: Intent, at now: Int) -> Event? {
    guard let action = fold.action(for: intent) else { return nil }
    clock = max(clock, fold.newestTimestamp).next(at: now + skew)
    var context = held
    context[id] = 0
    let event = Event(dot: Dot(id, held[id] + 1), context: context, timestamp: clock, action: action)
    receive(event)
    return event
  }

  @discardableResult
  func receive(_ event: Event) -> Bool {
    events.append(event)
    held[event.dot.device] = event.dot.sequence
    return fold.apply(event)
  }

  func pull(from other: TestDevice) {
    for event in other.events where !held.contains(event.dot) { receive(event) }
  }
}

/// Devices that act and level at random, everything from a seed.
struct RandomHistory {
  var generator: SeededGenerator
  let devices: [TestDevice]
  private var now = 1000

  init(seed: UInt64, policy: Policy? = nil) {
    generator = SeededGenerator(seed: seed)
    let ids = (1...6).map { DeviceID(high: 0, low: $0) }
    let chosen =
      policy ?? [.merge, .merge, .latest, .lead(ids[0])][Int.random(in: 0..<4, using: &generator)]
    let count = [1, 2, 2, 3, 3, 4, 6].randomElement(using: &generator) ?? 1
    var devices: [TestDevice] = []
    for id in ids.prefix(count) {
      let skew = [0, 0, 3, -3, 1000].randomElement(using: &generator) ?? 0
      devices.append(TestDevice(id: id, policy: chosen, skew: skew))
    }
    self.devices = devices
  }

  func value(_ text: String) -> Value { Value(type: "String", payload: Array("\"\(text)\"".utf8)) }

  /// One step: a device pulls from another or acts. Returns the device, and what it should show if it acted.
  mutating func step() -> (device: TestDevice, expected: [Value]?) {
    now += 1
    let device = devices[Int.random(in: 0..<devices.count, using: &generator)]
    if devices.count > 1, Int.random(in: 0..<100, using: &generator) < 35 {
      device.pull(from: devices.filter { $0 !== device }.randomElement(using: &generator) ?? device)
      return (device, nil)
    }
    let before = device.fold.entries().map(\.value)
    let intent: Intent
    let expected: [Value]
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<62:
      let values = Bool.random(using: &generator) ? [value("p\(now)")] : [value("p\(now)"), value("q\(now)")]
      intent = .push(values)
      expected = before + values
    case 62..<86:
      let count = Int.random(in: 1...4, using: &generator)
      intent = .pop(count)
      expected = before.dropLast(count)
    case 86..<89:
      intent = .popToRoot
      expected = []
    case 89..<93:
      let values = (0..<Int.random(in: 1...4, using: &generator)).map { place in
        Bool.random(using: &generator)
          ? before.randomElement(using: &generator) ?? value("r") : value("s\(now)-\(place)")
      }
      intent = .set(values)
      expected = values
    case _:
      intent = .replace(value("x\(now)"))
      expected = before.dropLast() + [value("x\(now)")]
    }
    _ = device.act(intent, at: now)
    return (device, expected)
  }

  /// What every device is known to hold, judging by its newest event.
  var stable: VersionVector {
    var result: VersionVector?
    for device in devices {
      guard let newest = device.events.last(where: { $0.dot.device == device.id }) else { return VersionVector() }
      var vector = newest.context
      vector[device.id] = newest.dot.sequence
      result = result?.met(with: vector) ?? vector
    }
    return result ?? VersionVector()
  }

  /// As `device` judges it by the events that it holds.
  func stable(to device: TestDevice) -> VersionVector {
    var result: VersionVector?
    for other in devices {
      guard let newest = device.events.last(where: { $0.dot.device == other.id }) else { return VersionVector() }
      var vector = newest.context
      vector[other.id] = newest.dot.sequence
      result = result?.met(with: vector) ?? vector
    }
    return result ?? VersionVector()
  }

  func levelAll() {
    for device in devices { for other in devices where other !== device { device.pull(from: other) } }
  }
}
