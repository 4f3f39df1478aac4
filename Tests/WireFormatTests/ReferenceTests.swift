import Foundation
import NavigationModel
import TestSupport
import Testing

@testable import WireFormat

/// A file beside the tests.
func fixture(_ name: String) -> URL {
  URL(filePath: #filePath).deletingLastPathComponent().appending(components: "Fixtures", name)
}

/// The reference model's histories: their events are read, and results are printed as they are there.
@Suite struct ReferenceTests {
  private struct Vector {
    var events: [[UInt8]] = []
    var stack: [UInt8] = []
    var conflicts: [[UInt8]] = []
  }

  private func vectors() throws -> [Vector] {
    try Data(contentsOf: fixture("reference-sample.jsonl")).split(separator: UInt8(ascii: "\n")).map { line in
      var vector = Vector()
      var reader = LineReader(Array(line))
      func slice(_ reader: inout LineReader) throws(LineError) -> [UInt8] { Array(reader.bytes[try reader.any()]) }
      try reader.object("a vector") { reader, key throws(LineError) in
        switch key {
        case "events": vector.events = try reader.array("events", slice)
        case "conflicts": vector.conflicts = try reader.array("conflicts", slice)
        case "stack": vector.stack = try slice(&reader)
        case _: _ = try reader.any()
        }
      }
      return vector
    }
  }

  @Test func eventsAreReadAndWrittenAgain() throws {
    var count = 0
    for vector in try vectors() {
      for bytes in vector.events {
        guard case .event(let line) = try JSONLine(parsing: bytes) else {
          Issue.record("not an event")
          return
        }
        // The same JSON: the vectors' keys stand in another order.
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        #expect(
          try JSONSerialization.data(withJSONObject: JSONSerialization.jsonObject(with: Data(bytes)), options: options)
            == JSONSerialization.data(
              withJSONObject: JSONSerialization.jsonObject(with: Data(line.bytes)), options: options))
        count += 1
      }
    }
    #expect(count > 300)
  }

  @Test func resultsArePrintedAsTheReferenceDoes() throws {
    var generator = Generator(seed: 2)
    var count = 0
    for vector in try vectors() {
      let conflicts = try vector.conflicts.map { try conflict($0) }
      #expect(JSONLines.conflicts(conflicts.shuffled(using: &generator.random), deviceText: text) == vector.conflicts)
      count += conflicts.count
      let stack = try JSONDecoder().decode([ReferenceEntry].self, from: Data(vector.stack)).map {
        Entry(id: try entry($0.id), value: Value(type: "String", payload: JSONText.quoted($0.value)))
      }
      #expect(JSONLines.stack(stack, deviceText: text) == vector.stack)
      let whole = JSONLines.result(stack: stack, conflicts: conflicts, held: [Dot(device("A"), 2)], deviceText: text)
      let list = vector.conflicts.joined(separator: Array(",".utf8))
      #expect(
        whole == Array(#"{"stack":"#.utf8) + vector.stack + Array(#","conflicts":["#.utf8) + list
          + Array(#"],"held":["A:2"]}"#.utf8))
    }
    #expect(count > 20)
  }

  /// Checked against Python: `sorted(…, key=lambda c: json.dumps(c, sort_keys=True))` with devices é, z and 😀.
  @Test func conflictsAreSortedAsPythonDoes() {
    let names = ["é", "z", "😀", "A\u{7F}"]
    let conflicts = names.indices.map { Conflict.noop(Dot(DeviceID(high: 0, low: UInt64($0)), 1)) }
    let sorted = JSONLines.conflicts(conflicts) { names[Int($0.low)] }
    #expect(
      sorted.map { String(decoding: $0, as: UTF8.self) } == [
        "{\"noop\":\"A\u{7F}:1\"}", #"{"noop":"é:1"}"#, #"{"noop":"😀:1"}"#, #"{"noop":"z:1"}"#,
      ])
  }

  private struct ReferenceEntry: Decodable {
    var id: String
    var value: String
  }

  private func device(_ text: String) -> DeviceID { DeviceID(high: 0, low: UInt64(text.unicodeScalars.first!.value)) }
  private func text(_ device: DeviceID) -> String { String(Unicode.Scalar(UInt32(device.low))!) }

  private func entry(_ text: String) throws -> EntryID {
    let name = try #require(EventLine.EntryName(text))
    return EntryID(Dot(device(name.device), name.sequence), name.index)
  }

  private func dot(_ text: Any?) throws -> Dot {
    let parts = try #require(text as? String).split(separator: ":")
    return Dot(device(String(parts[0])), try #require(Int(parts[1])))
  }

  private func conflict(_ json: [UInt8]) throws -> Conflict {
    let object = try #require(JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
    let (kind, content) = try #require(object.first)
    let parts = content as? [String: Any] ?? [:]
    switch kind {
    case "branches":
      let entries = try #require(parts["entries"] as? [String]).map { try entry($0) }
      return .branches(on: try (parts["on"] as? String).map { try entry($0) }, entries: entries)
    case "kept":
      return .kept(entry: try entry(try #require(parts["entry"] as? String)), removedBy: try dot(parts["removedBy"]))
    case "overridden": return .overridden(try dot(content))
    case "noop": return .noop(try dot(content))
    case _: return .fork(try dot(content))
    }
  }
}
