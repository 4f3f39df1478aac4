public import NavigationModel

/// One event as a line of JSON: devices are named by any text, so that lines from any source can be read.
public struct EventLine: Hashable, Sendable {
  /// An entry's name, `device:sequence:index`. The device's text may hold colons.
  public struct EntryName: Hashable, Sendable {
    public var device: String
    public var sequence: Int
    public var index: Int

    public init(device: String, sequence: Int, index: Int) {
      self.device = device
      self.sequence = sequence
      self.index = index
    }
  }

  /// What the person did, with entries by name.
  public enum Action: Hashable, Sendable {
    case push(on: EntryName?, values: [Value])
    case pop(entries: [EntryName])
    case popToRoot
    case set(keep: [EntryName], values: [Value])
    case replace(entry: EntryName, value: Value)
  }

  /// How much of one device is held.
  public struct Held: Hashable, Sendable {
    public var device: String
    /// At least 1.
    public var sequence: Int

    public init(device: String, sequence: Int) {
      self.device = device
      self.sequence = sequence
    }
  }

  public var device: String
  public var sequence: Int
  /// By the bytes of the devices' texts, the author left out.
  public var context: [Held]
  public var timestamp: Timestamp
  public var action: Action
  /// The author's digest before the event, if the line has it.
  public var previous: Digest?
  /// The stack's name, if the line has it; not checked.
  public var stack: String?
  /// Fields of a newer event format.
  public var unknownFields: [UInt8]
  /// The copy of the author's history that the event stands in; nil: the device's own chain.
  public var chain: String?

  public init(
    device: String, sequence: Int, context: [Held], timestamp: Timestamp, action: Action, previous: Digest? = nil,
    stack: String? = nil, unknownFields: [UInt8] = [], chain: String? = nil
  ) {
    self.chain = chain
    self.device = device
    self.sequence = sequence
    self.context = context.sorted { $0.device.utf8.lexicographicallyPrecedes($1.device.utf8) }
    self.timestamp = timestamp
    self.action = action
    self.previous = previous
    self.stack = stack
    self.unknownFields = unknownFields
  }
}

extension EventLine.EntryName: CustomStringConvertible {
  public var description: String { "\(device):\(sequence):\(index)" }

  /// Reads `device:sequence:index`, split from the right; nil for anything else.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    var end = bytes.count
    guard let index = Self.number(endingAt: &end, of: bytes), let sequence = Self.number(endingAt: &end, of: bytes),
      sequence >= 1
    else { return nil }
    self.init(device: String(decoding: bytes[..<end], as: UTF8.self), sequence: sequence, index: index)
  }

  /// The number after the last colon before `end`, as it is printed: no sign, no zeros in front. `end` goes to the colon.
  private static func number(endingAt end: inout Int, of bytes: [UInt8]) -> Int? {
    var start = end
    while start > 0, bytes[start - 1] != UInt8(ascii: ":") { start -= 1 }
    guard start > 0, (1...16).contains(end - start), bytes[start] != UInt8(ascii: "0") || end - start == 1 else {
      return nil
    }
    var number = 0
    for byte in bytes[start..<end] {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
    }
    end = start - 1
    return number <= Dot.maximumSequence ? number : nil
  }
}

// MARK: Events

extension EventLine {
  /// The line of an event.
  ///
  /// - Parameter deviceText: how a device is named; one text a device. The default is its hexadecimal form.
  public init(
    _ event: Event, stack: String? = nil, previous: Digest? = nil,
    deviceText: (DeviceID) -> String = { $0.description }
  ) {
    func name(_ entry: EntryID) -> EntryName {
      EntryName(device: deviceText(entry.dot.device), sequence: entry.dot.sequence, index: entry.index)
    }
    let action: Action =
      switch event.action {
      case .push(let on, let values): .push(on: on.map(name), values: values)
      case .pop(let entries): .pop(entries: entries.map(name))
      case .popToRoot: .popToRoot
      case .set(let keep, let values): .set(keep: keep.map(name), values: values)
      case .replace(let entry, let value): .replace(entry: name(entry), value: value)
      }
    self.init(
      device: deviceText(event.dot.device), sequence: event.dot.sequence,
      context: event.context.elements.map { Held(device: deviceText($0.device), sequence: $0.sequence) },
      timestamp: event.timestamp, action: action, previous: previous, stack: stack,
      unknownFields: event.unknownFields)
  }

  /// The devices that the line names, each once, in the order of their first mention: the author, its context, entries.
  public var devices: [String] {
    var seen: Set<String> = []
    let entries: [EntryName] =
      switch action {
      case .push(let on, _): on.map { [$0] } ?? []
      case .pop(let entries): entries
      case .popToRoot: []
      case .set(let keep, _): keep
      case .replace(let entry, _): [entry]
      }
    return ([device] + context.map(\.device) + entries.map(\.device)).filter { seen.insert($0).inserted }
  }

  /// The event, with devices by what their texts stand for.
  ///
  /// - Throws: that a text stands for nothing, or that two of the context stand for one device.
  public func event(resolving device: (String) -> DeviceID?) throws(LineError) -> Event {
    func resolve(_ text: String) throws(LineError) -> DeviceID {
      guard let id = device(text) else { throw LineError(at: 0, "'\(text)' is not a device id") }
      return id
    }
    func resolve(_ name: EntryName) throws(LineError) -> EntryID {
      EntryID(Dot(try resolve(name.device), name.sequence), name.index)
    }
    func resolve(_ names: [EntryName]) throws(LineError) -> [EntryID] {
      var entries: [EntryID] = []
      for name in names { entries.append(try resolve(name)) }
      return entries
    }
    let author = try resolve(self.device)
    var elements: [VersionVector.Element] = []
    for held in context {
      elements.append(VersionVector.Element(device: try resolve(held.device), sequence: held.sequence))
    }
    elements.sort { $0.device < $1.device }
    guard let context = VersionVector(ascending: elements), context[author] == 0 else {
      throw LineError(at: 0, "`context` names a device twice, or the author, or counts more events than can be")
    }
    let action: NavigationModel.Action
    switch self.action {
    case .push(let on, let values):
      var entry: EntryID?
      if let on { entry = try resolve(on) }
      action = .push(on: entry, values: values)
    case .pop(let entries): action = .pop(entries: try resolve(entries))
    case .popToRoot: action = .popToRoot
    case .set(let keep, let values): action = .set(keep: try resolve(keep), values: values)
    case .replace(let entry, let value): action = .replace(entry: try resolve(entry), value: value)
    }
    return Event(
      dot: Dot(author, sequence), context: context, timestamp: timestamp, action: action, unknownFields: unknownFields)
  }
}
