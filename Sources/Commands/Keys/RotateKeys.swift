import Access
package import ArgumentParsing
import KeyFiles

/// `navsync keys rotate`.
package struct RotateKeys: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "rotate", abstract: "Change a daemon's keys, without pairing everybody again.",
    discussion: """
      The new public key is told to everybody who connects, over connections that the old one protects, and takes its place \
      when the time is over. Who didn't connect meanwhile has to be paired again.

      If somebody else may have the old secret key, don't give time: use --now, and pair everybody again. If a change was \
      under way, use it twice: the keys that were to come lay in the same folder.
      """,
    examples: [
      CommandExample("navsync keys rotate", "New keys in 30 days."),
      CommandExample("navsync keys rotate --within 1h", "In an hour, if all are connected anyway."),
      CommandExample("navsync keys rotate --now", "At once; or finish a change that is under way."),
    ])

  @Option(placeholder: "TIME", help: "When the new keys take the place of the old ones, as 30d, 12h or 90s.")
  var within =
    Overlap(milliseconds: 30 * 86_400_000)
  @Flag(help: "Now.") var now: Bool
  @OptionGroup var daemon: DaemonKeysOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  private struct Row: Encodable {
    var key: String
    var changes: String
  }

  package func run(on console: Console) async throws {
    let folder = daemon.folder
    let wall = wallClockMilliseconds()
    let change = try withKeyErrors { () throws -> KeyChange in
      if let change = try folder.change() {
        guard now else {
          throw CommandError(
            .refused,
            "the daemon's keys already change at \(rfc3339(milliseconds: change.at)); --now has them change at once")
        }
        return change
      }
      return try folder.beginChange(at: now ? wall : wall + within.milliseconds)
    }
    if now { _ = try withKeyErrors { try folder.finishChange() } }
    let row = Row(key: change.key.description, changes: rfc3339(milliseconds: now ? wall : change.at))
    if output.json {
      try printJSON([row], on: console)
    } else {
      try printTable([["key", row.key], [now ? "since" : "from", row.changes]], on: console)
    }
    try tellDaemon(of: folder, on: console)
  }
}

/// A time as it is typed: a number with d, h, m, s or ms behind it.
package struct Overlap: ArgumentValue, Hashable {
  var milliseconds: Int

  init(milliseconds: Int) { self.milliseconds = milliseconds }

  private static let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)]

  package init(argument: String) throws {
    for (unit, size) in Self.units where argument.hasSuffix(unit) {
      guard let number = Int(argument.dropLast(unit.count)), (0...3650 * 86_400_000 / size).contains(number) else {
        continue
      }
      milliseconds = number * size
      return
    }
    throw ValueError("expected a time such as 30d, 12h or 90s, of ten years at most")
  }

  package var argumentText: String {
    for (unit, size) in Self.units.reversed() where milliseconds % size == 0 { return "\(milliseconds / size)\(unit)" }
    return "\(milliseconds)ms"
  }
}
