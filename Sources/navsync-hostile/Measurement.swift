import Foundation
import HostilePeers
import NavigationClient

/// Two devices of good will at a daemon, and what they notice while others attack it.
struct Measurement {
  private let daemon: RunningDaemon
  private let acting: Stack
  private let changes: AsyncStream<StackChange>.Iterator
  private let seconds: Double

  static func run(daemon path: String, seconds: Double, only: [String]) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "navsync-hostile-\(getpid())", isDirectory: true)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    let attacks = only.isEmpty ? Attack.all : Attack.all.filter { only.contains($0.name) }
    guard !attacks.isEmpty else { throw Failure("none of these is an attack: \(only.joined(separator: " "))") }
    say(
      """
      honest: two devices, an action each 25 ms; milliseconds from the action to the other's screen, median and 99 %
      memory: the daemon's most during the attack, in MiB, and after it; cpu: of one processor
      """)
    say(row("attack", "times", "quiet", "during", "ratio", "memory", "files", "cpu", "the daemon counted"))
    for attack in attacks {
      // A daemon of its own for each: what one left can't spoil the next.
      let place = folder.appendingPathComponent(attack.name)
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
      let daemon = try RunningDaemon(path, in: place)
      defer { daemon.end() }
      try await measure(attack, daemon, place, seconds)
    }
  }

  private static func measure(
    _ attack: Attack, _ daemon: RunningDaemon, _ folder: URL, _ seconds: Double
  ) async throws {
    let stack = "honest/main"
    try daemon.attacker("prepare", stack, 30).finish()
    func open(_ name: String) async throws -> (Device, Stack) {
      let device = try await Device.open(
        name: name,
        options: Device.Options(daemon: daemon.tcp, folder: folder.appendingPathComponent(name).path))
      return (device, try await device.stack(stack))
    }
    let (phone, one) = try await open("phone")
    let (laptop, two) = try await open("laptop")
    try await one.push("first")
    for await state in two.states where state.entries.count == 1 && state.isLive { break }
    let observer = try await Observer.open(daemon: daemon.local)

    var seen = two.changes.makeAsyncIterator()
    var number = 0
    func latencies(for seconds: Double) async throws -> [Double] {
      var result: [Double] = []
      let clock = ContinuousClock()
      let end = clock.now + .seconds(seconds)
      while clock.now < end {
        let start = clock.now
        number += 1
        let outcome = try await one.replace(with: "screen \(number)")
        while let change = await seen.next(), change.entries.map(\.id) != outcome.entries.map(\.id) {}
        result.append((clock.now - start) / .milliseconds(1))
        try await clock.sleep(until: max(clock.now, start + .milliseconds(25)))
      }
      return result.sorted()
    }
    _ = try await latencies(for: 1)
    let quiet = try await latencies(for: seconds)
    let before = try await counters(observer)
    let lines = daemon.logLines()
    daemon.beginsAnew()
    let cpu = daemon.cpuSeconds()
    let attacker = try daemon.attacker(attack.name, stack, seconds + 1)
    // The attack begins.
    try await ContinuousClock().sleep(for: .milliseconds(500))
    let during = try await latencies(for: seconds)
    let used = (daemon.cpuSeconds() - cpu) / (seconds + 0.5)
    let most = daemon.memory(most: true)
    let files = daemon.files()
    let times = try attacker.finish()
    try await ContinuousClock().sleep(for: .milliseconds(500))
    let after = (try? await counters(observer)) ?? [:]
    let told = Set(daemon.logLines().subtracting(lines))
    let counted = after.filter { $0.value > before[$0.key] ?? 0 && !ordinary.contains($0.key) }
      .map { "\($0.key) \($0.value - (before[$0.key] ?? 0))" }.sorted().joined(separator: ", ")
    func median(_ values: [Double]) -> Double { values.isEmpty ? .nan : values[values.count / 2] }
    func high(_ values: [Double]) -> Double { values.isEmpty ? .nan : values[Int(Double(values.count - 1) * 0.99)] }
    func text(_ value: Double) -> String { String(format: "%.1f", value) }
    say(
      row(
        attack.name, times, "\(text(median(quiet))) \(text(high(quiet)))",
        "\(text(median(during))) \(text(high(during)))", text(median(during) / median(quiet)),
        "\(most) \(daemon.memory(most: false))", "\(files)", text(used), counted))
    for line in told.sorted() { say("           log: " + line) }
    await observer.close()
    await phone.close()
    await laptop.close()
  }

  /// What rises with honest work, too.
  private static let ordinary: Set<String> = [
    "messages_received", "bytes_received", "batches_sent", "events_sent", "bytes_sent", "pings", "commits",
    "bytes_committed", "events_accepted", "presence_relayed", "sessions", "write_ahead_bytes", "feed_published",
    "reads", "stacks_loaded", "stacks_in_use", "sessions_opened", "sessions_lost",
  ]

  private static func counters(_ observer: Observer) async throws -> [String: Int] {
    Dictionary(try await observer.status(within: .seconds(20)).counters.map { ($0.name, $0.value) }) { $1 }
  }

  private static func row(_ columns: String...) -> String {
    let widths = [14, 9, 12, 12, 6, 10, 6, 5, 0]
    return zip(columns, widths).map { $0.padding(toLength: max($0.count, $1), withPad: " ", startingAt: 0) }
      .joined(separator: " ")
  }
}
