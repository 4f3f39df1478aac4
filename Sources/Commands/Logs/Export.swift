package import ArgumentParsing
import NavigationModel
import WireFormat

/// `navsync export`.
package struct Export: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "export", abstract: "Write a stack's events, with a header and a trailer that proves them whole.",
    discussion: """
      As JSON lines, or in a compact binary form for large logs; every command that reads a file takes either. Written \
      as it is read, so a log of any size needs no more memory than a small one.
      """,
    examples: [
      CommandExample("navsync export alice/main > alice-main.jsonl", "To a file of yours."),
      CommandExample("navsync export alice/main --output alice-main.jsonl", "The file is there whole or not at all."),
      CommandExample("navsync export alice/main --format binary -o alice-main.navsync", "About a tenth of the size."),
    ])

  package enum Format: String, CaseIterable, ArgumentValue {
    case jsonl
    case binary
  }

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @Option(help: "In which form.") var format = Format.jsonl
  @Option(short: "o", placeholder: "FILE", help: "Where to write; - is the standard output.") var output = "-"
  @Flag(help: "Replace a file that is there.") var force: Bool
  @OptionGroup var source: SourceOptions

  package init() {}

  package func run(on console: Console) async throws {
    if format == .binary, output == "-", console.isTerminal {
      throw CommandError(.usage, "the binary form is not for a terminal; name a file with --output")
    }
    let history = try await History(stack, in: try await source.open(on: console))
    let file = try NewFile(path: output, on: console, overwrites: force)
    var progress = ProgressLine(on: console)
    var writer = ExportWriter(format, file.output)
    let devices = history.authors.compactMap { device in
      history.names[device].map { ExportHeader.Device(id: device.description, name: $0) }
    }
    var header = ExportHeader(stack: stack.description, policy: history.policy.description, devices: devices)
    if history.isForked { header.format = 2 }
    try writer.begin(header)
    var count = 0
    try await history.walkEntries { dot, bytes, event, previous in
      count += 1
      try writer.write(dot, bytes, event, previous, of: stack)
      progress.update("\(count) of \(history.head) events")
    }
    progress.clear()
    history.vetting.tell(history.names, on: console)
    let heads = history.chains.heads.map {
      ExportTrailer.Head(device: $0.device.description, sequence: $0.sequence, digest: $0.digest)
    }
    try writer.end(ExportTrailer(count: count, heads: heads))
    try file.finish()
    if output != "-" { console.say("\(output): \(counted(count, "event")) of \(stack)") }
  }
}

/// Writes an export in either form, as its events come.
private struct ExportWriter {
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
