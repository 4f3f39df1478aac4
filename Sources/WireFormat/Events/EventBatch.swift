public import NavigationModel

/// Events of one stack in log order: what one commit adds to a stack, byte for byte what is sent of it.
///
/// The bytes: the number of authors; of each its 16 bytes of id, the sequence of its first event here and the number of
/// its events here; then each event as the place of its author in that list (left out if there is one author), its
/// length, its canonical bytes. Numbers are varints of protobuf's form, the shortest spelling only. An author's
/// sequences run on without holes inside a batch.
public struct EventBatch: Hashable, Sendable {
  /// One author's part of a batch.
  public struct Author: Hashable, Sendable {
    public var device: DeviceID
    public var firstSequence: Int
    /// At least 1.
    public var count: Int

    public init(device: DeviceID, firstSequence: Int, count: Int) {
      self.device = device
      self.firstSequence = firstSequence
      self.count = count
    }

    public var lastSequence: Int { firstSequence + count - 1 }
  }

  /// One event of a batch.
  public struct Record: Hashable, Sendable {
    public var dot: Dot
    /// Where the canonical event stands in ``EventBatch/bytes``.
    public var range: Range<Int>
  }

  /// In the order of their first event.
  public private(set) var authors: [Author]
  /// The number of events.
  public private(set) var count: Int
  public private(set) var bytes: [UInt8]
  /// Where the records begin.
  private var start: Int

  /// No events; it has no bytes.
  public static let empty = EventBatch()

  private init() {
    authors = []
    count = 0
    bytes = []
    start = 0
  }

  /// Puts events together; every author's must run on without holes. O(bytes).
  public init(_ events: some Sequence<(dot: Dot, bytes: [UInt8])>) {
    self.init()
    var places: [DeviceID: Int] = [:]
    var order: [Int] = []
    var all: [[UInt8]] = []
    for (dot, bytes) in events {
      if let place = places[dot.device] {
        precondition(authors[place].lastSequence + 1 == dot.sequence, "a hole in the events of \(dot.device)")
        authors[place].count += 1
        order.append(place)
      } else {
        places[dot.device] = authors.count
        order.append(authors.count)
        authors.append(Author(device: dot.device, firstSequence: dot.sequence, count: 1))
      }
      all.append(bytes)
    }
    guard !all.isEmpty else { return }
    count = all.count
    bytes.reserveCapacity(all.reduce(8 + authors.count * 24) { $0 + $1.count + 6 })
    appendAuthors()
    for (place, event) in zip(order, all) {
      if authors.count > 1 { Self.append(place, to: &bytes) }
      Self.append(event.count, to: &bytes)
      bytes.append(contentsOf: event)
    }
  }

  /// Events of one author, in order and without holes.
  public struct Run: Hashable, Sendable {
    public var device: DeviceID
    public var firstSequence: Int
    /// Canonical; at least one.
    public var events: [[UInt8]]

    public init(device: DeviceID, firstSequence: Int, events: [[UInt8]]) {
      self.device = device
      self.firstSequence = firstSequence
      self.events = events
    }
  }

  /// Puts runs together in their order; every author's must run on without holes. O(bytes).
  public init(runs: [Run]) {
    self.init()
    var places: [DeviceID: Int] = [:]
    var order: [Int] = []
    var size = 16
    for run in runs where !run.events.isEmpty {
      count += run.events.count
      size += 24 + run.events.reduce(0) { $0 + $1.count + 6 }
      if let place = places[run.device] {
        precondition(authors[place].lastSequence + 1 == run.firstSequence, "a hole in the events of \(run.device)")
        authors[place].count += run.events.count
        order.append(place)
      } else {
        places[run.device] = authors.count
        order.append(authors.count)
        authors.append(Author(device: run.device, firstSequence: run.firstSequence, count: run.events.count))
      }
    }
    guard count > 0 else { return }
    bytes.reserveCapacity(size)
    appendAuthors()
    for (place, run) in zip(order, runs.lazy.filter { !$0.events.isEmpty }) {
      for event in run.events {
        if authors.count > 1 { Self.append(place, to: &bytes) }
        Self.append(event.count, to: &bytes)
        bytes.append(contentsOf: event)
      }
    }
  }

  private mutating func appendAuthors() {
    Self.append(authors.count, to: &bytes)
    for author in authors {
      withUnsafeBytes(of: (author.device.high.bigEndian, author.device.low.bigEndian)) {
        unsafe bytes.append(contentsOf: $0)
      }
      Self.append(author.firstSequence, to: &bytes)
      Self.append(author.count, to: &bytes)
    }
    start = bytes.count
  }

