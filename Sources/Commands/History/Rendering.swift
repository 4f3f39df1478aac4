import ArgumentParsing
import Foundation
import NavigationModel
import WireFormat

/// A value on a line: a string as itself, anything else as its type and its JSON.
func text(of value: Value) -> String {
  if value.type == "String", let string = string(inJSON: value.payload) {
    return string.isEmpty ? "\"\"" : escapingControls(string)
  }
  if let string = string(inJSON: value.payload) { return escapingControls("\(value.type) \(string)") }
  return escapingControls("\(value.type) \(String(decoding: value.payload, as: UTF8.self))")
}

/// The string that a JSON text is, nil if it is something else.
private func string(inJSON payload: [UInt8]) -> String? {
  guard payload.first == UInt8(ascii: "\"") else { return nil }
  return try? JSONDecoder().decode(String.self, from: Data(payload))
}

/// A stack on a line, bottom to top.
func breadcrumbs(_ entries: [Entry]) -> String { breadcrumbs(entries.map(\.value)) }

func breadcrumbs(_ values: [Value]) -> String {
  values.isEmpty ? "(root)" : values.map { text(of: $0) }.joined(separator: " › ")
}

/// What the person did, on a line.
func text(of action: Action) -> String {
  let values = action.values.map(text).joined(separator: " › ")
  return switch action {
  case .push: "push \(values)"
  case .pop(let entries): entries.count == 1 ? "pop" : "pop \(entries.count)"
  case .popToRoot: "root"
  case .set(let keep, _): keep.isEmpty ? "set \(values)" : "set keep \(keep.count) › \(values)"
  case .replace: "replace \(values)"
  }
}

/// A conflict for a person: both sides and what was decided. `values` gives an entry's value, if it is shown.
func text(of conflict: Conflict, _ names: DeviceNames, _ values: [EntryID: Value]) -> String {
  func entry(_ id: EntryID) -> String {
    let name = "\(names.text(id.dot.device)):\(id.dot.sequence):\(id.index)"
    return values[id].map { "\(text(of: $0)) (\(name))" } ?? name
  }
  func event(_ dot: Dot) -> String { "\(names.text(dot.device)):\(dot.sequence)" }
  return switch conflict {
  case .branches(let on, let entries):
    "branches: \(entries.map(entry).joined(separator: " and ")) were put on \(on.map(entry) ?? "the root"); all are kept, "
      + "the newest on top"
  case .kept(let kept, let removal):
    "kept: \(entry(kept)) was closed by \(event(removal)), which had not seen what was put on it"
  case .overridden(let dot): "overridden: \(event(dot)) isn't part of what is shown; a later or leading action won"
  case .noop(let dot): "void: \(event(dot)) did nothing; what it named was not open to its author"
  case .fork(let dot): "fork: two events are called \(event(dot)); the earlier one is folded"
  }
}
