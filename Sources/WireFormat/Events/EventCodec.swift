public import NavigationModel

/// The canonical byte form of an event: what is stored, sent and hashed. `proto/EVENT-FORMAT.md` has it field by field.
///
/// An event is written against its author's state, so it can be read only after the author's events before it. There
/// is one way to write an event; the reader refuses any other.
public enum EventCodec {
  /// The largest canonical event, in bytes.
  public static let maximumSize = 128 << 10

  /// The bits of an event's first byte.
  enum Header {
    static let kindMask: UInt8 = 7
    static let push: UInt8 = 1
    static let pop: UInt8 = 2
    static let popToRoot: UInt8 = 3
    static let set: UInt8 = 4
    static let replace: UInt8 = 5
    /// The action is on ``AuthorState/top``, which is not spelled.
    static let onTop: UInt8 = 1 << 3
    /// The context differs from the author's previous one.
    static let context: UInt8 = 1 << 4
    /// The timestamp's counter is not the one that ``impliedCounter(after:at:)`` gives.
    static let counter: UInt8 = 1 << 5
    /// Fields of a newer format stand at the end.
    static let unknown: UInt8 = 1 << 6
    /// Always 0.
    static let reserved: UInt8 = 1 << 7
  }

  /// The type name that is written as an empty one.
  static let shortType = "String"

  /// What the counter is if it is not spelled: what ``Timestamp/next(at:)`` gives.
  static func impliedCounter(after previous: Timestamp, at milliseconds: Int) -> Int {
    milliseconds == previous.milliseconds ? previous.counter + 1 : 0
  }

  /// Writes an event after the author's previous one and moves the state on; a throw leaves the state as it was.
  public static func encode(_ event: Event, after state: inout AuthorState) throws(EncodeError) -> [UInt8] {
    guard event.dot.device == state.device, event.dot.sequence == state.sequence + 1 else {
      throw .notNext(expected: Dot(state.device, state.sequence + 1))
    }
    let known = state.table.count
    do {
      var writer = EventWriter(state: state)
      // The table is moved, not copied: it grows in place.
      swap(&writer.table, &state.table)
      defer { swap(&writer.table, &state.table) }
      try writer.write(event)
      return try finish(event, writer.bytes, &state)
    } catch {
      state.table.removeLast(state.table.count - known)
      throw error
    }
  }

  private static func finish(
    _ event: Event, _ bytes: [UInt8], _ state: inout AuthorState
  ) throws(EncodeError) -> [UInt8] {
    guard bytes.count <= maximumSize else { throw .eventTooLarge(size: bytes.count) }
    advance(&state, past: event)
    return bytes
  }

  /// Makes an event the author's last one. The device table is the caller's matter.
  static func advance(_ state: inout AuthorState, past event: Event) {
    state.sequence = event.dot.sequence
    state.timestamp = event.timestamp
    state.context = event.context
    state.top = newTop(of: event.action, in: event.dot)
  }

  private static func newTop(of action: Action, in dot: Dot) -> EntryID? {
    switch action {
    case .push(_, let values), .set(_, let values): values.isEmpty ? nil : EntryID(dot, values.count - 1)
    case .replace: EntryID(dot, 0)
    case .pop, .popToRoot: nil
    }
  }
}

/// Writes one event.
private struct EventWriter {
  let device: DeviceID
  let previous: Timestamp
  let previousContext: VersionVector
  let top: EntryID?
  var table: [DeviceID] = []
  var bytes: [UInt8] = []

  init(state: AuthorState) {
    device = state.device
    previous = state.timestamp
    previousContext = state.context
    top = state.top
  }

  mutating func write(_ event: Event) throws(EncodeError) {
    bytes.reserveCapacity(roughSize(of: event))
    bytes.append(0)
    try writeTimestamp(event.timestamp)
    if event.context != previousContext {
      bytes[0] |= EventCodec.Header.context
      try writeContext(event.context)
    }
    try writeAction(event)
    if !event.unknownFields.isEmpty {
      bytes[0] |= EventCodec.Header.unknown
      bytes.append(contentsOf: event.unknownFields)
    }
  }

  /// Enough for nearly all events.
  private func roughSize(of event: Event) -> Int {
    switch event.action {
    case .push(_, let values), .set(_, let values): values.reduce(48) { $0 + $1.payload.count + 16 }
    case .replace(_, let value): 64 + value.payload.count
    case .pop, .popToRoot: 48
    }
  }

  private mutating func writeTimestamp(_ stamp: Timestamp) throws(EncodeError) {
    let limit = -Timestamp.maximumMagnitude...Timestamp.maximumMagnitude
    guard limit.contains(stamp.milliseconds), limit.contains(stamp.counter) else { throw .numberOutOfRange }
    bytes.append(signed: stamp.milliseconds - previous.milliseconds)
    if stamp.counter != EventCodec.impliedCounter(after: previous, at: stamp.milliseconds) {
      bytes[0] |= EventCodec.Header.counter
      bytes.append(signed: stamp.counter)
    }
  }

