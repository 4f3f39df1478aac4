import NavigationModel

extension JSONLine {
  /// Reads one line, without its line break. Space around it is passed over.
  public init(parsing line: [UInt8]) throws(LineError) {
    var line = line
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    var reader = LineReader(line)
    var parts = Parts()
    try reader.object("the line") { reader, key throws(LineError) in try parts.read(key, &reader) }
    try reader.finish()
    self = try parts.finish()
  }

  /// The line's bytes, without a line break.
  public var bytes: [UInt8] {
    switch self {
    case .header(let header): header.bytes
    case .event(let event): event.bytes
    case .chain(let chain): chain.bytes
    case .trailer(let trailer): trailer.bytes
    }
  }
}

/// What was read of a line so far.
private struct Parts {
  private var header: ExportHeader?
  private var trailer: ExportTrailer?
  private var chainLine: ChainLine?
  private var chain: String?
  private var device: String?
  private var sequence: Int?
  private var context: [EventLine.Held]?
  private var timestamp: Timestamp?
  private var action: EventLine.Action?
  private var previous: Digest?
  private var stack: String?
  private var unknownFields: [UInt8]?

  mutating func read(_ key: String, _ reader: inout LineReader) throws(LineError) {
    switch key {
    case "device": device = try reader.string("`device`")
    case "seq": sequence = try reader.integer("`seq`", in: 1...Dot.maximumSequence)
    case "context": context = try Self.context(&reader)
    case "time": timestamp = try Self.timestamp(&reader)
    case "action": action = try Self.action(&reader)
    case "previous": previous = try reader.digest("`previous`")
    case "stack": stack = try reader.string("`stack`")
    case "unknown":
      let start = reader.offset
      guard let bytes = Base64.decode(Array(try reader.string("`unknown`").utf8)), !bytes.isEmpty else {
        throw reader.fault("`unknown` must be base64", at: start)
      }
      unknownFields = bytes
    case "chain": chain = try reader.string("`chain`")
    case "fork", "unread":
      guard chainLine == nil else { throw reader.fault("the line has both `fork` and `unread`") }
      chainLine = try key == "fork" ? Self.fork(&reader) : Self.unread(&reader)
    case "navsync": header = try Self.header(&reader)
    case "end": trailer = try Self.trailer(&reader)
    case _: throw reader.fault("`\(key)` is not a key of an event, `navsync` or `end`")
    }
  }

  func finish() throws(LineError) -> JSONLine {
    let hasEvent =
      device != nil || sequence != nil || context != nil || timestamp != nil || action != nil || previous != nil
      || chain != nil || unknownFields != nil
    switch (header, trailer, chainLine, hasEvent, stack) {
    case (let header?, nil, nil, false, nil): return .header(header)
    case (nil, let trailer?, nil, false, nil): return .trailer(trailer)
    case (nil, nil, var line?, false, let stack):
      line.stack = stack
      return .chain(line)
    case (nil, nil, nil, _, _): return .event(try event())
    case _: throw LineError(at: 0, "the line mixes `navsync`, `end` or an event")
    }
  }

  private func event() throws(LineError) -> EventLine {
    func require<Part>(_ part: Part?, _ key: String) throws(LineError) -> Part {
      guard let part else { throw LineError(at: 0, "the event lacks `\(key)`") }
      return part
    }
    let device = try require(device, "device")
    let sequence = try require(sequence, "seq")
    // What says nothing is left out: a zero, and that the author held its own events.
    let others = try require(context, "context").filter { $0.sequence > 0 && $0.device != device }
    if let own = context?.first(where: { $0.device == device }), own.sequence != sequence - 1 {
      throw LineError(
        at: 0, "`context` says that the author held \(own.sequence) of its own events before `seq` \(sequence)")
    }
    return EventLine(
      device: device, sequence: sequence, context: others, timestamp: try require(timestamp, "time"),
      action: try require(action, "action"), previous: previous, stack: stack, unknownFields: unknownFields ?? [],
      chain: chain)
  }

