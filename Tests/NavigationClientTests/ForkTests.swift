import Foundation
import NavigationClient
import NavigationModel
import TestSupport
import Testing

/// A device's folder is copied, and the copy acts at another daemon while the link between the two is cut.
@Suite(.timeLimit(.minutes(10))) struct ForkTests {
  private static func copyDevice(_ name: String, from: World, to: World, as other: String) throws {
    try FileManager.default.createDirectory(atPath: to.folder + "/devices", withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: from.folder + "/devices/" + name, toPath: to.folder + "/devices/" + other)
  }

  /// Two daemons that know of each other, with a stack that both have, and then don't.
  private static func apart(
    _ folder: URL, _ body: (_ home: World, _ laptop: World, _ healed: () throws -> World) async throws -> Void
  ) async throws {
    let home = try World(folder.appendingPathComponent("home"))
    defer { home.stop() }
    let path = folder.appendingPathComponent("laptop")
    let together = try World(path, peers: [home.endpoint])
    let phone = try await home.device("phone")
    let there = try await phone.stack("alice/main")
    try await there.push("shared")
    try await there.accepted()
    let probe = try await together.device("probe")
    try await probe.stack("alice/main").state { $0.eventCount == 1 }
    await probe.close()
    await phone.close()
    together.stop()
    let laptop = try World(path)
    defer { laptop.stop() }
    try copyDevice("phone", from: home, to: laptop, as: "copy")
    try await body(home, laptop) {
      laptop.stop()
      return try World(path, peers: [home.endpoint])
    }
  }

  @Test(arguments: [(1, 1), (3, 1), (1, 3), (2, 2)])
  func aCopyThatActedElsewhere(_ here: Int, _ there: Int) async throws {
    try await withTemporaryFolder { folder in
      try await Self.apart(folder) { home, laptop, heal in
        let (phone, desk) = (try await home.device("phone"), try await home.device("desk"))
        let (copy, tablet) = (try await laptop.device("copy"), try await laptop.device("tablet"))
        let old = phone.id
        #expect(copy.id == old)
        var stacks: [Stack] = []
        for device in [phone, desk, copy, tablet] { stacks.append(try await device.stack("alice/main")) }
        for place in 0..<here { try await stacks[0].push("phone \(place)") }
        for place in 0..<there { try await stacks[2].push("copy \(place)") }
        try await stacks[0].accepted()
        try await stacks[2].accepted()
        // Others act on what they see of it.
        try await stacks[1].state { $0.eventCount == 1 + here }
        try await stacks[1].push("desk")
        try await stacks[1].accepted()
        try await stacks[3].state { $0.eventCount == 1 + there }
        try await stacks[3].push("tablet")
        try await stacks[3].accepted()
        let healed = try heal()
        defer { healed.stop() }
        // What is folded of the old id, what the other acts again, and what the others did.
        for stack in stacks {
          try await stack.state { state in
            state.isLive && state.waiting == 0 && state.problem == nil && state.conflicts.contains(.fork(Dot(old, 2)))
              && state.eventCount == 1 + here + there + 2
          }
        }
        #expect(Set([phone.id, copy.id, old]).count == 3)
        let states = stacks.map(\.state)
        for state in states {
          #expect(state.entries == states[0].entries)
          #expect(state.conflicts == states[0].conflicts)
          #expect(state.vector == states[0].vector)
        }
        var wanted: Set<String> = ["shared", "desk", "tablet"]
        for place in 0..<here { wanted.insert("phone \(place)") }
        for place in 0..<there { wanted.insert("copy \(place)") }
        // A push on an entry that only the history that isn't folded has is void, and reported.
        let shown = Set(try states[0].path(of: String.self))
        let voids = states[0].conflicts.count { if case .noop = $0 { true } else { false } }
        #expect(shown.isSubset(of: wanted) && shown.count == wanted.count - voids, "\(shown) \(states[0].conflicts)")
        #expect(voids <= 1)
        // All go on.
        for (place, stack) in stacks.enumerated() { try await stack.push("on \(place)") }
        for stack in stacks { try await stack.state { $0.waiting == 0 && $0.eventCount == 1 + here + there + 6 } }
        for stack in stacks { #expect(stack.state.entries == stacks[0].state.entries) }
        for device in [phone, desk, copy, tablet] { await device.close() }
      }
    }
  }

  /// Who wasn't there when the two met learns of it at either daemon, and an observer too.
  @Test func whoComesLaterAndWhoOnlyLooks() async throws {
    try await withTemporaryFolder { folder in
      try await Self.apart(folder) { home, laptop, heal in
        let (phone, copy) = (try await home.device("phone"), try await laptop.device("copy"))
        let old = phone.id
        let (one, other) = (try await phone.stack("alice/main"), try await copy.stack("alice/main"))
        for place in 0..<3 { try await one.push("phone \(place)") }
        try await other.push("copy")
        try await one.accepted()
        try await other.accepted()
        // It saw one of the histories, and goes to the daemon that has the other.
        let tablet = try await laptop.device("tablet")
        try await tablet.stack("alice/main").state { $0.eventCount == 2 }
        await tablet.close()
        let watcher = try await Observer.open(daemon: laptop.endpoint)
        let seen = try await watcher.stack("alice/main")
        try await seen.state { $0.eventCount == 2 && $0.isLive }
        try Self.copyDevice("tablet", from: laptop, to: home, as: "tablet")
        let moved = try await home.device("tablet")
        let there = try await moved.stack("alice/main")
        try await there.push("tablet")
        try await there.state { $0.conflicts.contains(.fork(Dot(old, 2))) && $0.waiting == 0 }
        let healed = try heal()
        defer { healed.stop() }
        let late = try await healed.device("late")
        let last = try await late.stack("alice/main")
        for stack in [one, other, there, last] {
          try await stack.state { $0.isLive && $0.waiting == 0 && $0.eventCount == 6 && $0.problem == nil }
          #expect(stack.state.entries == one.state.entries)
          #expect(stack.state.conflicts == one.state.conflicts)
        }
        try await seen.state { $0.entries == one.state.entries && $0.conflicts == one.state.conflicts }
        for device in [phone, copy, moved, late] { await device.close() }
        await watcher.close()
      }
    }
  }
}
