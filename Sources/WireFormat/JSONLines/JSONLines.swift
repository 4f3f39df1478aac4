public import NavigationModel

/// The JSON forms of events and of a fold's result.
public enum JSONLines {
  /// One event as a line, without a line break.
  public static func line(
    _ event: Event, stack: String?, previous: Digest?, deviceText: (DeviceID) -> String = { $0.description }
  ) -> [UInt8] {
    EventLine(event, stack: stack, previous: previous, deviceText: deviceText).bytes
  }

  /// A fold's result as one JSON object with `stack` and `conflicts`, and `held` if anything is.
  ///
  /// - Parameter held: the events that wait for others, in the order that they are to be printed in.
  public static func result(
    stack: [Entry], conflicts: [Conflict], held: [Dot] = [], deviceText: (DeviceID) -> String = { $0.description }
  ) -> [UInt8] {
    var json = JSONWriter()
    json.raw(#"{"stack":"#)
    json.raw(Self.stack(stack, deviceText: deviceText))
    json.raw(#","conflicts":["#)
    json.list(Self.conflicts(conflicts, deviceText: deviceText)) { $0.raw($1) }
    json.raw("]")
    if !held.isEmpty {
      json.raw(#","held":["#)
      json.list(held) { $0.string("\(deviceText($1.device)):\($1.sequence)") }
      json.raw("]")
    }
    json.raw("}")
    return json.bytes
  }

  /// A stack's entries, bottom to top, as an array of `{"id", "value"}`.
  public static func stack(_ entries: [Entry], deviceText: (DeviceID) -> String = { $0.description }) -> [UInt8] {
    var json = JSONWriter()
    json.raw("[")
    json.list(entries) { json, entry in
      json.raw(#"{"id":"#)
      json.string(text(of: entry.id, deviceText))
      json.raw(#","value":"#)
      json.value(entry.value)
      json.raw("}")
    }
    json.raw("]")
    return json.bytes
  }

  /// Conflicts, one JSON object each, in the order of their texts as Python's `json.dumps(c, sort_keys=True)` writes
  /// them: that of the reference vectors.
  public static func conflicts(
    _ conflicts: [Conflict], deviceText: (DeviceID) -> String = { $0.description }
  ) -> [[UInt8]] {
    conflicts.map { (key: sortKey(of: $0, deviceText), json: json(of: $0, deviceText)) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.json)
  }

  /// A conflict as compact JSON.
  private static func json(of conflict: Conflict, _ deviceText: (DeviceID) -> String) -> [UInt8] {
    var json = JSONWriter()
    func dot(_ kind: String, _ dot: Dot) {
      json.raw(#"{"\#(kind)":"#)
      json.string(text(of: dot, deviceText))
      json.raw("}")
    }
    switch conflict {
    case .branches(let on, let entries):
      json.raw(#"{"branches":{"on":"#)
      if let on { json.string(text(of: on, deviceText)) } else { json.raw("null") }
      json.raw(#","entries":["#)
      json.list(entries) { $0.string(text(of: $1, deviceText)) }
      json.raw("]}}")
    case .kept(let entry, let removedBy):
      json.raw(#"{"kept":{"entry":"#)
      json.string(text(of: entry, deviceText))
      json.raw(#","removedBy":"#)
      json.string(text(of: removedBy, deviceText))
      json.raw("}}")
    case .overridden(let event): dot("overridden", event)
    case .noop(let event): dot("noop", event)
    case .fork(let event): dot("fork", event)
    }
    return json.bytes
  }

  /// Python's form: keys sorted, `", "` and `": "` between, nothing beyond ASCII.
  private static func sortKey(of conflict: Conflict, _ deviceText: (DeviceID) -> String) -> [UInt8] {
    var key: [UInt8] = []
    func put(_ text: String) { key.append(contentsOf: text.utf8) }
    func string(_ text: String) { JSONText.append(text, to: &key, asciiOnly: true) }
    switch conflict {
    case .branches(let on, let entries):
      put(#"{"branches": {"entries": ["#)
      for (place, entry) in entries.enumerated() {
        if place > 0 { put(", ") }
        string(text(of: entry, deviceText))
      }
      put(#"], "on": "#)
      if let on { string(text(of: on, deviceText)) } else { put("null") }
      put("}}")
    case .kept(let entry, let removedBy):
      put(#"{"kept": {"entry": "#)
      string(text(of: entry, deviceText))
      put(#", "removedBy": "#)
      string(text(of: removedBy, deviceText))
      put("}}")
    case .overridden(let event), .noop(let event), .fork(let event):
      let kind =
        switch conflict {
        case .overridden: "overridden"
        case .noop: "noop"
        case _: "fork"
        }
      put(#"{"\#(kind)": "#)
      string(text(of: event, deviceText))
      put("}")
    }
    return key
  }

  private static func text(of dot: Dot, _ deviceText: (DeviceID) -> String) -> String {
    "\(deviceText(dot.device)):\(dot.sequence)"
  }

  private static func text(of entry: EntryID, _ deviceText: (DeviceID) -> String) -> String {
    "\(text(of: entry.dot, deviceText)):\(entry.index)"
  }
}
