import Foundation
import NavigationModel
import TestSupport
import Testing

@testable import WireFormat

/// The JSON Lines form of events.
@Suite struct JSONLinesTests {
  /// Event → line → event, to the same canonical bytes; the line is written again byte by byte.
  @Test(arguments: [UInt64](1...10))
  func whatIsWrittenIsRead(seed: UInt64) throws {
    var generator = Generator(seed: seed)
    let devices = (0..<4).map { _ in generator.device() }
    var state = AuthorState(device: devices[0])
    for _ in 0..<100 {
      let event = generator.event(after: state, among: devices)
      let previous = generator.chance(50) ? generator.digest() : nil
      let stack = generator.chance(50) ? generator.text() : nil
      let bytes = JSONLines.line(event, stack: stack, previous: previous)
      #expect(!bytes.contains(UInt8(ascii: "\n")))
      try JSONText.check(bytes)
      guard case .event(let line) = try JSONLine(parsing: bytes) else {
        Issue.record("not an event: \(String(decoding: bytes, as: UTF8.self))")
        return
      }
      #expect(line.bytes == bytes)
      #expect(line.previous == previous && line.stack == stack)
      let read = try line.event(resolving: { DeviceID($0) })
      #expect(read == event)
      var again = state
      #expect(try EventCodec.encode(read, after: &again) == EventCodec.encode(event, after: &state))
    }
  }

