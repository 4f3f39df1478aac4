import Foundation
import NavigationModel
import TestSupport

/// One worked history of the reference model: a set of events with the stack and the conflicts that are right.
///
/// Devices are texts there; here they take ids in the order of the texts' bytes, so that ties fall the same way.
struct Vector: Sendable {
  let seed: Int
  let policy: Policy
  /// In an arrival order, some twice.
  let arrivals: [Event]
  let stack: [Entry]
  let conflicts: Set<Conflict>

  static func all() throws -> [Vector] {
    try Fixtures.lines(ofGzipped: "fold-vectors.jsonl.gz").map { try Vector(json: $0) }
  }

  struct Malformed: Error {}

  init(json: String) throws {
    guard let line = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any],
      let policyText = line["policy"] as? String, let events = line["events"] as? [[String: Any]],
      let stack = line["stack"] as? [[String: Any]], let conflicts = line["conflicts"] as? [[String: Any]],
      let seed = line["seed"] as? Int
    else { throw Malformed() }
    let names = Set("ABCDEFWXYZ".map(String.init)).sorted()
    var devices: [String: DeviceID] = [:]
    for (place, name) in names.enumerated() { devices[name] = DeviceID(high: 0, low: UInt64(place + 1)) }
    let reader = Reader(devices: devices)
    self.seed = seed
    if policyText.hasPrefix("lead:") {
      policy = .lead(try reader.device(String(policyText.dropFirst(5))))
    } else {
      guard let plain = Policy(policyText) else { throw Malformed() }
      policy = plain
    }
    arrivals = try events.map(reader.event)
    self.stack = try stack.map {
      Entry(id: try reader.entry($0["id"]), value: try reader.value($0["value"]))
    }
    self.conflicts = Set(try conflicts.map(reader.conflict))
  }

  struct Reader {
    let devices: [String: DeviceID]

    func device(_ name: some StringProtocol) throws -> DeviceID {
      guard let id = devices[String(name)] else { throw Malformed() }
      return id
    }

    func dot(_ json: Any?) throws -> Dot {
      guard let text = json as? String, let colon = text.lastIndex(of: ":"),
        let sequence = Int(text[text.index(after: colon)...])
      else { throw Malformed() }
      return Dot(try device(text[..<colon]), sequence)
    }

    func entry(_ json: Any?) throws -> EntryID {
      guard let text = json as? String, let colon = text.lastIndex(of: ":"),
        let index = Int(text[text.index(after: colon)...])
      else { throw Malformed() }
      return EntryID(try dot(String(text[..<colon])), index)
    }

    func value(_ json: Any?) throws -> Value {
      guard let text = json as? String else { throw Malformed() }
      return Value(type: "String", payload: Array("\"\(text)\"".utf8))
    }

    func entries(_ json: Any?) throws -> [EntryID] {
      guard let list = json as? [Any] else { throw Malformed() }
      return try list.map { try entry($0) }
    }

    func values(_ json: Any?) throws -> [Value] {
      guard let list = json as? [Any] else { throw Malformed() }
      return try list.map { try value($0) }
    }

    func event(_ json: [String: Any]) throws -> Event {
      guard let device = json["device"] as? String, let sequence = json["seq"] as? Int,
        let context = json["context"] as? [String: Int], let time = json["time"] as? [Int],
        let action = json["action"] as? [String: [String: Any]], let (kind, fields) = action.first
      else { throw Malformed() }
      var vector = VersionVector()
      for (name, number) in context { vector[try self.device(name)] = number }
      return Event(
        dot: Dot(try self.device(device), sequence), context: vector,
        timestamp: Timestamp(milliseconds: time[0], counter: time[1]), action: try self.action(kind, fields))
    }

    func action(_ kind: String, _ fields: [String: Any]) throws -> Action {
      switch kind {
      case "push":
        .push(on: fields["on"] is NSNull ? nil : try entry(fields["on"]), values: try values(fields["values"]))
      case "pop": .pop(entries: try entries(fields["entries"]))
      case "popToRoot": .popToRoot
      case "set": .set(keep: try entries(fields["keep"]), values: try values(fields["values"]))
      case "replace": .replace(entry: try entry(fields["entry"]), value: try value(fields["value"]))
      case _: throw Malformed()
      }
    }

    func conflict(_ json: [String: Any]) throws -> Conflict {
      guard let (kind, what) = json.first else { throw Malformed() }
      switch kind {
      case "branches":
        guard let fields = what as? [String: Any] else { throw Malformed() }
        return .branches(
          on: fields["on"] is NSNull ? nil : try entry(fields["on"]), entries: try entries(fields["entries"]))
      case "kept":
        guard let fields = what as? [String: Any] else { throw Malformed() }
        return .kept(entry: try entry(fields["entry"]), removedBy: try dot(fields["removedBy"]))
      case "noop": return .noop(try dot(what))
      case "overridden": return .overridden(try dot(what))
      case _: throw Malformed()
      }
    }
  }
}

extension Admission {
  /// Admits events that have no digests: chains go by number.
  init(unchained events: some Sequence<Event>) {
    self.init(
      events.map { event in
        Claim(
          event: event,
          previous: event.dot.sequence == 1 ? .empty : Digest(high: 1, low: UInt64(event.dot.sequence - 1)),
          digest: Digest(high: 1, low: UInt64(event.dot.sequence)))
      })
  }
}

/// The events in some order that causality allows.
func causalShuffle(_ events: [Event], using generator: inout SeededGenerator) -> [Event] {
  var waiting = events.shuffled(using: &generator)
  var held = VersionVector()
  var result: [Event] = []
  while !waiting.isEmpty {
    guard
      let next = waiting.firstIndex(where: { held[$0.dot.device] == $0.dot.sequence - 1 && held.covers($0.context) })
    else { fatalError("a set that was not admitted") }
    let event = waiting.remove(at: next)
    held[event.dot.device] = event.dot.sequence
    result.append(event)
  }
  return result
}
