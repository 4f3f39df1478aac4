public import NavigationModel

extension EventCodec {
  /// Reads the author's next event and moves the state on; a throw leaves the state as it was.
  ///
  /// Takes only what ``encode(_:after:)`` writes. Allocates no more than a small multiple of the bytes. The context
  /// shares its storage with the author's previous one if it didn't change.
  public static func decode(_ bytes: [UInt8], after state: inout AuthorState) throws(DecodeError) -> Event {
    try decode(bytes, in: 0..<bytes.count, after: &state)
  }

  /// Reads the event that stands in a range of bytes, without copying them first.
  public static func decode(
    _ bytes: [UInt8], in range: Range<Int>, after state: inout AuthorState
  ) throws(DecodeError) -> Event {
    precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "a range outside its bytes")
    var reader = EventByteReader(bytes, in: range)
    let known = state.table.count
    do {
      let event = try readEvent(&reader, &state)
      advance(&state, past: event)
      return event
    } catch {
      if state.table.count > known { state.table.removeLast(state.table.count - known) }
      throw DecodeError(error.code, at: error.offset - range.lowerBound, in: error.what)
    }
  }

  /// Changes nothing of the state but the table.
  private static func readEvent(
    _ reader: inout EventByteReader, _ state: inout AuthorState
  ) throws(DecodeError) -> Event {
    guard reader.left <= maximumSize else { throw reader.fault(.tooLarge) }
    let header = try reader.byte()
    guard header & Header.reserved == 0, (Header.push...Header.replace).contains(header & Header.kindMask) else {
      throw reader.fault(.unsupported, at: reader.at - 1)
    }
    guard state.sequence < Dot.maximumSequence else { throw reader.fault(.badNumber) }
    let timestamp = try readTimestamp(&reader, header, after: state.timestamp)
    var context = state.context
    if header & Header.context != 0 { try readContext(&reader, &state, &context) }
    let dot = Dot(state.device, state.sequence + 1)
    let action = try readAction(&reader, header, dot, &state, context)
    var unknownFields: [UInt8] = []
    if header & Header.unknown != 0 {
      guard reader.left > 0 else { throw reader.fault(.notCanonical) }
      unknownFields = Array(reader.bytes[reader.at..<reader.end])
    } else if reader.left > 0 {
      throw reader.fault(.trailing)
    }
    return Event(
      dot: dot, context: context, timestamp: timestamp, action: action, unknownFields: unknownFields)
  }

  private static func readTimestamp(
    _ reader: inout EventByteReader, _ header: UInt8, after previous: Timestamp
  ) throws(DecodeError) -> Timestamp {
    let start = reader.at
    let milliseconds = previous.milliseconds + (try reader.signed())
    let implied = impliedCounter(after: previous, at: milliseconds)
    var counter = implied
    if header & Header.counter != 0 {
      counter = try reader.signed()
      guard counter != implied else { throw reader.fault(.notCanonical, at: start) }
    }
    guard milliseconds.magnitude <= Timestamp.maximumMagnitude, counter.magnitude <= Timestamp.maximumMagnitude else {
      throw reader.fault(.badNumber, at: start)
    }
    return Timestamp(milliseconds: milliseconds, counter: counter)
  }

  // MARK: Context

  private static func readContext(
    _ reader: inout EventByteReader, _ state: inout AuthorState, _ context: inout VersionVector
  ) throws(DecodeError) {
    let count = try reader.count(ofAtLeast: 2)
    guard count > 0 else { throw reader.fault(.notCanonical, at: reader.at - 1) }
    let known = state.table.count
    var place = 0
    for _ in 0..<count {
      let start = reader.at
      place += 1 + (try reader.number())
      guard place <= state.table.count else { throw reader.fault(.badNumber, at: start) }
      if place == state.table.count {
        let device = try readNewDevice(&reader, &state)
        // Those that are new here are spelled in their order.
        guard place == known || state.table[place - 1] < device else { throw reader.fault(.notCanonical, at: start) }
      }
      let device = state.table[place]
      let more = try reader.number()
      guard more > 0 else { throw reader.fault(.notCanonical, at: start) }
      let sequence = context[device] + more
      guard sequence <= Dot.maximumSequence, more <= Int.max - context.total else {
        throw reader.fault(.badNumber, at: start)
      }
      context[device] = sequence
    }
  }

  /// Takes a device into the table.
  private static func readNewDevice(
    _ reader: inout EventByteReader, _ state: inout AuthorState
  ) throws(DecodeError) -> DeviceID {
    let start = reader.at
    let device = DeviceID(high: try reader.word(), low: try reader.word())
    guard state.table.count < AuthorState.maximumDevices else { throw reader.fault(.tooLarge, at: start) }
    guard !state.table.contains(device) else { throw reader.fault(.notCanonical, at: start) }
    state.table.append(device)
    return device
  }

  // MARK: Action

  private static func readAction(
    _ reader: inout EventByteReader, _ header: UInt8, _ dot: Dot, _ state: inout AuthorState, _ context: VersionVector
  ) throws(DecodeError) -> Action {
    let onTop = header & Header.onTop != 0
    let top = state.top
    let start = reader.at
    switch header & Header.kindMask {
    case Header.push:
      var on = top
      if !onTop {
        let place = try reader.number()
        on = place == 0 ? nil : try readEntry(&reader, place - 1, dot, &state, context)
        guard on != top else { throw reader.fault(.notCanonical, at: start) }
      }
      return .push(on: on, values: try readValues(&reader))
    case Header.pop:
      if onTop {
        guard let top else { throw reader.fault(.notCanonical, at: start) }
        return .pop(entries: [top])
      }
      let entries = try readEntries(&reader, dot, &state, context)
      guard entries.count != 1 || entries[0] != top else { throw reader.fault(.notCanonical, at: start) }
      return .pop(entries: entries)
    case Header.popToRoot:
      guard !onTop else { throw reader.fault(.notCanonical, at: start) }
      return .popToRoot
    case Header.set:
      guard !onTop else { throw reader.fault(.notCanonical, at: start) }
      let keep = try readEntries(&reader, dot, &state, context)
      return .set(keep: keep, values: try readValues(&reader))
    case _:  // the kinds were checked: replace
      if onTop {
        guard let top else { throw reader.fault(.notCanonical, at: start) }
        return .replace(entry: top, value: try readValue(&reader))
      }
      let entry = try readEntry(&reader, try reader.number(), dot, &state, context)
      guard entry != top else { throw reader.fault(.notCanonical, at: start) }
      return .replace(entry: entry, value: try readValue(&reader))
    }
  }

  private static func readEntries(
    _ reader: inout EventByteReader, _ dot: Dot, _ state: inout AuthorState, _ context: VersionVector
  ) throws(DecodeError) -> [EntryID] {
    let count = try reader.count(ofAtLeast: 3)
    var entries: [EntryID] = []
    entries.reserveCapacity(count)
    for _ in 0..<count {
      entries.append(try readEntry(&reader, try reader.number(), dot, &state, context))
    }
    return entries
  }

  /// Reads the rest of an entry whose device's place was read.
  private static func readEntry(
    _ reader: inout EventByteReader, _ place: Int, _ dot: Dot, _ state: inout AuthorState, _ context: VersionVector
  ) throws(DecodeError) -> EntryID {
    let start = reader.at
    guard place <= state.table.count else { throw reader.fault(.badNumber, at: start) }
    let device = place == state.table.count ? try readNewDevice(&reader, &state) : state.table[place]
    let near = place == 0 ? dot.sequence - 1 : context[device]
    let sequence = near - (try reader.signed())
    let index = try reader.number()
    guard (1...Dot.maximumSequence).contains(sequence), index <= Dot.maximumSequence else {
      throw reader.fault(.badNumber, at: start)
    }
    return EntryID(Dot(device, sequence), index)
  }

  private static func readValues(_ reader: inout EventByteReader) throws(DecodeError) -> [Value] {
    let count = try reader.count(ofAtLeast: 3)
    if count == 1 { return [try readValue(&reader)] }
    var values: [Value] = []
    values.reserveCapacity(count)
    for _ in 0..<count { values.append(try readValue(&reader)) }
    return values
  }

  private static func readValue(_ reader: inout EventByteReader) throws(DecodeError) -> Value {
    let start = reader.at
    let name = try reader.run(limit: Value.maximumSize)
    var type = shortType
    var size = type.utf8.count
    if !name.isEmpty {
      guard let text = reader.bytes.text(in: name) else {
        throw reader.fault(.badText, at: start)
      }
      guard text != shortType else { throw reader.fault(.notCanonical, at: start) }
      type = text
      size = name.count
    }
    let payload = try reader.run(limit: Value.maximumSize)
    guard size + payload.count <= Value.maximumSize else { throw reader.fault(.tooLarge, at: start) }
    try JSONScanner.check(reader.bytes, in: payload)
    return Value(type: type, payload: Array(reader.bytes[payload]))
  }
}
