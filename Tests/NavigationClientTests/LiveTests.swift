import Foundation
import NavigationClient
import SyncDaemon
import TestSupport
import Testing
import ZeroMQ

/// Devices and a real daemon in this process, over a socket of the file system.
@Suite(.timeLimit(.minutes(5))) struct LiveTests {
  @Test func twoDevicesSeeEachOther() async throws {
    try await withDaemon { world in
      let phone = try await world.device("phone")
      let laptop = try await world.device("laptop")
      let one = try await phone.stack("alice/main")
      let two = try await laptop.stack("alice/main")
      try await one.push("list")
      try await one.push("item")
      try await one.accepted()
      #expect(one.state.waiting == 0)
      try await two.state { $0.entries.count == 2 }
      try await two.pop()
      try await one.state { $0.entries.count == 1 }
      #expect(one.state.entries == two.state.entries)
      #expect(one.state.conflicts.isEmpty)
      #expect(one.state.isLive)
      // Each knows the other, by name, and what it shows.
      try await one.state { $0.presence.map(\.name) == ["laptop"] && $0.presence.first?.top == $0.top?.id }
      try await one.state { $0.lastChange?.author == "laptop" }
      await laptop.close()
      try await one.state { $0.presence.isEmpty }
      await phone.close()
    }
  }

  @Test func whatWasDoneApartComesTogether() async throws {
    try await withDaemon { world in
      let phone = try await world.device("phone")
      let one = try await phone.stack("alice/main")
      try await one.set(["list", "item"])
      try await one.accepted()
      // The laptop has it, then is offline.
      var laptop = try await world.device("laptop")
      var two = try await laptop.stack("alice/main")
      try await two.state { $0.entries.count == 2 }
      await laptop.close()
      laptop = try await world.device("laptop", connects: false)
      two = try await laptop.stack("alice/main")
      try await two.pop()
      #expect(two.state.waiting == 1)
      try await one.push("reviews")
      await laptop.close()
      laptop = try await world.device("laptop")
      two = try await laptop.stack("alice/main")
      try await two.accepted()
      try await two.live()
      try await one.state { $0.eventCount == 3 }
      try await two.state { $0.eventCount == 3 }
      // Worked example 2: what was put above is not lost, and said.
      #expect(try one.state.path(of: String.self) == ["list", "item", "reviews"])
      #expect(one.state.entries == two.state.entries)
      #expect(one.state.conflicts == two.state.conflicts)
      #expect(one.state.newConflicts.count == 1)
      one.markConflictsSeen()
      try await one.state { $0.newConflicts.isEmpty && $0.conflicts.count == 1 }
      await laptop.close()
      await phone.close()
    }
  }

  @Test func aDaemonMayComeLate() async throws {
    try await withTemporaryFolder { folder in
      let world = try World(folder, starts: false)
      let phone = try await world.device("phone")
      let one = try await phone.stack("alice/main")
      for number in 0..<200 { try await one.push(number) }
      #expect(one.state.waiting == 200)
      try world.start()
      phone.connectNow()
      try await one.accepted(within: .seconds(30))
      try await one.state { $0.waiting == 0 && $0.connection == .connected }
      await phone.close()
      world.stop()
    }
  }

  @Test func aDaemonThatRestartsLosesNothing() async throws {
    try await withDaemon { world in
      let phone = try await world.device("phone")
      let laptop = try await world.device("laptop")
      let one = try await phone.stack("alice/main")
      let two = try await laptop.stack("alice/main")
      try await one.push("before")
      try await two.state { $0.entries.count == 1 }
      world.stop()
      try await one.state { $0.connection != .connected && !$0.isLive }
      try await one.push("meanwhile")
      try await two.push("apart")
      try world.start()
      try await one.state { $0.eventCount == 3 && $0.waiting == 0 }
      try await two.state { $0.eventCount == 3 && $0.waiting == 0 }
      #expect(one.state.entries == two.state.entries)
      await laptop.close()
      await phone.close()
    }
  }

  @Test(.case(35)) func aDaemonThatLostEverythingIsHealed() async throws {
    try await withDaemon { world in
      let phone = try await world.device("phone")
      let laptop = try await world.device("laptop")
      let one = try await phone.stack("alice/main")
      let two = try await laptop.stack("alice/main")
      try await one.push("a")
      try await two.state { $0.entries.count == 1 }
      try await two.push("b")
      try await one.state { $0.entries.count == 2 }
      // One of them alone brings back what both did.
      await phone.close()
      world.stop()
      try FileManager.default.removeItem(atPath: world.store)
      try world.start()
      try await two.state { $0.connection == .connected && $0.isLive }
      let tv = try await world.device("tv")
      let three = try await tv.stack("alice/main")
      try await three.state { $0.entries.count == 2 }
      #expect(three.state.entries == two.state.entries)
      // The new log's numbers are ones that the laptop has seen in the old one, and it misses none.
      try await three.push("c")
      try await two.state { $0.entries.count == 3 }
      await tv.close()
      await laptop.close()
    }
  }

  @Test func eachChangeArrivesOnce() async throws {
    try await withDaemon { world in
      let observer = try await Observer.open(daemon: world.endpoint)
      let watched = try await observer.stack("alice/main")
      try await watched.live()
      #expect(watched.state.entries.isEmpty)
      let changes = watched.changes
      let phone = try await world.device("phone")
      let one = try await phone.stack("alice/main")
      for number in 0..<300 { try await one.push(number) }
      var seen: [StackChange] = []
      for await change in changes {
        seen.append(change)
        if seen.count == 300 { break }
      }
      #expect(seen.map(\.dot.sequence) == Array(1...300))
      #expect(seen.map(\.entries.count) == Array(1...300))
      #expect(seen.allSatisfy { !$0.isOwn })
      await phone.close()
      await observer.close()
    }
  }

  @Test func manyDevicesConverge() async throws {
    try await withDaemon { world in
      let names = (0..<8).map { "device-\($0)" }
      var devices: [Device] = []
      var stacks: [Stack] = []
      for name in names {
        let device = try await world.device(name)
        devices.append(device)
        stacks.append(try await device.stack("alice/main"))
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (place, stack) in stacks.enumerated() {
          group.addTask {
            for step in 0..<25 {
              switch (place + step) % 5 {
              case 0, 1, 2: try await stack.push("\(place).\(step)")
              case 3: try await stack.pop()
              case _: try await stack.replace(with: "\(place).\(step)")
              }
            }
            try await stack.accepted(within: .seconds(30))
          }
        }
        try await group.waitForAll()
      }
      let total = stacks.reduce(0) { $0 + $1.state.vector[devices[stacks.firstIndex(of: $1)].id] }
      for stack in stacks { try await stack.state { $0.eventCount == total } }
      #expect(Set(stacks.map(\.state.entries)).count == 1)
      #expect(Set(stacks.map(\.state.conflicts)).count == 1)
      for device in devices { await device.close() }
    }
  }

  @Test func waitingEventsOfAClosedStackAreSent() async throws {
    try await withDaemon { world in
      var phone = try await world.device("phone", connects: false)
      try await phone.stack("alice/main").push("a")
      await phone.close()
      phone = try await world.device("phone")
      let other = try await phone.stack("alice/other")
      try await other.live()
      let observer = try await Observer.open(daemon: world.endpoint)
      let watched = try await observer.stack("alice/main")
      try await watched.state { $0.entries.count == 1 }
      await observer.close()
      await phone.close()
    }
  }

  @Test func aPolicyOfTheDaemonsIsTakenOver() async throws {
    try await withDaemon { world in
      let phone = try await world.device("phone")
      let one = try await phone.stack("alice/main", policy: .latest)
      try await one.push("a")
      try await one.accepted()
      let laptop = try await world.device("laptop")
      let two = try await laptop.stack("alice/main")
      try await two.live()
      #expect(two.state.policy == .latest)
      // Another one is refused, at once.
      let tv = try await world.device("tv")
      let three = try await tv.stack("alice/main", policy: .merge)
      try await three.push("b")
      let error = await #expect(throws: ClientError.self) { try await three.accepted(within: .seconds(30)) }
      #expect(error?.code == .policyMismatch)
      #expect(three.state.problem?.code == .policyMismatch)
      #expect(three.state.waiting == 1)
      // Until it takes the daemon's over; that stays so.
      three.adoptPolicy()
      try await three.state { $0.waiting == 0 && $0.problem == nil && $0.policy == .latest && $0.eventCount == 2 }
      try await two.state { $0.eventCount == 2 }
      #expect(three.state.entries == two.state.entries)
      #expect(three.state.conflicts == two.state.conflicts)
      await tv.close()
      let again = try await world.device("tv", connects: false)
      #expect(try await again.stack("alice/main").state.policy == .latest)
      await again.close()
      await laptop.close()
      await phone.close()
    }
  }

  @Test func aStackThatIsMadeWhileItIsFollowed() async throws {
    try await withDaemon { world in
      let observer = try await Observer.open(daemon: world.endpoint)
      let watched = try await observer.stack("alice/main")
      try await watched.live()
      let tv = try await world.device("tv")
      let other = try await tv.stack("alice/main")
      try await other.live()
      let phone = try await world.device("phone")
      let one = try await phone.stack("alice/main", policy: .latest)
      try await one.push("a")
      try await watched.state { $0.eventCount == 1 }
      #expect(watched.state.policy == .latest)
      try await other.state { $0.eventCount == 1 }
      try await other.push("b")
      try await other.accepted()
      #expect(other.state.policy == .latest)
      try await one.state { $0.eventCount == 2 }
      #expect(one.state.entries == other.state.entries)
      await tv.close()
      await phone.close()
      await observer.close()
    }
  }

  /// An answer belongs to its question, also if nobody waits for the one before any more.
  @Test func answersBelongToTheirQuestions() async throws {
    try await withDaemon { world in
      let phone = try await world.device("phone")
      let one = try await phone.stack("alice/main")
      try await one.push("a")
      try await one.accepted()
      world.stop()
      let observer = try await Observer.open(daemon: world.endpoint)
      let error = await #expect(throws: ClientError.self) {
        try await observer.list(space: "bob", within: .milliseconds(1))
      }
      #expect(error?.code == .unreachable)
      let again = Task { try await observer.list(space: "alice", within: .seconds(60)) }
      let other = Task { try await observer.list(space: "bob", within: .seconds(60)) }
      try world.start()
      #expect(try await again.value.stacks.map(\.name) == ["alice/main"])
      #expect(try await other.value.stacks.isEmpty)
      await observer.close()
      await phone.close()
    }
  }

  @Test func theDaemonAnswersQuestions() async throws {
    try await withDaemon { world in
      let phone = try await world.device("phone")
      let one = try await phone.stack("alice/main")
      try await one.push("a")
      try await one.accepted()
      let observer = try await Observer.open(daemon: world.endpoint)
      let listing = try await observer.list(space: "alice")
      #expect(listing.stacks.map(\.name) == ["alice/main"])
      #expect(listing.stacks.first?.eventCount == 1)
      #expect(listing.devices.first { $0.id == phone.id }?.name == "phone")
      #expect(try await observer.list(space: "bob").stacks.isEmpty)
      #expect(try await observer.status().counters.contains { $0.name == "events_accepted" && $0.value == 1 })
      await observer.close()
      await phone.close()
    }
  }
}

extension Array where Element == Stack {
  fileprivate func firstIndex(of stack: Stack) -> Int {
    guard let place = firstIndex(where: { $0 === stack }) else { preconditionFailure("not one of them") }
    return place
  }
}