  @Test func theFormIsTheDocumentedOne() throws {
    let device = DeviceID(high: 1, low: 2)
    let other = DeviceID(high: 3, low: 4)
    let event = Event(
      dot: Dot(device, 3), context: [other: 7], timestamp: Timestamp(milliseconds: 1000, counter: 2),
      action: .push(
        on: EntryID(Dot(device, 2), 0),
        values: [
          Value(type: "Product", payload: Array(#"{"id":42}"#.utf8)),
          Value(type: "String", payload: Array(#""é\n""#.utf8)),
          Value(type: "String", payload: Array("7".utf8)),
        ]), unknownFields: [0xFF])
    let names = [device: "a", other: "b:\"c"]
    let line = JSONLines.line(
      event, stack: "alice/main", previous: Digest(high: 0, low: 10), deviceText: { names[$0]! })
    #expect(
      String(decoding: line, as: UTF8.self)
        == #"{"action":{"push":{"on":"a:2:0","values":[{"type":"Product","value":{"id":42}},"é\n",{"type":"String","value":7}]}},"context":{"b:\"c":7},"device":"a","previous":"0000000000000000000000000000000a","seq":3,"stack":"alice/main","time":[1000,2],"unknown":"/w=="}"#
    )
  }

  @Test func anySpellingOfOneEventIsRead() throws {
    let text = #"""
       { "time" : [ 9007199254740991 , -1 ] ,"seq":9007199254740991, "device":"tablet: \u00e9\ud83d\ude00", "context":{"x":0,"z":5,"tablet: é😀":9007199254740990,"y":1},
      """#
    let action =
      #""action":{"replace":{"value": {"value": {"n": 12345678901234567890.50},"type":"T"} ,"entry":"a:b:4:9007199254740991"}}}  "#
    guard case .event(let line) = try JSONLine(parsing: Array((text + action + "\r").replacing("\n", with: "").utf8))
    else {
      Issue.record("not an event")
      return
    }
    #expect(line.device == "tablet: é😀")
    #expect(line.sequence == Dot.maximumSequence)
    #expect(line.timestamp == Timestamp(milliseconds: Timestamp.maximumMagnitude, counter: -1))
    #expect(line.context == [.init(device: "y", sequence: 1), .init(device: "z", sequence: 5)])
    let entry = EventLine.EntryName(device: "a:b", sequence: 4, index: Dot.maximumSequence)
    let value = Value(type: "T", payload: Array(#"{"n": 12345678901234567890.50}"#.utf8))
    #expect(line.action == .replace(entry: entry, value: value))
    #expect(line.devices == ["tablet: é😀", "y", "z", "a:b"])
    #expect(throws: LineError.self) { try line.event(resolving: { DeviceID($0) }) }
  }

  @Test(arguments: [
    ("", "must be an object", 0),
    ("[]", "must be an object", 0),
    ("{", "a key of the line must be a string", 1),
    (#"{"seq":1,"seq":2}"#, "has `seq` twice", 9),
    (#"{"seq":9007199254740992}"#, "whole number from 1", 7),
    (#"{"seq":1.0}"#, "whole number from 1", 7),
    (#"{"seq":0}"#, "whole number from 1", 7),
    (#"{"device":1}"#, "`device` must be a string", 10),
    (#"{"device":"\ud800"}"#, "half of an escaped character", 10),
    ("{\"device\":\"a\u{1}\"}", "not JSON", 12),
    (#"{"devise":"a"}"#, "`devise` is not a key", 10),
    (#"{"device":"a"}"#, "lacks `seq`", 0),
    (#"{"device":"a","seq":2,"time":[1],"#, "`time` must be [milliseconds, counter]", 29),
    (#"{"action":{"jump":{}}}"#, "`jump` is not an action", 18),
    (#"{"action":{}}"#, "`action` is empty", 10),
    (#"{"action":{"push":{"on":null}}}"#, "must have `on` and `values`", 18),
    (#"{"action":{"push":{"on":"a:1","values":[]}}}"#, "`on` must be an entry's id", 24),
    (#"{"action":{"pop":{"entries":["a:1:01"]}}}"#, "must be an entry's id", 29),
    (#"{"action":{"pop":{"entries":["a:0:1"]}}}"#, "must be an entry's id", 29),
    (#"{"action":{"pop":{"entries":["a:1:9007199254740992"]}}}"#, "must be an entry's id", 29),
    (#"{"action":{"pop":{"entries":["a:1:+1"]}}}"#, "must be an entry's id", 29),
    (#"{"action":{"pop":{"entries":[":1:"]}}}"#, "must be an entry's id", 29),
    (#"{"action":{"push":{"on":null,"values":[7]}}}"#, "a value that is not a string must be an object", 39),
    (#"{"action":{"push":{"on":null,"values":[{"type":"T"}]}}}"#, "a `type` and a `value`", 39),
    (#"{"previous":"AB"}"#, "32 lower-case", 12),
    (#"{"unknown":"/w="}"#, "must be base64", 11),
    (#"{"unknown":"/x=="}"#, "must be base64", 11),
    (#"{"device":"a","end":{"count":1}}"#, "mixes", 0),
    (
      #"{"unread":{"bytes":"AA==","chain":"a","seq":1},"fork":{"chain":"a"}}"#, "both `fork` and `unread`", 54
    ),
    (#"{"navsync":{"format":3,"stack":"a/b","policy":"merge"}}"#, "format 3", 11),
    (#"{"device":"a","seq":3,"context":{"a":1},"time":[1,0],"action":{"popToRoot":{}}}"#, "held 1 of its own", 0),
    (#"{"seq":1} x"#, "more after the end", 10),
    ("{\"device\":\"a", "ends in the middle", 12),
  ])
  func errorsSayWhatAndWhere(text: String, problem: String, offset: Int) {
    do {
      let line = try JSONLine(parsing: Array(text.utf8))
      Issue.record("\(line)")
    } catch {
      #expect(error.problem.contains(problem), "\(error.problem)")
      #expect(error.offset == offset, "\(error)")
    }
  }

  @Test func truncatedAndMutatedLinesNeverTrap() throws {
    var generator = Generator(seed: 12)
    let devices = (0..<3).map { _ in generator.device() }
    var state = AuthorState(device: devices[0])
    for _ in 0..<40 {
      let event = generator.event(after: state, among: devices)
      _ = try EventCodec.encode(event, after: &state)
      let bytes = JSONLines.line(event, stack: "a/b", previous: .empty)
      for cut in 0..<bytes.count { #expect(throws: LineError.self) { try JSONLine(parsing: Array(bytes[..<cut])) } }
      for _ in 0..<100 {
        var changed = bytes
        changed[generator.below(changed.count)] = UInt8(generator.below(256))
        guard case .event(let line)? = try? JSONLine(parsing: changed) else { continue }
        #expect(try JSONLine(parsing: line.bytes) == .event(line))
      }
    }
    let deep = Array((String(repeating: "[", count: 100_000)).utf8)
    #expect(throws: LineError.self) { try JSONLine(parsing: Array(#"{"seq":"#.utf8) + deep) }
  }

  @Test func headerAndTrailer() throws {
    let header = ExportHeader(
      stack: "alice/main", policy: "lead:ab", devices: [.init(id: "b", name: "Tablet"), .init(id: "a", name: "")])
    #expect(
      String(decoding: header.bytes, as: UTF8.self)
        == #"{"navsync":{"devices":{"a":"","b":"Tablet"},"format":1,"policy":"lead:ab","stack":"alice/main"}}"#)
    #expect(try JSONLine(parsing: header.bytes) == .header(header))
    let trailer = ExportTrailer(count: 2, heads: [.init(device: "a", sequence: 2, digest: Digest(high: 1, low: 2))])
    #expect(
      String(decoding: trailer.bytes, as: UTF8.self)
        == #"{"end":{"count":2,"heads":{"a":{"digest":"00000000000000010000000000000002","seq":2}}}}"#)
    #expect(try JSONLine(parsing: trailer.bytes) == .trailer(trailer))
  }

  @Test func stringsAreEscapedAndBack() {
    var generator = Generator(seed: 1)
    for _ in 0..<200 {
      let text = String(
        String.UnicodeScalarView(
          (0..<generator.below(12)).map { _ in
            Unicode.Scalar(
              generator.pick([1, 10, 34, 92, 47, 127, 233, 0x2028, 0xFFFF, 0x1F600, generator.below(0xD800)]).asScalar)!
          }))
      #expect(JSONText.unquoted(JSONText.quoted(text)) == text)
      var ascii: [UInt8] = []
      JSONText.append(text, to: &ascii, asciiOnly: true)
      #expect(ascii.allSatisfy { (0x20...0x7E).contains($0) })
      #expect(JSONText.unquoted(ascii) == text)
    }
    #expect(JSONText.unquoted(Array(#""a" "#.utf8)) == nil)
    #expect(JSONText.unquoted(Array(#"7"#.utf8)) == nil)
  }

  /// The edges of table 3-7 of the Unicode Standard, from both sides.
  @Test func onlyWellFormedUTF8IsJSON() {
    func isJSON(_ content: [UInt8]) -> Bool {
      (try? JSONText.check([UInt8(ascii: "\"")] + content + [UInt8(ascii: "\"")])) != nil
    }
    for good: [UInt8] in [
      [0x7F], [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80],
      [0xEF, 0xBF, 0xBF],
      [0xF0, 0x90, 0x80, 0x80], [0xF3, 0xBF, 0xBF, 0xBF], [0xF4, 0x8F, 0xBF, 0xBF],
    ] { #expect(isJSON(good), "\(good)") }
    for bad: [UInt8] in [
      [0x1F], [0x0A], [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x7F], [0xC2, 0xC0],
      [0xE0, 0x9F, 0xBF],
      [0xE1, 0x80], [0xE1, 0x80, 0xC0], [0xED, 0xA0, 0x80], [0xEF, 0xBF, 0x7F], [0xF0, 0x8F, 0xBF, 0xBF],
      [0xF0, 0x90, 0x80], [0xF1, 0x80, 0x80, 0x00], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF],
    ] { #expect(!isJSON(bad), "\(bad)") }
  }

  @Test func nestingIsBounded() throws {
    func nested(_ depth: Int) -> [UInt8] {
      [UInt8](repeating: UInt8(ascii: "["), count: depth) + [UInt8](repeating: UInt8(ascii: "]"), count: depth)
    }
    try JSONText.check(nested(256))
    #expect(throws: DecodeError(.tooLarge, at: 256, in: "JSON text")) { try JSONText.check(nested(257)) }
  }

  @Test func base64IsStrict() {
    for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
      #expect(Base64.encode(Array(bytes.utf8)) == Array(text.utf8))
      #expect(Base64.decode(text.utf8) == Array(bytes.utf8))
    }
    for bad in ["Zh==", "Zg=", "Z===", "====", "Zm9v\n", "Zg==Zg==", "Zm-v"] { #expect(Base64.decode(bad.utf8) == nil) }
  }
}

extension Int {
  fileprivate var asScalar: UInt32 { UInt32(self) }
}
