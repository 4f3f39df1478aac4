package import ArgumentParsing
import Foundation
import NavigationModel
import StackHistory

/// `navsync stats`.
package struct Stats: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "stats",
    abstract: "Figures of a stack's history: depth, ways back, devices, what is visited most, conflicts.",
    examples: [
      CommandExample("navsync stats alice/main", "For a person, with bars."),
      CommandExample("navsync stats alice/main --html stats.html", "Plots on a page, for any browser."),
      CommandExample("navsync stats alice/main --json | jq .deepest", "For a program."),
    ])

  @Argument(help: "A stack as space/stack, or a file of JSON lines; - for the standard input.") var what: String
  @Option(placeholder: "N", help: "How many of the most visited values to list.") var top = 10
  @Option(placeholder: "FILE", help: "Write plots of the figures, as a page that needs nothing else.") var html: String?
  @Option(placeholder: "FILE", help: "Write the plots as a drawing.") var svg: String?
  @Flag(help: "Replace a file that is there.") var force: Bool
  @OptionGroup var looking: LookingBackOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  package func validate() throws {
    if html != nil, svg != nil { throw ValueError("write one of --html and --svg at a time") }
    if html != nil || svg != nil, output.json { throw ValueError("a picture goes without --json") }
    if top < 0 { throw ValueError("--top must not be negative") }
  }

  private struct Report: Encodable {
    struct Device: Encodable {
      var device: String
      var name: String
      var events: Int
      var first: String
      var last: String
    }

    struct Visit: Encodable {
      var value: String
      var count: Int
    }

    struct Span: Encodable {
      var start: String
      var events: Int
      var concurrent: Int
      var conflicts: Int
      var backs: Int
      var deepest: Int
    }

    var stack: String
    var events: Int
    var pushes: Int
    var backs: Int
    var toRoot: Int
    var sets: Int
    var replaces: Int
    var void: Int
    var concurrent: Int
    var depth: Int
    var deepest: Int
    var meanDepth: Double
    var devices: [Device]
    var mostVisited: [Visit]
    var spanSeconds: Int
    var overTime: [Span]
  }

  package func run(on console: Console) async throws {
    let loaded = try await looking.load(what, on: console)
    let figures = loaded.timeline.statistics(mostVisited: top, spans: 24)
    if let file = html ?? svg {
      guard figures.events > 0 else { throw CommandError(.notFound, "\(loaded.history.stack) has no events to draw") }
      let picture = StatisticsPicture(
        of: figures, title: loaded.history.stack.description, texts: loaded.pictureTexts())
      try writeFile(path: file, on: console, overwrites: force) {
        try $0.write((html != nil ? picture.html() : picture.svg()).utf8)
      }
      if file != "-" { console.say("\(file): the figures of \(counted(figures.events, "event"))") }
    } else if output.json {
      try printJSON([report(figures, loaded)], on: console)
    } else {
      try print(figures, loaded, console)
    }
    try loaded.finish()
  }

  private func report(_ figures: Statistics, _ loaded: LoadedHistory) -> Report {
    Report(
      stack: loaded.history.stack.description, events: figures.events, pushes: figures.pushes, backs: figures.backs,
      toRoot: figures.toRoot, sets: figures.sets, replaces: figures.replaces, void: figures.void,
      concurrent: figures.concurrent, depth: figures.depth, deepest: figures.deepest,
      meanDepth: (figures.meanDepth * 100).rounded() / 100,
      devices: figures.devices.map {
        Report.Device(
          device: loaded.history.deviceText($0.device), name: loaded.names.text($0.device), events: $0.events,
          first: rfc3339(milliseconds: $0.first), last: rfc3339(milliseconds: $0.last))
      },
      mostVisited: figures.visits.map { Report.Visit(value: text(of: $0.value), count: $0.count) },
      spanSeconds: figures.spanLength / 1000,
      overTime: figures.spans.map {
        Report.Span(
          start: rfc3339(milliseconds: $0.start), events: $0.events, concurrent: $0.concurrent, conflicts: $0.conflicts,
          backs: $0.backs, deepest: $0.deepest)
      })
  }

  private func print(_ figures: Statistics, _ loaded: LoadedHistory, _ console: Console) throws {
    func share(_ part: Int) -> String {
      figures.events == 0 ? "" : "\(Int((Double(part) * 100 / Double(figures.events)).rounded())) %"
    }
    func bar(_ part: Int, of most: Int) -> String {
      String(repeating: "█", count: most == 0 ? 0 : (part * 24 + most - 1) / most)
    }
    try console.print(console.styled(loaded.history.stack.description, .bold))
    try printTable(
      [
        ["events", "\(figures.events)", ""],
        ["pushes", "\(figures.pushes)", share(figures.pushes)],
        ["backs", "\(figures.backs)", share(figures.backs)],
        ["to the root", "\(figures.toRoot)", share(figures.toRoot)],
        ["deep links", "\(figures.sets)", share(figures.sets)],
        ["replaced", "\(figures.replaces)", share(figures.replaces)],
        ["void", "\(figures.void)", share(figures.void)],
        ["concurrent", "\(figures.concurrent)", share(figures.concurrent)],
        ["depth now", "\(figures.depth)", ""], ["deepest", "\(figures.deepest)", ""],
        ["mean depth", "\((figures.meanDepth * 10).rounded() / 10)", ""],
      ], on: console)
    guard figures.events > 0 else { return }
    try console.print("\ndevices")
    let most = figures.devices[0].events
    try printTable(
      figures.devices.prefix(20).map {
        [
          "  \(loaded.names.text($0.device))", "\($0.events)", bar($0.events, of: most),
          "\(timeText($0.first, on: console)) to \(timeText($0.last, on: console))",
        ]
      }, on: console)
    if let first = figures.visits.first {
      try console.print("\nmost visited")
      try printTable(
        figures.visits.map { ["  \(text(of: $0.value))", "\($0.count)", bar($0.count, of: first.count)] }, on: console)
    }
    try console.print("\nover time, events (conflicts)")
    let busiest = figures.spans.map(\.events).max() ?? 0
    try printTable(
      figures.spans.map {
        [
          "  \(timeText($0.start, on: console))", "\($0.events)", $0.conflicts > 0 ? "(\($0.conflicts))" : "",
          bar($0.events, of: busiest),
        ]
      }, on: console)
  }
}
