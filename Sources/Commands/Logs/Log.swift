package import ArgumentParsing
import NavigationModel
import StackHistory
import WireFormat

/// `navsync log`.
package struct Log: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "log", abstract: "List a stack's events, a line each, in the order of the log, and what each did.",
    discussion: """
      A line has the event's number, when and by whom it was made, what the person did, and what became of the stack: \
      +opened, -closed, ^moved. An event that did nothing says why.

      --graph draws a lane for each device. A line runs from a lane to the event whose author then first knew of what \
      stands there: solid if of all of it, broken if of some. Events without a line between them were concurrent.

      What devices of this machine did and the daemon doesn't have stands last, with the reason if the daemon refused \
      it. What it refused of devices elsewhere is in its own messages (navsyncd --log-level info), counted in \
      'navsync status'.
      """,
    examples: [
      CommandExample("navsync log alice/main", "All of it."),
      CommandExample("navsync log alice/main --since 09:00 --device phone", "What the phone did since nine."),
      CommandExample("navsync log alice/main --graph --conflicts", "Who knew what, and what had to be decided."),
      CommandExample("navsync log alice/main --last 20 --follow", "The last twenty events, then each as it comes."),
      CommandExample("navsync log alice/main --html day.html", "A page with a slider, for any browser."),
      CommandExample("navsync log alice-main.jsonl --json", "The events of an export, for a program."),
    ])

  @Argument(help: "A stack as space/stack, or a file of JSON lines; - for the standard input.") var what: String
  @Option(placeholder: "NAME", help: "Only the events of this device, by name or id.") var device: String?
  @Option(placeholder: "TIME", help: "Only events of this time or later: RFC 3339, or a local date or time of day.")
  var since: WallTime?
  @Option(placeholder: "TIME", help: "Only events before this time.") var until: WallTime?
  @Option(placeholder: "N", help: "Only the last so many.") var last: Int?
  @Flag(help: "Only events at which something had to be decided, and what was.") var conflicts: Bool
  @Flag(help: "Draw a lane for each device.") var graph: Bool
  @Flag(help: "Draw the lanes in ASCII.") var ascii: Bool
  @Flag(short: "f", help: "Go on with each event as it comes, until interrupted.") var follow: Bool
  @Option(
    placeholder: "FILE", help: "Write a page that needs nothing else: the lanes, and a slider that shows the stack.")
  var html: String?
  @Option(placeholder: "FILE", help: "Write the lanes as a drawing.") var svg: String?
  @Flag(help: "Replace a file that is there.") var force: Bool
  @Flag(help: "Don't page on a terminal.") var noPager: Bool
  @OptionGroup var looking: LookingBackOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func validate() throws {
    if let last, last < 1 { throw ValueError("--last must be at least 1") }
    if ascii, !graph { throw ValueError("--ascii is about --graph") }
    if html != nil || svg != nil {
      if html != nil, svg != nil { throw ValueError("write one of --html and --svg at a time") }
      if follow || output.json || graph || conflicts || device != nil || since != nil || until != nil {
        throw ValueError("a picture shows the last events of all devices; it goes with --last alone")
      }
    }
    if output.json, graph { throw ValueError("--graph is a drawing; it goes without --json") }
  }

  package func run(on console: Console) async throws {
    let loaded: LoadedHistory
    do { loaded = try await looking.load(what, goesOn: follow, on: console) } catch let error as CommandError {
      throw try await withWaiting(error, on: console)
    }
    if let file = html ?? svg {
      try loaded.draw(to: file, asPage: html != nil, last: last, overwrites: force, on: console)
      return try loaded.finish()
    }
    let filter = try Filter(self, loaded)
    try await Pager.paging(console, wanted: !follow && !output.json && !noPager) { console in
      try await write(loaded, filter, on: console)
    }
    try loaded.finish()
  }

  /// Of a stack that the daemon doesn't have: what is waiting here for it.
  private func withWaiting(_ error: CommandError, on console: Console) async throws -> CommandError {
    guard error.code == .notFound, looking.source.store == nil, let stack = try? StackName(what) else { return error }
    var error = error
    for waiting in try await WaitingEvents.all(of: stack, notIn: VersionVector(), on: console) {
      error.message += "; \(waiting.device) of this machine has \(counted(waiting.items.count, "event")) of it "
      error.message += "(\(waiting.standing))"
    }
    return error
  }

  /// Which events are wanted.
  private struct Filter {
    var since: Int
    var until: Int
    var devices: Set<DeviceID>?
    var conflicts: Bool

    init(_ log: Log, _ loaded: LoadedHistory) throws {
      let now = wallClockMilliseconds()
      since = log.since?.milliseconds(now: now) ?? .min
      until = log.until?.milliseconds(now: now) ?? .max
      devices = log.device.map { Set(loaded.devices(named: $0)) }
      conflicts = log.conflicts
      if let devices, devices.isEmpty {
        throw CommandError(.notFound, "no device is called '\(log.device ?? "")'; 'navsync devices' lists them")
      }
    }

    /// What isn't folded is no conflict of the fold's, but what the person looks for who asks for them.
    func takes(_ event: Event) -> Bool {
      let time = event.timestamp.milliseconds
      return time >= since && time < until && devices?.contains(event.dot.device) ?? true
    }

    func takes(_ number: Int, _ loaded: LoadedHistory) -> Bool {
      let time = loaded.timeline.time(of: number)
      guard time >= since, time < until else { return false }
      if let devices, !devices.contains(loaded.timeline.author(of: number)) { return false }
      return !conflicts || loaded.timeline.isVoid(number) || !loaded.timeline.newConflicts(at: number).isEmpty
    }
  }

  private func write(_ loaded: LoadedHistory, _ filter: Filter, on console: Console) async throws {
    var numbers: [Int] = []
    var from = 1
    if let last {
      var number = loaded.timeline.count
      while number >= 1, numbers.count < last {
        if filter.takes(number, loaded) { numbers.append(number) }
        number -= 1
      }
      from = numbers.last ?? loaded.timeline.count + 1
    }
    let marks: GraphLanes.Marks = ascii ? .ascii : .unicode
    let heads = loaded.timeline.vector
    var lines = LogLines(
      graph: graph ? GraphLanes(marks: marks, last: follow ? nil : heads) : nil, json: output.json,
      showsConflicts: conflicts)
    if !follow { lines.measure(loaded) }
    let buffered = BufferedOutput(descriptor: console.output, name: "the standard output")
    func pass(_ numbers: Range<Int>) throws {
      for number in numbers {
        let isWanted = number >= from && filter.takes(number, loaded)
        if let line = lines.line(number, isWanted, loaded, console) { try buffered.print(line) }
      }
    }
    // A drawing needs to know who knew what before its first line.
    try pass((graph || output.json ? 1 : min(from, loaded.timeline.count + 1))..<loaded.timeline.count + 1)
    for item in loaded.history.unfolded where last == nil && filter.takes(item.event) {
      try buffered.print(lines.line(item, loaded, console))
    }
    if case .daemon = loaded.history.source {
      let stack = loaded.history.stack
      for waiting in try await WaitingEvents.all(of: stack, notIn: loaded.timeline.vector, on: console) {
        if let own = waiting.items.first?.event.dot.device, loaded.names[own] == nil {
          loaded.history.note(waiting.device, of: own)
        }
        // They are no events of this log, so a program doesn't get them among its lines.
        if output.json {
          console.say("\(waiting.device): \(counted(waiting.items.count, "event")) \(waiting.standing)")
        }
        for item in waiting.items where !output.json && filter.takes(item.event) {
          try buffered.print(lines.line(item.event, waiting.standing, loaded, console))
        }
      }
    }
    try buffered.flush()
    guard follow else { return }
    lines.newest = loaded.timeline.newestTime
    try await loaded.follow(daemon: looking.source.daemon.daemon, on: console) { news in
      switch news {
      case .events(let numbers): try pass(numbers)
      case .refolded(let change):
        console.say("\(loaded.history.stack) is folded anew: \(change.reason); the events have other numbers now")
        lines = LogLines(
          graph: graph ? GraphLanes(marks: marks, last: nil) : nil, json: output.json, showsConflicts: conflicts)
        from = 1
        for event in change.dropped where filter.takes(event) && !output.json {
          try buffered.print(lines.line(event, "no longer folded", loaded, console))
        }
        for number in 1..<loaded.timeline.count + 1 {
          let isWanted = change.fresh.contains(number) && filter.takes(number, loaded)
          if let line = lines.line(number, isWanted, loaded, console) { try buffered.print(line) }
        }
        for item in change.unfolded where filter.takes(item.event) {
          try buffered.print(lines.line(item, loaded, console))
        }
        if !output.json {
          try buffered.print("-  now  \(breadcrumbs(loaded.timeline.entries(at: loaded.timeline.count)))")
        }
      }
      try buffered.flush()
    }
  }
}

