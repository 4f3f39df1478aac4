import NavigationModel
import WireFormat

/// Writes an export in either form, as its events come.
struct ExportWriter {
  private let format: Export.Format
  private let output: BufferedOutput
  private var waiting: [(dot: Dot, bytes: [UInt8])] = []
  private var size = 0
  private var blocks = 0

  /// The content of a block of events, about: large enough to be compact, small enough to be read at once.
  private static let blockSize = 64 << 10

  init(_ format: Export.Format, _ output: BufferedOutput) {
    self.format = format
    self.output = output
  }

  mutating func begin(_ header: ExportHeader) throws {
    guard format == .binary else { return try output.write(header.bytes + [10]) }
    try output.write(BinaryExport.magic)
    try block(.header, header.bytes)
  }

  mutating func write(
    _ dot: Dot, _ bytes: [UInt8], _ event: Event?, _ previous: Digest, of stack: StackName
  ) throws {
    guard format == .binary else {
      return try output.write(line(dot, bytes, event, previous, stack.description).bytes + [10])
    }
    waiting.append((dot, bytes))
    size += bytes.count
    if size >= Self.blockSize { try flush() }
  }

  private func line(
    _ dot: Dot, _ bytes: [UInt8], _ event: Event?, _ previous: Digest, _ stack: String
  ) -> JSONLine {
    let chain = dot.device.description
    if let event {
      var line = EventLine(event, stack: stack, previous: previous)
      if event.dot.device != dot.device { line.chain = chain }
      return .event(line)
    }
    if dot.sequence == 1, let fork = Fork(bytes, under: dot.device) {
      let entry = ChainLine.Entry.fork(
        device: fork.device.description, sequence: fork.sequence, digest: fork.digest)
      return .chain(ChainLine(chain: chain, entry: entry, stack: stack))
    }
    return .chain(ChainLine(chain: chain, entry: .unread(sequence: dot.sequence, bytes: bytes), stack: stack))
  }

  mutating func end(_ trailer: ExportTrailer) throws {
    guard format == .binary else { return try output.write(trailer.bytes + [10]) }
    try flush()
    try block(.trailer, trailer.bytes)
  }

  private mutating func flush() throws {
    guard !waiting.isEmpty else { return }
    try block(.events, EventBatch(waiting).bytes)
    waiting = []
    size = 0
  }

  private mutating func block(_ kind: BinaryExport.Kind, _ content: [UInt8]) throws {
    try output.write(BinaryExport.block(kind, content, number: blocks))
    blocks += 1
  }
}
