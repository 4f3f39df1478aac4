package import ArgumentParsing
import Foundation

/// `navsync bench`.
package struct Bench: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "bench", abstract: "Measure this machine's speed, beside what its disk and transport can do at most.",
    discussion: """
      Starts a daemon of its own on a temporary folder; nothing of yours is touched. Times depend on the machine and on \
      what else runs; the ratios to the raw limits, measured in the same run, carry over.
      """,
    examples: [
      CommandExample("navsync bench", "All of it, in about a minute."),
      CommandExample("navsync bench --folder /mnt/disk --json", "On another disk, for a program."),
    ])

  @Option(placeholder: "PATH", help: "Where the temporary folder is made: the disk that is measured.")
  var folder: String?
  @Option(placeholder: "N", help: "Actions measured one by one.") var actions = 300
  @Option(placeholder: "N", help: "Events that are folded, and appended.") var events = 200_000
  @OptionGroup var output: OutputOptions

  package init() {}

  package func validate() throws {
    if actions < 10 { throw ValueError("--actions must be at least 10") }
    if events < 10_000 { throw ValueError("--events must be at least 10000") }
  }

  private struct Row: Encodable {
    var name: String
    var value: Double
    var unit: String
    /// The raw limit that it stands beside, and how it stands to it.
    var raw: Double?
    var ratio: Double?
  }

  package func run(on console: Console) async throws {
    let base = folder.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? FileManager.default.temporaryDirectory
    let place = base.appendingPathComponent("navsync-bench-\(getpid())", isDirectory: true)
    do {
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    } catch {
      throw CommandError(.failed, "can't make a folder in \(base.path): \(error.localizedDescription)")
    }
    defer { try? FileManager.default.removeItem(at: place) }

    var rows: [Row] = []
    func report(_ row: Row) throws {
      rows.append(row)
      guard !output.json else { return }
      let beside = row.ratio.map { ratio in
        "   raw \(number(row.raw ?? 0)) \(row.unit), ratio \(number(ratio))"
      }
      try console.print("\(row.name): \(number(row.value)) \(row.unit)\(beside ?? "")")
    }

    for devices in [1, 2, 8] {
      let fold = FoldBench.run(devices: devices, events: events)
      try report(
        Row(name: "fold, \(devices) devices", value: 1e9 / fold.nanosecondsAnEvent, unit: "events/s/core"))
      let whole = try FoldBench.runFromBytes(devices: devices, events: events)
      try report(
        Row(
          name: "decode, admit, hash and fold, \(devices) devices", value: 1e9 / whole.nanosecondsAnEvent,
          unit: "events/s/core"))
    }

    let append = try RawLimits.sequentialAppend(in: place)
    let pipelined = try await DaemonBench.pipelinedAppends(in: place, events: events)
    try report(
      Row(
        name: "durable appends, one pipelining device", value: pipelined, unit: "events/s",
        raw: append.recordsPerSecond, ratio: pipelined / append.recordsPerSecond))

    let action = try await DaemonBench.actionToScreen(in: place, actions: actions)
    let (roundTrip, sync, single) = (action.roundTrip / 1000, action.append / 1000, action.shown / 1000)
    try report(Row(name: "raw ZeroMQ round trip", value: roundTrip, unit: "µs"))
    try report(Row(name: "raw fdatasync", value: sync, unit: "µs"))
    try report(
      Row(
        name: "one action on its own device's disk, median", value: action.stored / 1000, unit: "µs", raw: sync,
        ratio: action.stored / 1000 / sync))
    try report(
      Row(
        name: "one action to another device's screen, median", value: single, unit: "µs", raw: roundTrip + sync,
        ratio: single / (roundTrip + sync)))
    if output.json { try printJSON(rows, on: console) }
  }

  /// Three digits that matter; large ones with their thousands set apart.
  private func number(_ value: Double) -> String {
    if value < 100 { return String(format: "%.2f", value) }
    var digits = String(Int(value.rounded()))
    var groups: [String] = []
    while digits.count > 3 {
      groups.insert(String(digits.suffix(3)), at: 0)
      digits.removeLast(3)
    }
    return ([digits] + groups).joined(separator: ",")
  }
}