/// Makes the lines of a log.
private struct LogLines {
  var graph: GraphLanes?
  let json: Bool
  let showsConflicts: Bool
  /// In a log that is followed: when the newest event of those that were told was made.
  var newest: Int?
  private var chains: StackChains?
  private var width = 0

  init(graph: GraphLanes?, json: Bool, showsConflicts: Bool) {
    self.graph = graph
    self.json = json
    self.showsConflicts = showsConflicts
  }

  /// Makes room for the widest line of the graph that will come.
  mutating func measure(_ loaded: LoadedHistory) {
    guard var lanes = graph else { return }
    for number in 1..<loaded.timeline.count + 1 { width = max(width, lanes.line(loaded.timeline.event(number)).count) }
  }

  /// The event's line, nil if it isn't wanted. All events from the first on must come if there is a graph or JSON.
  mutating func line(_ number: Int, _ isWanted: Bool, _ loaded: LoadedHistory, _ console: Console) -> String? {
    if json { return jsonLine(number, isWanted, loaded) }
    var lanes = ""
    if graph != nil {
      lanes = graph?.line(loaded.timeline.event(number)) ?? ""
      guard isWanted else { return nil }
      width = max(width, lanes.count)
      lanes += String(repeating: " ", count: width - lanes.count + 2)
    }
    guard isWanted else { return nil }
    let event = loaded.timeline.event(number)
    let time = console.styled(timeText(event.timestamp.milliseconds, on: console), .dim)
    let who = console.styled(loaded.text(event.dot), .cyan)
    let room = String(loaded.timeline.count).count - String(number).count
    var line = "\(String(repeating: " ", count: room))\(number)  \(lanes)\(time)  \(who)  \(text(of: event.action))"
    if loaded.timeline.isVoid(number) {
      line += console.styled("  (void: \(reasonForVoid(number, in: loaded)))", .yellow)
    } else {
      line += "  →  " + text(of: loaded.timeline.effect(of: number), on: console)
    }
    if let newest {
      if event.timestamp.milliseconds < newest { line += console.styled("  (came late)", .yellow) }
      self.newest = max(newest, event.timestamp.milliseconds)
    }
    guard showsConflicts else { return line }
    let values = loaded.values(of: loaded.timeline.entries(at: number))
    for conflict in loaded.timeline.newConflicts(at: number) {
      if case .noop = conflict { continue }
      line += "\n" + console.styled("      ! \(text(of: conflict, loaded.names, values))", .yellow)
    }
    return line
  }

