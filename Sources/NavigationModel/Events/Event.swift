/// What a screen shows, as data: a type's name and a JSON text.
public struct Value: Hashable, Sendable {
  /// The type's stable name, such as `Product` or `String`.
  public var type: String
  /// JSON text without line breaks, byte by byte as it came: numbers are never rounded, keys never reordered.
  public var payload: [UInt8]

  /// The largest payload and type name together, in bytes.
  public static let maximumSize = 64 << 10

  @inlinable
  public init(type: String, payload: [UInt8]) {
    self.type = type
    self.payload = payload
  }
}

/// What the person did, in terms of what they saw. Entries are named in the order shown, bottom to top.
public enum Action: Hashable, Sendable {
  /// Put these values, one above the other, on an entry; nil is the root.
  case push(on: EntryID?, values: [Value])
  /// Close these entries: what the person saw on top, named and not counted.
  case pop(entries: [EntryID])
  /// Close all that the author held.
  case popToRoot
  /// Keep this prefix, close all else that the author held, and put the values on it: a deep link or a path set by the
  /// program.
  case set(keep: [EntryID], values: [Value])
  /// Close the top entry and put the value in its place.
  case replace(entry: EntryID, value: Value)
}

extension Action {
  /// The values that the action puts on the stack, bottom to top.
  public var values: [Value] {
    switch self {
    case .push(_, let values), .set(_, let values): values
    case .replace(_, let value): [value]
    case .pop, .popToRoot: []
    }
  }
}

/// One action with its place in history.
public struct Event: Hashable, Sendable {
  public var dot: Dot
  /// All that the author held before it, the author's own events left out (of those it held `sequence - 1`).
  public var context: VersionVector
  public var timestamp: Timestamp
  public var action: Action
  /// Fields of a newer format, byte by byte as received; empty nearly always.
  public var unknownFields: [UInt8]

  @inlinable
  public init(
    dot: Dot, context: VersionVector, timestamp: Timestamp, action: Action, unknownFields: [UInt8] = []
  ) {
    self.dot = dot
    self.context = context
    self.timestamp = timestamp
    self.action = action
    self.unknownFields = unknownFields
  }

  /// The event's place in the order of events.
  @inlinable public var key: EventKey { EventKey(timestamp, dot.device) }
}
