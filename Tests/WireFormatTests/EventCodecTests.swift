import NavigationModel
import TestSupport
import Testing

@testable import WireFormat

/// The canonical form of events: laws over random chains.
@Suite struct EventCodecTests {
  static let seeds = [UInt64](1...20)

  @Test(arguments: seeds)
  func whatIsWrittenIsRead(seed: UInt64) throws {
    var generator = Generator(seed: seed)
    let devices = (0..<5).map { _ in generator.device() }
    var writer = AuthorState(device: devices[0])
    var reader = writer
    for _ in 0..<200 {
      let event = generator.event(after: writer, among: devices)
      let bytes = try EventCodec.encode(event, after: &writer)
      #expect(try EventCodec.decode([7, 7] + bytes + [7], in: 2..<bytes.count + 2, after: &reader) == event)
      #expect(writer == reader)
    }
  }

  /// The one way: whatever is read is what would be written. Truncated and mutated bytes either throw, leaving the state
  /// alone, or are another event written in its one way.
  @Test(arguments: seeds.prefix(8))
  func onlyOneWayIsRead(seed: UInt64) throws {
    var generator = Generator(seed: seed)
    let devices = (0..<4).map { _ in generator.device() }
    var state = AuthorState(device: devices[0])
    var accepted = 0
    for _ in 0..<60 {
      let event = generator.event(after: state, among: devices)
      var after = state
      let bytes = try EventCodec.encode(event, after: &after)
      for cut in 0..<bytes.count { accepted += try checkOneWay(Array(bytes[..<cut]), state) ? 1 : 0 }
      for _ in 0..<150 {
        var changed = bytes
        for _ in 0...generator.below(2) {
          let place = generator.below(changed.count)
          switch generator.below(4) {
          case 0: changed[place] ^= 1 << UInt8(generator.below(8))
          case 1: changed[place] = UInt8(generator.below(256))
          case 2: changed.insert(UInt8(generator.below(256)), at: place)
          case _: if changed.count > 1 { changed.remove(at: place) }
          }
        }
        accepted += try checkOneWay(changed, state) ? 1 : 0
      }
      state = after
    }
    // Many mutations are events, too: the check isn't empty.
    #expect(accepted > 100)
  }

  private func checkOneWay(_ bytes: [UInt8], _ state: AuthorState) throws -> Bool {
    var reader = state
    let event: Event
    do { event = try EventCodec.decode(bytes, after: &reader) } catch {
      #expect(reader == state)
      return false
    }
    var writer = state
    #expect(try EventCodec.encode(event, after: &writer) == bytes)
    #expect(writer == reader)
    return true
  }

  @Test func randomBytesNeverTrap() {
    var generator = Generator(seed: 99)
    for _ in 0..<20_000 {
      var state = AuthorState(device: generator.device())
      _ = try? EventCodec.decode(generator.bytes(60), after: &state)
    }
  }

