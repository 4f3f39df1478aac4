import Locking
import NavigationClient
import TestSupport
import Testing

/// The line between a device and its daemon, when it loses things or is cut.
@Suite(.timeLimit(.minutes(5))) struct LineTests {
  /// A daemon and two devices, the laptop behind a middleman.
  private func withLine(
    isolation: isolated (any Actor)? = #isolation,
    _ body: (_ line: Middleman, _ phone: Stack, _ laptop: Stack) async throws -> Void
  ) async throws {
    try await withDaemon { world in
      let line = try Middleman("ipc://\(world.folder)/line", before: world.endpoint)
      defer { line.stop() }
      let phone = try await world.device("phone")
      let laptop = try await Device.open(
        name: "laptop", options: Device.Options(daemon: line.endpoint, folder: world.folder + "/devices/laptop"))
      let (one, two) = (try await phone.stack("alice/main"), try await laptop.stack("alice/main"))
      try await one.push("first")
      try await two.state { $0.entries.count == 1 && $0.isLive }
      try await body(line, one, two)
      await laptop.close()
      await phone.close()
    }
  }

  /// A third of all batches is lost on the way, also of those that are sent again: the numbers show it, and what lacks is
  /// asked for.
  @Test(.case(34)) func whatIsLostOnTheWayIsFetched() async throws {
    try await withLine { line, phone, laptop in
      let random = Locked(SeededGenerator(seed: 34))
      let lost = Locked(0)
      line.tell { events in
        guard random.withLock({ Int.random(in: 0..<3, using: &$0) == 0 }) else { return events }
        lost.withLock { $0 += 1 }
        return nil
      }
      for number in 0..<30 {
        try await phone.push("\(number)")
        try await phone.accepted()
      }
      try await laptop.state { $0.eventCount == 31 }
      #expect(lost.withLock { $0 } > 0)
      #expect(laptop.state.entries == phone.state.entries)
    }
  }

  /// Nothing passes, in either direction, and nobody is told: what both did meanwhile arrives after.
  @Test(.case(37)) func aCableThatIsPulledLosesNothing() async throws {
    try await withLine { line, phone, laptop in
      line.isCut = true
      for number in 0..<20 {
        try await phone.push("phone \(number)")
        try await laptop.push("laptop \(number)")
      }
      try await laptop.state { $0.connection != .connected }
      #expect(laptop.state.waiting == 20)
      #expect(phone.state.eventCount == 21)
      line.isCut = false
      try await laptop.state { $0.eventCount == 41 && $0.waiting == 0 }
      try await phone.state { $0.eventCount == 41 }
      #expect(laptop.state.entries == phone.state.entries)
    }
  }
}