  /// The line of an event that isn't folded.
  func line(_ item: HistoryItem, _ loaded: LoadedHistory, _ console: Console) -> String {
    if json {
      return String(
        decoding: JSONLines.line(
          item.event, stack: loaded.history.stack.description, previous: item.previous,
          deviceText: loaded.history.deviceText),
        as: UTF8.self)
    }
    let standing =
      switch item.standing {
      case .folded: ""
      case .rival: "another history under this device's id: not folded"
      case .held: "waits for what it rests on"
      }
    return line(item.event, standing, loaded, console)
  }

  func line(_ event: Event, _ standing: String, _ loaded: LoadedHistory, _ console: Console) -> String {
    let time = console.styled(timeText(event.timestamp.milliseconds, on: console), .dim)
    let who = console.styled(loaded.text(event.dot), .cyan)
    return "-  \(time)  \(who)  \(text(of: event.action))" + console.styled("  (\(standing))", .yellow)
  }

  private mutating func jsonLine(_ number: Int, _ isWanted: Bool, _ loaded: LoadedHistory) -> String? {
    let event = loaded.timeline.event(number)
    if loaded.history.isForked {
      guard isWanted else { return nil }
      return String(
        decoding: JSONLines.line(
          event, stack: loaded.history.stack.description, previous: loaded.history.previous[event.dot],
          deviceText: loaded.history.deviceText),
        as: UTF8.self)
    }
    var chains = self.chains ?? StackChains(stack: loaded.history.stack)
    self.chains = nil
    let previous = chains.digest(of: event.dot.device)
    // What was taken in once is taken in again.
    _ = try? chains.append(event)
    self.chains = chains
    guard isWanted else { return nil }
    return String(
      decoding: JSONLines.line(
        event, stack: loaded.history.stack.description, previous: previous, deviceText: loaded.history.deviceText),
      as: UTF8.self)
  }
}