  // MARK: Context

  private mutating func writeContext(_ context: VersionVector) throws(EncodeError) {
    var changes: [(place: Int, by: Int)] = []
    var new: [VersionVector.Element] = []
    let old = previousContext.elements
    var place = 0
    for element in context.elements {
      if place < old.count, old[place].device < element.device { throw .contextShrank(old[place].device) }
      guard element.sequence <= Dot.maximumSequence else { throw .numberOutOfRange }
      guard element.device != device else { throw .contextNamesAuthor }
      var held = 0
      if place < old.count, old[place].device == element.device {
        held = old[place].sequence
        place += 1
      }
      guard element.sequence >= held else { throw .contextShrank(element.device) }
      guard element.sequence != held else { continue }
      if let place = table.firstIndex(of: element.device) {
        changes.append((place, element.sequence - held))
      } else {
        new.append(element)
      }
    }
    if place < old.count { throw .contextShrank(old[place].device) }
    if changes.count > 1 { changes.sort { $0.place < $1.place } }
    bytes.append(number: changes.count + new.count)
    var last = 0
    for change in changes {
      bytes.append(number: change.place - last - 1)
      bytes.append(number: change.by)
      last = change.place
    }
    for element in new {
      bytes.append(number: table.count - last - 1)
      last = table.count
      try spell(element.device)
      bytes.append(number: element.sequence)
    }
  }

  /// Gives a device its number, at its first mention.
  private mutating func spell(_ device: DeviceID) throws(EncodeError) {
    guard table.count < AuthorState.maximumDevices else { throw .tooManyDevices }
    table.append(device)
    bytes.append(word: device.high)
    bytes.append(word: device.low)
  }

  // MARK: Action

  private mutating func writeAction(_ event: Event) throws(EncodeError) {
    switch event.action {
    case .push(let on, let values):
      bytes[0] |= EventCodec.Header.push
      if on == top {
        bytes[0] |= EventCodec.Header.onTop
      } else if let on {
        try write(on, placeOffset: 1, of: event)
      } else {
        bytes.append(0)
      }
      try write(values)
    case .pop(let entries):
      bytes[0] |= EventCodec.Header.pop
      if entries.count == 1, entries[0] == top {
        bytes[0] |= EventCodec.Header.onTop
      } else {
        try write(entries, of: event)
      }
    case .popToRoot:
      bytes[0] |= EventCodec.Header.popToRoot
    case .set(let keep, let values):
      bytes[0] |= EventCodec.Header.set
      try write(keep, of: event)
      try write(values)
    case .replace(let entry, let value):
      bytes[0] |= EventCodec.Header.replace
      if entry == top { bytes[0] |= EventCodec.Header.onTop } else { try write(entry, placeOffset: 0, of: event) }
      try write(value, place: 0)
    }
  }

  private mutating func write(_ entries: [EntryID], of event: Event) throws(EncodeError) {
    bytes.append(number: entries.count)
    for entry in entries { try write(entry, placeOffset: 0, of: event) }
  }

  private mutating func write(_ entry: EntryID, placeOffset: Int, of event: Event) throws(EncodeError) {
    guard (1...Dot.maximumSequence).contains(entry.dot.sequence), (0...Dot.maximumSequence).contains(entry.index)
    else { throw .numberOutOfRange }
    var near = event.dot.sequence - 1
    if entry.dot.device == device {
      bytes.append(number: placeOffset)
    } else {
      near = event.context[entry.dot.device]
      if let place = table.firstIndex(of: entry.dot.device) {
        bytes.append(number: place + placeOffset)
      } else {
        bytes.append(number: table.count + placeOffset)
        try spell(entry.dot.device)
      }
    }
    bytes.append(signed: near - entry.dot.sequence)
    bytes.append(number: entry.index)
  }

  private mutating func write(_ values: [Value]) throws(EncodeError) {
    bytes.append(number: values.count)
    for (place, value) in values.enumerated() { try write(value, place: place) }
  }

  private mutating func write(_ value: Value, place: Int) throws(EncodeError) {
    let name = value.type.utf8
    guard !name.isEmpty else { throw .namelessType(place: place) }
    let size = name.count + value.payload.count
    guard size <= Value.maximumSize else { throw .valueTooLarge(place: place, size: size) }
    do { try JSONScanner.check(value.payload, in: 0..<value.payload.count) } catch {
      throw .notJSON(place: place, error)
    }
    if value.type == EventCodec.shortType {
      bytes.append(0)
    } else {
      bytes.append(number: name.count)
      bytes.append(contentsOf: name)
    }
    bytes.append(number: value.payload.count)
    bytes.append(contentsOf: value.payload)
  }
}
