package import ArgumentParsing
import NavigationModel
import WireFormat

/// `navsync log`.
package struct Log: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "log", abstract: "List a stack's events, a line each, in the order of the log.",
    examples: [
      CommandExample("navsync log alice/main", "All of it."),
      CommandExample("navsync log alice/main --since 09:00 --device phone", "What the phone did since nine."),
      CommandExample("navsync log alice/main --last 20 --json", "The last twenty events, for a program."),
    ])

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @Option(placeholder: "NAME", help: "Only the events of this device, by name or id.") var device: String?
  @Option(placeholder: "TIME", help: "Only events of this time or later: RFC 3339, or a local date or time of day.")
  var since: WallTime?
  @Option(placeholder: "TIME", help: "Only events before this time.") var until: WallTime?
  @Option(placeholder: "N", help: "Only the last so many.") var last: Int?
  @OptionGroup var source: SourceOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func validate() throws {
    if let last, last < 1 { throw ValueError("--last must be at least 1") }
  }

  package func run(on console: Console) async throws {
    let history = try await History(stack, in: try await source.open(on: console))
    let now = wallClockMilliseconds()
    let since = since?.milliseconds(now: now) ?? .min
    let until = until?.milliseconds(now: now) ?? .max
    let wanted = device.map { Set(history.names.devices(named: $0)) }
    if let wanted, wanted.isEmpty {
      throw CommandError(.notFound, "no device is called '\(device ?? "")'; 'navsync devices' lists them")
    }
    var fold = StackFold(policy: history.policy)
    let output = BufferedOutput(descriptor: console.output, name: "the standard output")
    var kept: [[UInt8]] = []
    try await history.walk { item in
      let isVoid = fold.apply(item.event)
      let time = item.event.timestamp.milliseconds
      guard time >= since, time < until, wanted?.contains(item.event.dot.device) ?? true else { return true }
      let line =
        self.output.json
        ? JSONLines.line(item.event, stack: stack.description, previous: item.previous)
        : Array(text(item, isVoid, history.names, console).utf8)
      guard let last else {
        try output.write(line + [10])
        return true
      }
      kept.append(line)
      if kept.count >= 2 * last { kept.removeFirst(kept.count - last) }
      return true
    }
    for line in kept.suffix(last ?? 0) { try output.write(line + [10]) }
    try output.flush()
  }

  private func text(_ item: HistoryItem, _ isVoid: Bool, _ names: DeviceNames, _ console: Console) -> String {
    let time = console.styled(rfc3339(milliseconds: item.event.timestamp.milliseconds), .dim)
    let who = console.styled("\(names.text(item.event.dot.device)):\(item.event.dot.sequence)", .cyan)
    return "\(item.offset)  \(time)  \(who)  \(Commands.text(of: item.event.action))"
      + (isVoid ? console.styled("  (void)", .yellow) : "")
  }
}
