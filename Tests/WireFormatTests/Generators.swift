import NavigationModel
import TestSupport

@testable import WireFormat

/// Random events and messages from a seed; they lie within the codec's bounds and like its edges.
struct Generator {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  mutating func device() -> DeviceID { DeviceID(high: random.next(), low: random.next()) }
  mutating func digest() -> Digest {
    chance(10) ? .empty : Digest(high: random.next(), low: random.next())
  }

  /// Small, at a varint's edge, or the largest.
  mutating func number() -> Int {
    switch below(6) {
    case 0: 0
    case 1: below(3)
    case 2: pick([127, 128, 16383, 16384, 1 << 21, 1 << 32])
    case 3: Dot.maximumSequence
    case _: below(1 << 40)
    }
  }

  mutating func text() -> String {
    pick(["", "a", "alice/main", "tablet", "Käse 🧀", "line\nbreak", "\u{0}", String(repeating: "x", count: 200)])
  }

  mutating func bytes(_ limit: Int = 40) -> [UInt8] { (0..<below(limit)).map { _ in UInt8(below(256)) } }

  mutating func payload() -> [UInt8] {
    let text = pick([
      #""E1013""#, #"{"id":42}"#, "null", "-0.0e+7", "12345678901234567890123", "[1, 2,\t{}]",
      #""\u00e4\ud83d\ude00\\\/""#,
      "\"Käse 🧀\"", "[[],[[true]],false]", #"{"a":{"b":[1.5E3,"x"]}}"#,
      "\"" + String(repeating: "z", count: 300) + "\"",
    ])
    return Array(text.utf8)
  }

  mutating func value() -> Value {
    Value(type: pick(["String", "Product", "S", "Käse", "com.example.Long.Type.Name"]), payload: payload())
  }

  mutating func values() -> [Value] { (0..<pick([0, 1, 1, 1, 1, 2, 3, 9])).map { _ in value() } }

  mutating func timestamp() -> Timestamp {
    Timestamp(
      milliseconds: chance(10) ? Timestamp.maximumMagnitude : below(1 << 42) - (chance(10) ? 1 << 42 : 0),
      counter: pick([0, 0, 1, 77, -3, Timestamp.maximumMagnitude]))
  }

  mutating func vector(of devices: [DeviceID]) -> VersionVector {
    var result = VersionVector()
    for device in devices where chance(60) { result[device] = 1 + below(chance(20) ? 1 << 50 : 200) }
    return result
  }

  // MARK: Events

  /// An author's next event, as a device might make it or as a faulty one does.
  mutating func event(after state: AuthorState, among devices: [DeviceID]) -> Event {
    var context = state.context
    if chance(40) {
      for device in devices where device != state.device && chance(40) {
        context[device] = min(Dot.maximumSequence, context[device] + 1 + (chance(10) ? below(1 << 40) : below(3)))
      }
    }
    var stamp = state.timestamp.next(at: state.timestamp.milliseconds + below(3))
    if chance(20) { stamp = timestamp() }
    if stamp.counter.magnitude > Timestamp.maximumMagnitude { stamp.counter = 0 }
    if stamp.milliseconds.magnitude > Timestamp.maximumMagnitude { stamp.milliseconds = 0 }
    let dot = Dot(state.device, state.sequence + 1)
    return Event(
      dot: dot, context: context, timestamp: stamp, action: action(state, dot, context, devices),
      unknownFields: chance(5) ? [UInt8(below(256))] + bytes() : [])
  }

  private mutating func action(
    _ state: AuthorState, _ dot: Dot, _ context: VersionVector, _ devices: [DeviceID]
  ) -> Action {
    switch below(10) {
    case 0...4:
      return .push(on: chance(60) ? state.top : chance(30) ? nil : entry(dot, context, devices), values: values())
    case 5, 6:
      if chance(50), let top = state.top { return .pop(entries: [top]) }
      return .pop(entries: entries(dot, context, devices))
    case 7: return .popToRoot
    case 8: return .set(keep: entries(dot, context, devices), values: values())
    case _:
      if chance(50), let top = state.top { return .replace(entry: top, value: value()) }
      return .replace(entry: entry(dot, context, devices), value: value())
    }
  }

  private mutating func entries(_ dot: Dot, _ context: VersionVector, _ devices: [DeviceID]) -> [EntryID] {
    (0..<pick([0, 1, 1, 2, 4])).map { _ in entry(dot, context, devices) }
  }

  private mutating func entry(_ dot: Dot, _ context: VersionVector, _ devices: [DeviceID]) -> EntryID {
    let device = chance(5) ? self.device() : pick(devices)
    let near = device == dot.device ? dot.sequence : context[device]
    let sequence = chance(80) ? near - below(5) + 1 : number()
    return EntryID(Dot(device, min(max(sequence, 1), Dot.maximumSequence)), chance(90) ? below(3) : number())
  }

  /// A chain of one author's events with their bytes.
  mutating func chain(
    of device: DeviceID, among devices: [DeviceID], count: Int
  ) throws -> [(event: Event, bytes: [UInt8])] {
    var state = AuthorState(device: device)
    return try (0..<count).map { _ in
      let event = event(after: state, among: devices)
      return (event, try EventCodec.encode(event, after: &state))
    }
  }

