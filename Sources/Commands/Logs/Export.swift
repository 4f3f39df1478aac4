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