  /// Reads a batch; what a peer or a disk gives is checked whole, so that walking it can't fail. Allocates no more than
  /// a small multiple of the bytes.
  public init(bytes: [UInt8]) throws(DecodeError) {
    self.init()
    guard !bytes.isEmpty else { return }
    var at = 0
    let authorCount = try Self.number(in: bytes, at: &at)
    guard authorCount >= 1, authorCount <= bytes.count / 18 else {
      throw DecodeError(.badLength, at: 0, in: "event batch")
    }
    authors.reserveCapacity(authorCount)
    var seen: Set<DeviceID> = []
    for _ in 0..<authorCount {
      guard bytes.count - at >= 16 else { throw DecodeError(.truncated, at: at, in: "event batch") }
      let device = DeviceID(high: Self.word(in: bytes, at: at), low: Self.word(in: bytes, at: at + 8))
      at += 16
      let first = try Self.number(in: bytes, at: &at)
      let events = try Self.number(in: bytes, at: &at)
      guard first >= 1, events >= 1, events <= bytes.count, first <= Dot.maximumSequence - events,
        seen.insert(device).inserted
      else { throw DecodeError(.badNumber, at: at, in: "event batch") }
      authors.append(Author(device: device, firstSequence: first, count: events))
      count += events
    }
    start = at
    var found = [Int](repeating: 0, count: authorCount)
    var newest = -1
    while at < bytes.count {
      let place = authorCount > 1 ? try Self.number(in: bytes, at: &at) : 0
      let length = try Self.number(in: bytes, at: &at)
      guard place < authorCount, place <= newest + 1 else { throw DecodeError(.badNumber, at: at, in: "event batch") }
      guard length <= bytes.count - at else { throw DecodeError(.truncated, at: at, in: "event batch") }
      newest = max(newest, place)
      found[place] += 1
      at += length
    }
    guard zip(found, authors).allSatisfy({ $0 == $1.count }) else {
      throw DecodeError(.badLength, at: at, in: "event batch")
    }
    self.bytes = bytes
  }

  /// Each event in log order.
  public func forEach<E: Error>(_ body: (Record) throws(E) -> Void) throws(E) {
    var at = start
    var next = authors.map(\.firstSequence)
    while at < bytes.count {
      let place = authors.count > 1 ? Self.checkedNumber(in: bytes, at: &at) : 0
      let length = Self.checkedNumber(in: bytes, at: &at)
      try body(Record(dot: Dot(authors[place].device, next[place]), range: at..<at + length))
      next[place] += 1
      at += length
    }
  }

  /// Cut into batches of no more bytes each, unless it is one event that has more; itself if it has no more.
  package func pieces(ofAtMost maximumBytes: Int) -> [EventBatch] {
    guard bytes.count > maximumBytes else { return [self] }
    var result: [EventBatch] = []
    var events: [(dot: Dot, bytes: [UInt8])] = []
    var size = 0
    forEach { record in
      // With its author's line, its author's place, and its length.
      let weight = 32 + record.range.count
      if !events.isEmpty, size + weight > maximumBytes {
        result.append(EventBatch(events))
        events = []
        size = 0
      }
      events.append((record.dot, Array(bytes[record.range])))
      size += weight
    }
    return result + [EventBatch(events)]
  }

  // MARK: Numbers

  private static func append(_ number: Int, to bytes: inout [UInt8]) {
    var rest = UInt64(number)
    while rest > 127 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private static func number(in bytes: [UInt8], at: inout Int) throws(DecodeError) -> Int {
    let from = at
    var result = 0
    var shift = 0
    while true {
      guard at < bytes.count else { throw DecodeError(.truncated, at: from, in: "event batch") }
      guard shift < 56 else { throw DecodeError(.badNumber, at: from, in: "event batch") }
      let byte = bytes[at]
      at += 1
      result |= Int(byte & 127) << shift
      shift += 7
      if byte < 128 {
        guard byte != 0 || shift == 7 else { throw DecodeError(.badNumber, at: from, in: "event batch") }
        return result
      }
    }
  }

  /// A number that was checked when the batch was read or written.
  private static func checkedNumber(in bytes: [UInt8], at: inout Int) -> Int {
    var result = 0
    var shift = 0
    while true {
      let byte = bytes[at]
      at += 1
      result |= Int(byte & 127) << shift
      shift += 7
      if byte < 128 { return result }
    }
  }

  private static func word(in bytes: [UInt8], at: Int) -> UInt64 {
    var result: UInt64 = 0
    for byte in bytes[at..<at + 8] { result = result << 8 | UInt64(byte) }
    return result
  }
}