  // MARK: Event keys

  private static func context(_ reader: inout LineReader) throws(LineError) -> [EventLine.Held] {
    var result: [EventLine.Held] = []
    try reader.object("`context`") { reader, device throws(LineError) in
      let sequence = try reader.integer("a number of `context`", in: 0...Dot.maximumSequence)
      result.append(EventLine.Held(device: device, sequence: sequence))
    }
    return result
  }

  private static func timestamp(_ reader: inout LineReader) throws(LineError) -> Timestamp {
    let start = reader.offset
    let limit = Timestamp.maximumMagnitude
    let numbers = try reader.array("`time`") { reader throws(LineError) in
      try reader.integer("a number of `time`", in: -limit...limit)
    }
    guard numbers.count == 2 else { throw reader.fault("`time` must be [milliseconds, counter]", at: start) }
    return Timestamp(milliseconds: numbers[0], counter: numbers[1])
  }

  private static func action(_ reader: inout LineReader) throws(LineError) -> EventLine.Action {
    let start = reader.offset
    var result: EventLine.Action?
    try reader.object("`action`") { reader, kind throws(LineError) in
      guard result == nil else { throw reader.fault("`action` must have one key") }
      result = try Self.action(kind, &reader)
    }
    guard let result else { throw reader.fault("`action` is empty", at: start) }
    return result
  }

  private static func action(_ kind: String, _ reader: inout LineReader) throws(LineError) -> EventLine.Action {
    let start = reader.offset
    var on: EventLine.EntryName??
    var entries: [EventLine.EntryName]?
    var values: [Value]?
    var value: Value?
    let keys: [String]
    switch kind {
    case "push": keys = ["on", "values"]
    case "pop": keys = ["entries"]
    case "popToRoot": keys = []
    case "set": keys = ["keep", "values"]
    case "replace": keys = ["entry", "value"]
    case _: throw reader.fault("`\(kind)` is not an action; they are push, pop, popToRoot, set and replace")
    }
    try reader.object("`\(kind)`") { reader, key throws(LineError) in
      guard keys.contains(key) else { throw reader.fault("`\(key)` is not a key of `\(kind)`") }
      switch key {
      case "on": on = .some(reader.takeNull() ? nil : try reader.entry("`on`"))
      case "entry": on = try reader.entry("`entry`")
      case "entries", "keep":
        entries = try reader.array("`\(key)`") { reader throws(LineError) in try reader.entry("an element of `\(key)`")
        }
      case "values": values = try reader.array("`values`") { reader throws(LineError) in try reader.value() }
      case _: value = try reader.value()
      }
    }
    switch (kind, on, entries, values, value) {
    case ("push", let on?, _, let values?, _): return .push(on: on, values: values)
    case ("pop", _, let entries?, _, _): return .pop(entries: entries)
    case ("popToRoot", _, _, _, _): return .popToRoot
    case ("set", _, let keep?, let values?, _): return .set(keep: keep, values: values)
    case ("replace", .some(.some(let entry)), _, _, let value?): return .replace(entry: entry, value: value)
    case _:
      throw reader.fault("`\(kind)` must have \(keys.map { "`\($0)`" }.joined(separator: " and "))", at: start)
    }
  }

  // MARK: Header and trailer