  @Test func aKindThatIsNotKnownIsUnsupported() {
    for header: UInt8 in [0, 6, 7, 0x81] {
      var state = AuthorState(device: DeviceID(high: 1, low: 1))
      #expect(throws: DecodeError(.unsupported, at: 0, in: "event")) {
        try EventCodec.decode([header, 0, 0], after: &state)
      }
    }
  }

  /// One spelling that breaks one rule each, against an author with a known device, and a top unless it is said.
  @Test func otherSpellingsAreRefused() throws {
    let (author, known) = (DeviceID(high: 1, low: 1), DeviceID(high: 2, low: 2))
    var withTop = AuthorState(device: author)
    let first = Event(
      dot: Dot(author, 1), context: [known: 4], timestamp: Timestamp(milliseconds: 1000, counter: 0),
      action: .push(on: nil, values: [Value(type: "T", payload: [0x31])]))
    _ = try EventCodec.encode(first, after: &withTop)
    var withoutTop = withTop
    withoutTop.top = nil
    func id(_ low: UInt8) -> [UInt8] { [UInt8](repeating: 0, count: 15) + [low] }
    let knownID: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2]
    let cases: [(rule: String, bytes: [UInt8], code: DecodeError.Code, state: AuthorState)] = [
      ("the implied counter is spelled", [0x23, 0, 2], .notCanonical, withTop),
      ("no device changed", [0x13, 0, 0], .notCanonical, withTop),
      ("a device changed by nothing", [0x13, 0, 1, 0, 0], .notCanonical, withTop),
      ("a place beyond the table", [0x13, 0, 1, 5, 1], .badNumber, withTop),
      ("more changes than bytes", [0x13, 0, 100, 0, 1], .badLength, withTop),
      ("a known device is spelled", [0x13, 0, 1, 1] + knownID + [1], .notCanonical, withTop),
      ("new devices out of order", [0x13, 0, 2, 1] + id(9) + [1, 0] + id(8) + [1], .notCanonical, withTop),
      ("the top is spelled by a push", [0x01, 0, 1, 0, 0, 0], .notCanonical, withTop),
      ("the root is spelled where it is implied", [0x01, 0, 0, 0], .notCanonical, withoutTop),
      ("the top is spelled by a pop", [0x02, 0, 1, 0, 0, 0], .notCanonical, withTop),
      ("the top is spelled by a replace", [0x05, 0, 0, 0, 0, 0, 1, 0x31], .notCanonical, withTop),
      ("a pop of no top", [0x0A, 0], .notCanonical, withoutTop),
      ("a replace of no top", [0x0D, 0, 0, 1, 0x31], .notCanonical, withoutTop),
      ("a pop to root on the top", [0x0B, 0], .notCanonical, withTop),
      ("a set on the top", [0x0C, 0, 0, 0], .notCanonical, withTop),
      ("no unknown fields", [0x43, 0], .notCanonical, withTop),
      ("bytes after the end", [0x03, 0, 9], .trailing, withTop),
      ("a long number", [0x03, 0x80, 0], .notCanonical, withTop),
      ("a number of nine bytes", [0x03] + [UInt8](repeating: 0x80, count: 8) + [1], .badNumber, withTop),
      ("an entry before the first event", [0x02, 0, 1, 0, 2, 0], .badNumber, withTop),
      ("the short type is spelled", [0x09, 0, 1, 6] + Array("String".utf8) + [1, 0x31], .notCanonical, withTop),
      ("a type that is not UTF-8", [0x09, 0, 1, 1, 0xFF, 1, 0x31], .badText, withTop),
      ("space around a payload", [0x09, 0, 1, 0, 2, 0x31, 0x20], .notJSON, withTop),
      ("a payload longer than the event", [0x09, 0, 1, 0, 9, 0x31], .truncated, withTop),
      ("a payload over the limit", [0x09, 0, 1, 0, 0x81, 0x80, 4], .tooLarge, withTop),
    ]
    for (rule, bytes, code, state) in cases {
      var reader = state
      do {
        let event = try EventCodec.decode(bytes, after: &reader)
        Issue.record("\(rule): \(event)")
      } catch {
        #expect(error.code == code, "\(rule): \(error)")
        #expect(reader == state, "\(rule)")
      }
    }
  }

  @Test func anUnchangedContextIsSharedAndCostsNothing() throws {
    let (author, other) = (DeviceID(high: 1, low: 1), DeviceID(high: 2, low: 2))
    var state = AuthorState(device: author)
    func push(_ sequence: Int) -> Event {
      Event(
        dot: Dot(author, sequence), context: [other: 9],
        timestamp: Timestamp(milliseconds: 1000, counter: sequence - 1),
        action: .push(on: state.top, values: [Value(type: "String", payload: Array("\"a\"".utf8))]))
    }
    _ = try EventCodec.encode(push(1), after: &state)
    // Header, time, number of values, type, length, three bytes of payload.
    #expect(try EventCodec.encode(push(2), after: &state) == [0x09, 0, 1, 0, 3, 0x22, 0x61, 0x22])
  }

  @Test func whatNoReaderTakesIsNotWritten() throws {
    let (author, other) = (DeviceID(high: 1, low: 1), DeviceID(high: 2, low: 2))
    var state = AuthorState(device: author)
    let stamp = Timestamp(milliseconds: 5, counter: 0)
    func event(_ sequence: Int, _ context: VersionVector, _ action: Action, _ time: Timestamp = stamp) -> Event {
      Event(dot: Dot(author, sequence), context: context, timestamp: time, action: action)
    }
    func value(_ payload: String, type: String = "T") -> Action {
      .push(on: nil, values: [Value(type: type, payload: Array(payload.utf8))])
    }
    _ = try EventCodec.encode(event(1, [other: 4], .popToRoot), after: &state)
    let before = state
    #expect(throws: EncodeError.notNext(expected: Dot(author, 2))) {
      try EventCodec.encode(event(3, [other: 4], .popToRoot), after: &state)
    }
    #expect(throws: EncodeError.contextShrank(other)) {
      try EventCodec.encode(event(2, [:], .popToRoot), after: &state)
    }
    #expect(throws: EncodeError.contextShrank(other)) {
      try EventCodec.encode(event(2, [other: 3], .popToRoot), after: &state)
    }
    #expect(throws: EncodeError.contextNamesAuthor) {
      try EventCodec.encode(event(2, [author: 1, other: 4], .popToRoot), after: &state)
    }
    #expect(throws: EncodeError.namelessType(place: 0)) {
      try EventCodec.encode(event(2, [other: 4], value("1", type: "")), after: &state)
    }
    #expect(throws: EncodeError.numberOutOfRange) {
      try EventCodec.encode(
        event(2, [other: 4], .popToRoot, Timestamp(milliseconds: 1 << 53, counter: 0)), after: &state)
    }
    for bad in ["", " 1", "1 ", "{", "[1,]", "01", "\"\n\"", "[1,\n2]", "tru", "\"\\x\"", "1 2", "nul"] {
      #expect(throws: EncodeError.self, "\(bad)") {
        try EventCodec.encode(event(2, [other: 4], value(bad)), after: &state)
      }
    }
    let long = "\"" + String(repeating: "x", count: Value.maximumSize - 3) + "\""
    #expect(throws: EncodeError.self) {
      try EventCodec.encode(event(2, [other: 4], value(long, type: "Ty")), after: &state)
    }
    let three = Action.set(
      keep: [], values: Array(repeating: Value(type: "T", payload: Array(long.utf8)), count: 3))
    #expect(throws: EncodeError.self) { try EventCodec.encode(event(2, [other: 4], three), after: &state) }
    #expect(state == before)
    _ = try EventCodec.encode(event(2, [other: 4], value(long)), after: &state)
  }
}
