import NavigationModel

/// A few devices of one stack, and what they did: small enough to copy at every step of a search.
///
/// A device acts on what it shows, and takes over all that another holds. Times are the numbers of the steps, to which a
/// device whose clock is off adds its skew.
struct SmallWorld {
  struct Device {
    let id: DeviceID
    let skew: Int
    /// What it holds, as places in ``SmallWorld/events``, in the order of arrival.
    var held: [Int] = []
    var vector = VersionVector()
    var shown: [Entry] = []
    var newest = Timestamp.zero
  }

  /// What a device can do in one step.
  enum Act: CaseIterable {
    case push
    case pop
    case popTwo
    case popToRoot
    case set
    case replace
  }

  enum Move: Hashable {
    case act(device: Int, Act)
    case pull(device: Int, from: Int)
  }

  let policy: Policy
  var devices: [Device]
  /// All that was ever done, in the order in which it was.
  var events: [Event] = []
  var now = 0

  init(policy: Policy, skews: [Int]) {
    self.policy = policy
    devices = skews.enumerated().map { Device(id: Self.id($0.offset), skew: $0.element) }
  }

  static func id(_ device: Int) -> DeviceID { DeviceID(high: 0, low: UInt64(device) + 1) }

  /// Every move of so many devices.
  static func moves(devices: Int) -> [Move] {
    (0..<devices).flatMap { device in Act.allCases.map { .act(device: device, $0) } }
      + (0..<devices).flatMap { device in
        (0..<devices).filter { $0 != device }.map { .pull(device: device, from: $0) }
      }
  }

  /// Makes a move. Gives false if it changes nothing: a pop at the root, a pull of what is held.
  mutating func make(_ move: Move) throws(Counterexample) -> Bool {
    now += 1
    return switch move {
    case .act(let device, let act): try perform(act, by: device)
    case .pull(let device, let other): pull(device, from: other)
    }
  }

  private mutating func perform(_ act: Act, by place: Int) throws(Counterexample) -> Bool {
    var fold = StackFold(policy: policy)
    for event in devices[place].held { fold.apply(events[event]) }
    let before = fold.entries().map(\.value)
    let intent: Intent
    let wanted: [Value]
    switch act {
    case .push:
      intent = .push([value(place, "")])
      wanted = before + [value(place, "")]
    case .pop:
      intent = .pop(1)
      wanted = before.dropLast(1)
    case .popTwo:
      intent = .pop(2)
      wanted = before.dropLast(2)
    case .popToRoot:
      intent = .popToRoot
      wanted = []
    case .set:
      wanted = [value(place, "x"), value(place, "y")]
      intent = .set(wanted)
    case .replace:
      intent = .replace(value(place, "r"))
      wanted = before.dropLast(1) + [value(place, "r")]
    }
    guard let action = fold.action(for: intent) else { return false }
    var device = devices[place]
    device.newest = device.newest.next(at: now + device.skew)
    var context = device.vector
    context[device.id] = 0
    let event = Event(
      dot: Dot(device.id, device.vector[device.id] + 1), context: context, timestamp: device.newest, action: action)
    let isVoid = fold.apply(event)
    device.shown = fold.entries()
    device.held.append(events.count)
    device.vector[device.id] = event.dot.sequence
    devices[place] = device
    events.append(event)
    guard !isVoid, device.shown.map(\.value) == wanted else {
      throw Counterexample("device \(Self.name(place)) acts and shows something else than its action says")
    }
    return true
  }

  private mutating func pull(_ place: Int, from other: Int) -> Bool {
    let new = devices[other].held.filter { !devices[place].vector.contains(events[$0].dot) }
    guard !new.isEmpty else { return false }
    for event in new {
      devices[place].held.append(event)
      devices[place].vector[events[event].dot.device] = events[event].dot.sequence
      devices[place].newest = max(devices[place].newest, events[event].timestamp)
    }
    return true
  }

  private func value(_ device: Int, _ suffix: String) -> Value {
    Value(type: "String", payload: Array("\"\(Self.name(device))\(now)\(suffix)\"".utf8))
  }

  static func name(_ device: Int) -> Character { Character(Unicode.Scalar(UInt8(ascii: "A") + UInt8(device))) }
}

/// A history on which the fold and the specification differ, or a law doesn't hold.
package struct Counterexample: Error, CustomStringConvertible {
  /// What is wrong, in a person's words.
  package let problem: String
  /// Where: the policy, the clocks, the moves.
  package internal(set) var history = ""

  init(_ problem: String) { self.problem = problem }

  package var description: String { history.isEmpty ? problem : "\(problem)\n\(history)" }
}

extension SmallWorld.Move: CustomStringConvertible {
  var description: String {
    switch self {
    case .act(let device, let act): "\(SmallWorld.name(device)) \(act)"
    case .pull(let device, let other): "\(SmallWorld.name(device)) pulls from \(SmallWorld.name(other))"
    }
  }
}
