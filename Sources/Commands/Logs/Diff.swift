package import ArgumentParsing
import NavigationModel
import StackHistory
import WireFormat

/// `navsync diff`.
package struct Diff: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "diff", abstract: "Show what changed on a stack between two moments, or between two stacks or files.",
    discussion: """
      Moments are the number of an event (0 is the empty stack), a time, or DEVICE:N, the stack as that event's author \
      saw it. Entries of one stack are compared by what they are, so that one which was closed and opened again shows; \
      those of two stacks by their values.
      """,
    examples: [
      CommandExample("navsync diff alice/main 14:00", "Since two o'clock."),
      CommandExample("navsync diff alice/main 12 40", "Between two events."),
      CommandExample("navsync diff alice/main phone:4 laptop:7", "Between what two devices saw."),
      CommandExample("navsync diff alice/main bob/main", "Between two stacks."),
    ])

  @Argument(help: "A stack as space/stack, or a file of JSON lines; - for the standard input.") var what: String
  @Argument(help: "A moment: N, TIME or DEVICE:N; or another stack or file.") var from: String
  @Argument(help: "The later moment; without it the end.") var to: HistoryPlace?
  @OptionGroup var looking: LookingBackOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run(on console: Console) async throws {
    let loaded = try await looking.load(what, on: console)
    let effect: Effect
    var sides = [loaded]
    if let place = try? HistoryPlace(argument: from), !isThere(from) {
      effect = Effect(from: try loaded.entries(at: place), to: try loaded.entries(at: to))
    } else {
      guard to == nil else {
        throw CommandError(.usage, "'\(from)' is not a moment, and two stacks have none to compare")
      }
      let other = try await looking.load(from, on: console)
      sides.append(other)
      effect = Effect(
        valuesFrom: loaded.timeline.entries(at: loaded.timeline.count),
        to: other.timeline.entries(at: other.timeline.count))
    }
    if output.json { try printJSON(effect, sides, console) } else { try print(effect, sides, console) }
    for side in sides { try side.finish() }
  }

  private func print(_ effect: Effect, _ sides: [LoadedHistory], _ console: Console) throws {
    if effect.isEmpty { console.say("no difference") }
    for line in effect.lines {
      // A closed entry is the first side's.
      let side = line.change == .closed ? sides[0] : sides[sides.count - 1]
      let value = text(of: line.entry.value)
      let name = console.styled(side.text(line.entry.id), .dim)
      switch line.change {
      case .same: try console.print("  \(value)  \(name)")
      case .closed: try console.print(console.styled("- \(value)", .red) + "  \(name)")
      case .moved: try console.print(console.styled("^ \(value)", .cyan) + "  \(name)")
      case .opened: try console.print(console.styled("+ \(value)", .green) + "  \(name)")
      }
    }
  }

  private func printJSON(_ effect: Effect, _ sides: [LoadedHistory], _ console: Console) throws {
    var json = JSONWriter()
    json.raw("[")
    json.list(effect.lines) { json, line in
      let side = line.change == .closed ? sides[0] : sides[sides.count - 1]
      json.raw(#"{"change":"\#(line.change.rawValue)","entry":"#)
      let whole = JSONLines.stack([line.entry], deviceText: side.history.deviceText)
      json.raw(Array(whole.dropFirst().dropLast()))
      json.raw("}")
    }
    json.raw("]\n")
    try console.write(json.bytes)
  }
}

/// `navsync blame`.
package struct Blame: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "blame", abstract: "Say of each shown entry which event put it there, by whom and when.",
    examples: [
      CommandExample("navsync blame alice/main", "Of what is shown now."),
      CommandExample("navsync blame alice/main --at 14:03", "Of what was shown then."),
    ])

  @Argument(help: "A stack as space/stack, or a file of JSON lines; - for the standard input.") var what: String
  @Option(placeholder: "N|TIME|DEVICE:N", help: "Of the stack as it was then.") var at: HistoryPlace?
  @OptionGroup var looking: LookingBackOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run(on console: Console) async throws {
    let loaded = try await looking.load(what, on: console)
    let entries = try loaded.entries(at: at)
    var rows: [[String]] = []
    var lines: [[UInt8]] = []
    for (place, entry) in entries.enumerated() {
      // What is shown was pushed by an event that is there.
      guard let number = loaded.timeline.number(of: entry.id.dot) else { continue }
      let event = loaded.timeline.event(number)
      if output.json {
        lines.append(line(entry, number, event, loaded))
      } else {
        rows.append([
          "\(place + 1)", text(of: entry.value), "\(loaded.text(entry.id.dot))",
          timeText(event.timestamp.milliseconds, on: console), "event \(number)", text(of: event.action),
        ])
      }
    }
    if entries.isEmpty { console.say("the stack is at its root") }
    if output.json {
      for line in lines { try console.write(line + [10]) }
    } else {
      try printTable(rows, on: console)
    }
    if at == nil { try loaded.finish() }
  }

  private func line(_ entry: Entry, _ number: Int, _ event: Event, _ loaded: LoadedHistory) -> [UInt8] {
    var json = JSONWriter()
    json.raw(#"{"entry":"#)
    json.raw(Array(JSONLines.stack([entry], deviceText: loaded.history.deviceText).dropFirst().dropLast()))
    json.raw(#","number":\#(number),"device":"#)
    json.string(loaded.history.deviceText(event.dot.device))
    json.raw(#","name":"#)
    json.string(loaded.names.text(event.dot.device))
    json.raw(#","seq":\#(event.dot.sequence),"time":"#)
    json.string(rfc3339(milliseconds: event.timestamp.milliseconds))
    json.raw("}")
    return json.bytes
  }
}
