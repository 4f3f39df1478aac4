import NavigationModel

/// A line of a file, by the event that it has.
struct SortedLine {
  /// What lines are sorted by.
  struct Key: Comparable {
    var dot: Dot
    /// The line's number in the file, from 1 on.
    var number: Int

    static func < (left: Key, right: Key) -> Bool {
      left.dot != right.dot ? left.dot < right.dot : left.number < right.number
    }
  }

  var key: Key
  var bytes: [UInt8]
}

/// Sorts lines by device, sequence and number, however many there are: an external merge sort in files without names.
///
/// Holds so many bytes of lines, sorts those and writes them out as a run; in the end the runs are merged into one file.
/// Takes as much of the disk as the lines have bytes, and twice that while it merges.
struct LineSorter {
  private let what: String
  private let room: Int
  private let file: TemporaryFile
  private var runs: [Range<Int>] = []
  private var held: [UInt8] = []
  private var places: [(key: SortedLine.Key, range: Range<Int>)] = []
  /// How much is written, of the runs or of what they are merged into.
  private var written = 0
  /// Where each device's lines stand in the run that was written last, or in what the runs were merged into.
  private var chains: [Range<Int>] = []
  private var lastDevice: DeviceID?

  /// - Parameters:
  ///   - what: whose lines they are, for messages.
  ///   - room: how many bytes are sorted at once.
  init(for what: String, room: Int = 32 << 20) throws {
    self.what = what
    self.room = room
    file = try TemporaryFile(for: what)
  }

  /// How many lines were added.
  private(set) var count = 0

  mutating func add(_ dot: Dot, number: Int, _ bytes: [UInt8]) throws {
    if held.count + bytes.count > room { try writeRun() }
    count += 1
    places.append((SortedLine.Key(dot: dot, number: number), held.count..<held.count + bytes.count))
    held += bytes
  }

  /// The lines of each device, by ascending id.
  mutating func finish() throws -> [SortedLines] {
    try writeRun()
    (held, places) = ([], [])
    let sorted = runs.count > 1 ? try merge() : file
    return chains.map { SortedLines(sorted, $0, ofSo: chains.count) }
  }

  private mutating func writeRun() throws {
    guard !places.isEmpty else { return }
    places.sort { $0.key < $1.key }
    let start = written
    (chains, lastDevice) = ([], nil)
    for (key, range) in places { try write(key, held[range], to: file) }
    try file.output.flush()
    runs.append(start..<written)
    held.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }

  /// The first line that wasn't merged yet of a run.
  private struct Next: Comparable {
    var line: SortedLine
    var run: Int

    static func < (left: Next, right: Next) -> Bool { left.line.key < right.line.key }
    static func == (left: Next, right: Next) -> Bool { left.line.key == right.line.key }
  }

  private mutating func merge() throws -> TemporaryFile {
    let merged = try TemporaryFile(for: what)
    (written, chains, lastDevice) = (0, [], nil)
    var readers = runs.map { SortedLines(file, $0, ofSo: runs.count) }
    var heap = Heap<Next>()
    for run in readers.indices { if let line = try readers[run].next() { heap.insert(Next(line: line, run: run)) } }
    while let next = heap.removeFirst() {
      try write(next.line.key, next.line.bytes[...], to: merged)
      if let line = try readers[next.run].next() { heap.insert(Next(line: line, run: next.run)) }
    }
    try merged.output.flush()
    return merged
  }

  private mutating func write(_ key: SortedLine.Key, _ bytes: ArraySlice<UInt8>, to file: TemporaryFile) throws {
    let start = written
    try file.output.write(SortedLines.prefix(key, bytes.count))
    try file.output.write(bytes)
    written += SortedLines.prefixSize + bytes.count
    if key.dot.device == lastDevice {
      chains[chains.count - 1] = chains[chains.count - 1].lowerBound..<written
    } else {
      lastDevice = key.dot.device
      chains.append(start..<written)
    }
  }
}

/// Sorted lines in a part of a file, one after the other.
struct SortedLines {
  private let file: TemporaryFile
  /// What wasn't read yet.
  private var rest: Range<Int>
  private let blockSize: Int
  private var block: [UInt8] = []
  private var start = 0

  /// What all that are read at a time hold, about.
  private static let room = 16 << 20

  /// - Parameter count: how many parts are read at a time.
  fileprivate init(_ file: TemporaryFile, _ range: Range<Int>, ofSo count: Int) {
    self.file = file
    rest = range
    blockSize = min(max(Self.room / max(1, count), 4 << 10), 256 << 10)
  }

  mutating func next() throws -> SortedLine? {
    guard let prefix = try take(Self.prefixSize) else { return nil }
    let numbers = prefix.withUnsafeBytes { bytes in
      (0..<5).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self) }
    }
    let dot = Dot(DeviceID(high: numbers[0], low: numbers[1]), Int(numbers[2]))
    guard let bytes = try take(Int(numbers[4])) else { throw damage }
    return SortedLine(key: SortedLine.Key(dot: dot, number: Int(numbers[3])), bytes: Array(bytes))
  }

  private mutating func take(_ count: Int) throws -> ArraySlice<UInt8>? {
    if block.count - start < count {
      guard start < block.count || !rest.isEmpty else { return nil }
      let more = min(max(blockSize, count), rest.count)
      block = block[start...] + (try file.read(more, at: rest.lowerBound))
      start = 0
      rest = rest.lowerBound + more..<rest.upperBound
    }
    guard block.count - start >= count else { throw damage }
    defer { start += count }
    return block[start..<start + count]
  }

  private var damage: CommandError { CommandError(.failed, "a temporary file was changed by somebody else") }

  // MARK: Bytes

  /// Of a line's key and length: five numbers.
  fileprivate static let prefixSize = 40

  fileprivate static func prefix(_ key: SortedLine.Key, _ count: Int) -> [UInt8] {
    let device = key.dot.device
    let numbers = [device.high, device.low, UInt64(key.dot.sequence), UInt64(key.number), UInt64(count)]
    return numbers.withUnsafeBytes { Array($0) }
  }
}