  // MARK: Messages

  mutating func message(_ kind: Int) -> Message {
    let devices = (0..<4).map { _ in device() }
    switch kind {
    case 0:
      return .hello(
        Hello(protocolVersion: number(), device: chance(50) ? device() : nil, name: text(), software: text()))
    case 1:
      var limits = Limits()
      limits.credit = number()
      limits.follows = number()
      var welcome = Welcome(
        daemon: device(), epoch: random.next(), serverTime: number(), limits: limits, feedEndpoint: text(),
        software: text())
      welcome.nextKey = bytes()
      return .welcome(welcome)
    case 2:
      return .refused(
        Refused(
          about: Subject(rawValue: below(12)), stack: text(), code: RefusalCode(rawValue: pick([0, 1, 9, 17, 99])),
          reason: text()))
    case 3:
      let start = chance(50) ? FollowStart.vector(heads(devices)) : .offset(number(), epoch: pick([0, random.next()]))
      return .follow(
        Follow(
          stack: text(), policy: policy(), start: start, wantsAuthorStates: chance(50), policySince: timestamp()))
    case 4:
      return .following(
        Following(
          stack: text(), exists: chance(50), policy: policy(), head: number(), heads: heads(devices),
          policySince: timestamp()))
    case 5:
      return .events(
        EventsMessage(
          stack: text(), epoch: random.next(), previousOffset: number(), firstOffset: number(), batch: bytes(300),
          authorStates: (0..<below(3)).map { _ in authorState() }))
    case 6: return .live(Live(stack: text(), offset: number()))
    case 7: return .unfollow(Unfollow(stack: text()))
    case 8:
      return .append(
        Append(
          stack: text(), policy: policy(), device: device(), firstSequence: number(), previous: digest(),
          events: (0..<below(5)).map { _ in bytes(200) }))
    case 9:
      return .accepted(Accepted(stack: text(), device: device(), throughSequence: number(), offset: number()))
    case 10:
      return .rejected(
        Rejected(
          stack: text(), dot: Dot(device(), number()), code: RefusalCode(rawValue: below(20)), detail: text(),
          expectedSequence: number(), missing: vector(of: devices), serverTime: number()))
    case 11: return .credit(Credit(bytes: number()))
    case 12: return .ping(Ping(heads: stackHeads()))
    case 13: return .pong(Pong(serverTime: number(), heads: stackHeads()))
    case 14:
      return .presence(
        Presence(
          stack: text(), device: chance(50) ? device() : nil, name: text(), state: pick([.active, .away, .gone]),
          top: chance(50) ? EntryID(Dot(device(), 1 + below(1 << 50)), number()) : nil))
    case 15: return .list(List(space: text(), devicesOnly: chance(50), follows: chance(50)))
    case 16:
      return .listing(
        Listing(
          stacks: (0..<below(3)).map { _ in
            Listing.Stack(
              stack: text(), policy: policy() ?? .merge, head: number(), devices: number(), lastStored: number())
          },
          devices: (0..<below(3)).map { _ in
            Listing.Device(device: device(), name: text(), connected: chance(50), lastSeen: number())
          }, last: chance(50)))
    case 17: return .statusRequest(StatusRequest())
    case 18:
      return .statusReport(
        StatusReport(
          software: text(), daemon: device(), epoch: random.next(), startedAt: number(), store: text(),
          endpoints: (0..<below(3)).map { _ in text() },
          counters: (0..<below(4)).map { _ in StatusReport.Counter(name: text(), value: number()) },
          peers: (0..<below(3)).map { _ in peer() }))
    case 19: return .pair(Pair(secret: bytes(), name: text()))
    case 20: return .paired(Paired(name: text(), space: text(), may: text()))
    case _: return .range(RangeRequest(stack: text(), epoch: random.next(), from: number(), to: number()))
    }
  }

  static let messageKinds = 22

  private mutating func peer() -> StatusReport.Peer {
    var peer = StatusReport.Peer(
      endpoint: text(), daemon: chance(50) ? device() : nil, connected: chance(50), since: number())
    peer.stacks = number()
    peer.behind = number()
    peer.ahead = number()
    peer.forked = number()
    peer.heldBack = number()
    peer.problem = text()
    return peer
  }

  private mutating func policy() -> Policy? { pick([nil, .merge, .latest, .lead(device())]) }

  private mutating func heads(_ devices: [DeviceID]) -> [DeviceHead] {
    devices.filter { _ in chance(70) }.map { DeviceHead(device: $0, sequence: number(), digest: digest()) }
  }

  private mutating func stackHeads() -> [StackHead] {
    (0..<below(4)).map { _ in StackHead(stack: text(), offset: number()) }
  }

  mutating func authorState() -> AuthorState {
    var state = AuthorState(device: device())
    let devices = [state.device] + (0..<below(4)).map { _ in device() }
    for _ in 0..<below(4) {
      let event = event(after: state, among: devices)
      _ = try? EventCodec.encode(event, after: &state)
    }
    return state
  }
}