  private static func header(_ reader: inout LineReader) throws(LineError) -> ExportHeader {
    let start = reader.offset
    var format: Int?
    var stack: String?
    var policy: String?
    var devices: [ExportHeader.Device] = []
    try reader.object("`navsync`") { reader, key throws(LineError) in
      switch key {
      case "format": format = try reader.integer("`format`", in: 1...Dot.maximumSequence)
      case "stack": stack = try reader.string("`stack`")
      case "policy": policy = try reader.string("`policy`")
      case "devices":
        try reader.object("`devices`") { reader, id throws(LineError) in
          devices.append(ExportHeader.Device(id: id, name: try reader.string("a device's name")))
        }
      case _: _ = try reader.any()
      }
    }
    if let format, format > ExportHeader.currentFormat {
      throw LineError(
        at: start,
        "the file has format \(format), and this version reads up to \(ExportHeader.currentFormat); use a newer version",
        isNewerFormat: true)
    }
    guard let format, let stack, let policy else {
      throw reader.fault("`navsync` must have `format`, `stack` and `policy`", at: start)
    }
    return ExportHeader(stack: stack, policy: policy, devices: devices, format: format)
  }

  private static func fork(_ reader: inout LineReader) throws(LineError) -> ChainLine {
    let start = reader.offset
    var chain: String?
    var device: String?
    var sequence: Int?
    var digest: Digest?
    try reader.object("`fork`") { reader, key throws(LineError) in
      switch key {
      case "chain": chain = try reader.string("`chain`")
      case "device": device = try reader.string("`device`")
      case "digest": digest = try reader.digest("`digest`")
      case "seq": sequence = try reader.integer("`seq`", in: 1...Dot.maximumSequence)
      case _: throw reader.fault("`\(key)` is not a key of `fork`")
      }
    }
    guard let chain, let device, let sequence, let digest else {
      throw reader.fault("`fork` must have `chain`, `device`, `digest` and `seq`", at: start)
    }
    return ChainLine(chain: chain, entry: .fork(device: device, sequence: sequence, digest: digest), stack: nil)
  }

  private static func unread(_ reader: inout LineReader) throws(LineError) -> ChainLine {
    let start = reader.offset
    var chain: String?
    var sequence: Int?
    var bytes: [UInt8]?
    try reader.object("`unread`") { reader, key throws(LineError) in
      switch key {
      case "bytes":
        bytes = Base64.decode(Array(try reader.string("`bytes`").utf8))
        if bytes == nil { throw reader.fault("`bytes` must be base64") }
      case "chain": chain = try reader.string("`chain`")
      case "seq": sequence = try reader.integer("`seq`", in: 1...Dot.maximumSequence)
      case _: throw reader.fault("`\(key)` is not a key of `unread`")
      }
    }
    guard let chain, let sequence, let bytes, !bytes.isEmpty else {
      throw reader.fault("`unread` must have `bytes`, `chain` and `seq`", at: start)
    }
    return ChainLine(chain: chain, entry: .unread(sequence: sequence, bytes: bytes), stack: nil)
  }

  private static func trailer(_ reader: inout LineReader) throws(LineError) -> ExportTrailer {
    let start = reader.offset
    var count: Int?
    var heads: [ExportTrailer.Head] = []
    try reader.object("`end`") { reader, key throws(LineError) in
      switch key {
      case "count": count = try reader.integer("`count`", in: 0...Dot.maximumSequence)
      case "heads":
        try reader.object("`heads`") { reader, device throws(LineError) in
          heads.append(try Self.head(of: device, &reader))
        }
      case _: _ = try reader.any()
      }
    }
    guard let count else { throw reader.fault("`end` must have `count`", at: start) }
    return ExportTrailer(count: count, heads: heads)
  }

  private static func head(of device: String, _ reader: inout LineReader) throws(LineError) -> ExportTrailer.Head {
    let start = reader.offset
    var sequence: Int?
    var digest: Digest?
    try reader.object("a head") { reader, key throws(LineError) in
      switch key {
      case "seq": sequence = try reader.integer("`seq`", in: 1...Dot.maximumSequence)
      case "digest": digest = try reader.digest("`digest`")
      case _: _ = try reader.any()
      }
    }
    guard let sequence, let digest else { throw reader.fault("a head must have `seq` and `digest`", at: start) }
    return ExportTrailer.Head(device: device, sequence: sequence, digest: digest)
  }
}
