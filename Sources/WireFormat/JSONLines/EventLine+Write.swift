import NavigationModel

extension EventLine {
  /// The line's bytes, without a line break: keys sorted, payloads byte by byte. The same line gives the same bytes.
  public var bytes: [UInt8] {
    var json = JSONWriter()
    json.raw(#"{"action":"#)
    write(action, to: &json)
    if let chain {
      json.raw(#","chain":"#)
      json.string(chain)
    }
    json.raw(#","context":{"#)
    json.list(context) { json, held in
      json.string(held.device)
      json.raw(":\(held.sequence)")
    }
    json.raw(#"},"device":"#)
    json.string(device)
    if let previous {
      json.raw(#","previous":"#)
      json.string(previous.description)
    }
    json.raw(#","seq":\#(sequence)"#)
    if let stack {
      json.raw(#","stack":"#)
      json.string(stack)
    }
    json.raw(#","time":[\#(timestamp.milliseconds),\#(timestamp.counter)]"#)
    if !unknownFields.isEmpty {
      json.raw(#","unknown":""#)
      json.raw(Base64.encode(unknownFields))
      json.raw("\"")
    }
    json.raw("}")
    return json.bytes
  }

  private func write(_ action: Action, to json: inout JSONWriter) {
    switch action {
    case .push(let on, let values):
      json.raw(#"{"push":{"on":"#)
      if let on { json.string(on.description) } else { json.raw("null") }
      json.raw(#","values":["#)
      json.list(values) { $0.value($1) }
      json.raw("]}}")
    case .pop(let entries):
      json.raw(#"{"pop":{"entries":["#)
      json.list(entries) { $0.string($1.description) }
      json.raw("]}}")
    case .popToRoot: json.raw(#"{"popToRoot":{}}"#)
    case .set(let keep, let values):
      json.raw(#"{"set":{"keep":["#)
      json.list(keep) { $0.string($1.description) }
      json.raw(#"],"values":["#)
      json.list(values) { $0.value($1) }
      json.raw("]}}")
    case .replace(let entry, let value):
      json.raw(#"{"replace":{"entry":"#)
      json.string(entry.description)
      json.raw(#","value":"#)
      json.value(value)
      json.raw("}}")
    }
  }
}
