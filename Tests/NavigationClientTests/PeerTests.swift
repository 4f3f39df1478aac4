import Foundation
import NavigationClient
import TestSupport
import Testing

/// Devices at different daemons, which follow each other.
@Suite struct PeerTests {
  private struct Product: Codable, Sendable { var id: Int }

  private static func state(of stack: Stack) async -> StackState? {
    for await state in stack.states { return state }
    return nil
  }

  @Test func devicesAtDifferentDaemonsShareAStack() async throws {
    try await withTemporaryFolder { folder in
      let home = try World(folder.appendingPathComponent("home"))
      defer { home.stop() }
      let laptop = try World(folder.appendingPathComponent("laptop"), peers: [home.endpoint])
      defer { laptop.stop() }
      let phone = try await home.device("phone")
      let browser = try await laptop.device("browser")
      let here = try await phone.stack("alice/main")
      let there = try await browser.stack("alice/main")
      try await here.push(Product(id: 1))
      try await there.state { $0.entries.count == 1 }
      try await there.push(Product(id: 2))
      try await here.state { $0.entries.count == 2 }
      // The laptop is on its way: what both do meanwhile is joined when it is back.
      home.stop()
      try await there.push(Product(id: 3))
      try await there.accepted(within: .seconds(20))
      try await here.pop()
      try home.start()
      try await here.state { $0.eventCount == 4 && $0.waiting == 0 }
      try await there.state { $0.eventCount == 4 && $0.waiting == 0 }
      let (one, other) = (try #require(await Self.state(of: here)), try #require(await Self.state(of: there)))
      #expect(one.entries == other.entries)
      #expect(one.entries.count == 3)
      #expect(one.conflicts == other.conflicts)
      #expect(one.vector == other.vector)
      try await there.popToRoot()
      try await here.state { $0.entries.isEmpty }
      try await there.state { $0.entries.isEmpty }
      await phone.close()
      await browser.close()
    }
  }
}
