package import ArgumentParsing
import NavigationModel
import WireFormat

/// `navsync export`.
package struct Export: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "export", abstract: "Write a stack's events as JSON lines, with a header and a trailer that proves it whole.",
    examples: [
      CommandExample("navsync export alice/main > alice-main.jsonl", "To a file of yours."),
      CommandExample("navsync export alice/main --output alice-main.jsonl", "The file is there whole or not at all."),
    ])

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @Option(short: "o", placeholder: "FILE", help: "Where to write; - is the standard output.") var output = "-"
  @Flag(help: "Replace a file that is there.") var force: Bool
  @OptionGroup var source: SourceOptions

  package init() {}

  package func run(on console: Console) async throws {
    let history = try await History(stack, in: try await source.open(on: console))
    if output == "-" {
      let buffered = BufferedOutput(descriptor: console.output, name: "the standard output")
      _ = try await write(history, on: console) { try buffered.write($0 + [10]) }
      try buffered.flush()
    } else {
      // Walking waits for the daemon, writing a whole file doesn't: the lines are gathered first.
      var lines: [[UInt8]] = []
      let count = try await write(history, on: console) { lines.append($0) }
      try writeFile(path: output, on: console, overwrites: force) { file in
        for line in lines { try file.write(line + [10]) }
      }
      console.say("\(output): \(counted(count, "event")) of \(stack)")
    }
  }

  /// Gives the export's lines and returns the number of events.
  private func write(_ history: History, on console: Console, _ line: ([UInt8]) throws -> Void) async throws -> Int {
    var progress = ProgressLine(on: console)
    let devices = history.authors.compactMap { device in
      history.names[device].map { ExportHeader.Device(id: device.description, name: $0) }
    }
    try line(
      ExportHeader(stack: stack.description, policy: history.policy.description, devices: devices).bytes)
    var count = 0
    try await history.walk { item in
      count += 1
      try line(JSONLines.line(item.event, stack: stack.description, previous: item.previous))
      progress.update("\(count) of \(history.head) events")
      return true
    }
    progress.clear()
    let heads = history.chains.foldedHeads.map {
      ExportTrailer.Head(device: $0.device.description, sequence: $0.sequence, digest: $0.digest)
    }
    try line(ExportTrailer(count: count, heads: heads).bytes)
    return count
  }
}
