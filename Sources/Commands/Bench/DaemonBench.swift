import Foundation
import NavigationClient
import NavigationModel
import SyncDaemon
import WireFormat
import ZeroMQ

/// What a daemon and its clients do in a second, with real sockets and a real disk, all in this process.
enum DaemonBench {
  /// Runs a body with a daemon on a new store in a folder.
  private static func withDaemon<Result>(
    in folder: URL, _ body: (String) async throws -> Result
  ) async throws -> Result {
    let store = folder.appendingPathComponent("daemon-\(UInt32.random(in: 0 ... .max))").path
    let endpoint = "ipc://" + store + ".sock"
    let daemon: SyncDaemon
    do {
      daemon = try SyncDaemon(
        SyncDaemonOptions(
          listen: [try Endpoint(endpoint)], feed: [], store: .folder(store), log: DaemonLog(level: .error)))
    } catch { throw CommandError(.failed, "the daemon of the benchmark doesn't start: \(error)") }
    defer { daemon.stop() }
    return try await body(endpoint)
  }

  /// Events a second from the first append to the last acknowledgement, appended by one device without waiting.
  static func pipelinedAppends(in folder: URL, events count: Int) async throws -> Double {
    let stack = try StackName("bench/pipelined")
    let events = FoldBench.history(devices: 1, events: count)
    return try await withDaemon(in: folder) { endpoint in
      let session = try await DaemonSession.open(
        endpoint, on: Console(input: 0, output: 1, error: 2, environment: [:]))
      let target = DaemonTarget(session)
      let imported = ImportedStack(stack, policy: .merge)
      let clock = ContinuousClock()
      let start = clock.now
      for event in events { try await target.take(try imported.append(event, from: "the benchmark"), of: imported) }
      try await target.finish()
      let seconds = (clock.now - start) / .seconds(1)
      let added = try await session.list().stacks.first { $0.stack == stack.description }?.head ?? 0
      guard added == events.count else {
        throw CommandError(.failed, "the daemon took \(added) of \(events.count) events")
      }
      return Double(added) / seconds
    }
  }

  /// The medians of what becomes of one action at a time, in nanoseconds from the call on.
  struct Action: Sendable {
    /// The call returned: it is on the acting device's disk, and shown there.
    var stored: Double
    /// Another device's state has the entry.
    var shown: Double
    /// Of what can't be done faster, measured in between.
    var roundTrip: Double
    var append: Double
  }

  /// Measures actions one by one, as a person acts, between two devices at a daemon of this process: the one before is
  /// on every disk, and the processors have slept.
  static func actionToScreen(in folder: URL, actions: Int) async throws -> Action {
    try await withDaemon(in: folder) { endpoint in
      func open(_ name: String) async throws -> (Device, NavigationClient.Stack) {
        let device = try await Device.open(
          name: name,
          options: Device.Options(
            daemon: endpoint, folder: folder.appendingPathComponent("\(name)-\(getpid())").path))
        return (device, try await device.stack("bench/screen"))
      }
      let (acting, stack) = try await open("acting")
      let (watching, screen) = try await open("watching")
      try await stack.live()
      try await screen.live()
      try await stack.push("first")
      var states = screen.states.makeAsyncIterator()
      let clock = ContinuousClock()
      var stored: [Double] = []
      var times: [Double] = []
      let raw = try RawLimits.Sampler(in: folder, samples: actions)
      for number in 0..<actions + 20 {
        if number >= 20 { try raw.sample() }
        RawLimits.Sampler.pause()
        let start = clock.now
        let outcome =
          number % 2 == 0 ? try await stack.push("screen \(number)") : try await stack.pop()
        if number >= 20 { stored.append((clock.now - start) / .nanoseconds(1)) }
        let shown = outcome.entries.map(\.id)
        while let state = await states.next(), state.entries.map(\.id) != shown {}
        // The first ones warm up.
        if number >= 20 { times.append((clock.now - start) / .nanoseconds(1)) }
      }
      await acting.close()
      await watching.close()
      let limits = raw.end()
      return Action(
        stored: stored.sorted()[stored.count / 2], shown: times.sorted()[times.count / 2],
        roundTrip: Double(limits.trip.median), append: Double(limits.append.median))
    }
  }
}
