import Foundation
import NavigationClient
import TestSupport
import Testing

private struct Product: Codable, Hashable {
  var id: Int
}

private struct Offer: Codable, Hashable {
  var id: Int
}

private struct Renamed: Codable, Hashable, NavigationValue {
  static let navigationTypeName = "page"
  var title: String
}

/// A device without any daemon: everything works and is kept.
@Suite struct OfflineTests {
  @Test func actsAreKept() async throws {
    try await withTemporaryFolder { folder in
      let options = Device.Options(folder: folder.path + "/d", connects: false)
      let device = try await Device.open(name: "laptop", options: options)
      let stack = try await device.stack("alice/main")
      let first = try await stack.push(Product(id: 1))
      #expect(first.dot?.sequence == 1)
      try await stack.push(Product(id: 2))
      try await stack.push(contentsOf: [Value(type: "Page", json: "{\"n\":12345678901234567890}")])
      #expect(stack.state.entries.count == 3)
      #expect(stack.state.waiting == 3)
      #expect(stack.state.connection == .offline)
      #expect(stack.state.top?.value.json == "{\"n\":12345678901234567890}")
      let id = device.id
      await device.close()

      let again = try await Device.open(name: "laptop", options: options)
      let same = try await again.stack("alice/main")
      #expect(again.id == id)
      #expect(same.state.entries.count == 3)
      #expect(same.state.waiting == 3)
      #expect(same.state.lastChange == nil)
      #expect(try same.state.entries[0].value.decode(Product.self) == Product(id: 1))
      await again.close()
    }
  }

  @Test func nothingHappensAtTheRoot() async throws {
    try await withDevice { device in
      let stack = try await device.stack("alice/main")
      #expect(try await stack.pop().reason == .atRoot)
      #expect(try await stack.pop().reason == .atRoot)
      #expect(try await stack.popToRoot().reason == .atRoot)
      #expect(try await stack.set([Value]()).reason == .noChange)
      #expect(try await stack.pop(0).reason == .noChange)
      #expect(stack.state.eventCount == 0)
      // A replacement at the root is a push.
      #expect(try await stack.replace(with: "a").isChange)
      #expect(try await stack.pop(5).entries.isEmpty)
      #expect(try await stack.pop().dot == nil)
    }
  }

  @Test func aSecondBackClosesNothingMore() async throws {
    try await withDevice { device in
      let stack = try await device.stack("alice/main")
      try await stack.set(["list", "item", "photo"])
      let top = try #require(stack.state.top?.id)
      async let first = stack.close([top])
      async let second = stack.close([top])
      let outcomes = try await [first, second]
      #expect(outcomes.filter(\.isChange).count == 1)
      #expect(outcomes.first { !$0.isChange }?.reason == .alreadyClosed)
      #expect(try stack.state.path(of: String.self) == ["list", "item"])
    }
  }

  @Test func theSameIntentIsOneAction() async throws {
    try await withTemporaryFolder { folder in
      let options = Device.Options(folder: folder.path + "/d", connects: false)
      let device = try await Device.open(name: "laptop", options: options)
      let stack = try await device.stack("alice/main")
      let first = try await stack.push("a", intentID: "tap-1")
      let second = try await stack.push("a", intentID: "tap-1")
      #expect(second.isRepeated)
      #expect(second.dot == first.dot)
      try await stack.push("b", intentID: "tap-2")
      await device.close()

      let again = try await Device.open(name: "laptop", options: options)
      let same = try await again.stack("alice/main")
      let third = try await same.push("a", intentID: "tap-1")
      #expect(third.isRepeated)
      #expect(third.dot == first.dot)
      #expect(try await same.push("c", intentID: "tap-3").isRepeated == false)
      // Another stack has intents of its own.
      let other = try await again.stack("alice/other")
      #expect(try await other.push("a", intentID: "tap-1").isRepeated == false)
      #expect(try same.state.path(of: String.self) == ["a", "b", "c"])
      await again.close()
    }
  }

  @Test func valuesHaveTypesAndEntriesHaveIdentity() async throws {
    try await withDevice { device in
      let stack = try await device.stack("alice/main")
      try await stack.push(Product(id: 1))
      try await stack.push(Product(id: 1))
      try await stack.push(Offer(id: 1))
      try await stack.push(Renamed(title: "x/y"))
      let entries = stack.state.entries
      #expect(Set(entries.map(\.id)).count == 4)
      #expect(entries[0].value == entries[1].value)
      #expect(entries[1].value != entries[2].value)
      #expect(entries[3].value == Value(type: "page", json: "{\"title\":\"x/y\"}"))
      #expect(throws: ClientError.self) { try entries[2].value.decode(Product.self) }
      #expect(throws: ClientError.self) { try stack.state.path(of: Product.self) }
      // An equal assignment is no event; one that changes the middle keeps what is beneath.
      let values = stack.state.values
      #expect(try await stack.set(values).reason == .noChange)
      let changed = try await stack.set([values[0], Value("new"), values[2]])
      #expect(changed.entries.first?.id == entries[0].id)
      #expect(changed.entries[2].id != entries[2].id)
    }
  }

  @Test func whatCannotBeKeptIsRefused() async throws {
    try await withDevice { device in
      let stack = try await device.stack("alice/main")
      for bad in [
        Value(type: "Page", json: "{"), Value(type: "", json: "1"), Value(type: "Page", json: "{\n}"),
        Value(type: "Page", json: "\"" + String(repeating: "x", count: 70_000) + "\""),
      ] {
        let error = await #expect(throws: ClientError.self) { try await stack.push(bad) }
        #expect(error?.code == .badValue)
      }
      let many = await #expect(throws: ClientError.self) {
        try await stack.set((0..<5000).map { Value(type: "Int", json: "\($0)") })
      }
      #expect(many?.code == .tooLarge)
      #expect(stack.state.eventCount == 0)
      try await stack.push("fine")
      let name = await #expect(throws: ClientError.self) { try await device.stack("Alice") }
      #expect(name?.code == .badName)
    }
  }

  @Test func oneProcessADevice() async throws {
    try await withTemporaryFolder { folder in
      let options = Device.Options(folder: folder.path + "/d", connects: false, lockWait: .milliseconds(40))
      let device = try await Device.open(name: "laptop", options: options)
      let error = await #expect(throws: ClientError.self) { try await Device.open(name: "laptop", options: options) }
      #expect(error?.code == .deviceInUse)
      #expect(error?.isRetriable == true)
      #expect(error?.message.contains("\(ProcessInfo.processInfo.processIdentifier)") == true)
      await device.close()
      let again = try await Device.open(name: "laptop", options: options)
      await again.close()
    }
  }

  @Test func aClosedDeviceSaysSo() async throws {
    try await withTemporaryFolder { folder in
      let options = Device.Options(folder: folder.path + "/d", connects: false)
      let device = try await Device.open(name: "laptop", options: options)
      let stack = try await device.stack("alice/main")
      let states = stack.states
      await device.close()
      let error = await #expect(throws: ClientError.self) { try await stack.push("a") }
      #expect(error?.code == .closed)
      var count = 0
      for await _ in states { count += 1 }
      #expect(count == 1)
    }
  }

  @Test func eachChangeCanBeWatched() async throws {
    try await withDevice { device in
      let stack = try await device.stack("alice/main")
      try await stack.push("before")
      let changes = stack.changes
      async let all: Void = withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<200 { group.addTask { try await stack.push(number) } }
        try await group.waitForAll()
      }
      var seen: [StackChange] = []
      for await change in changes {
        seen.append(change)
        if seen.count == 200 { break }
      }
      try await all
      #expect(seen.map(\.dot.sequence) == Array(2...201))
      #expect(seen.map(\.entries.count) == Array(2...201))
      #expect(zip(seen, seen.dropFirst()).allSatisfy { $1.number == $0.number + 1 })
      #expect(seen.allSatisfy { $0.isOwn && !$0.isVoid && $0.author == "laptop" })
    }
  }

  @Test func aPolicyIsFixedByTheFirstEvent() async throws {
    try await withDevice { device in
      let stack = try await device.stack("alice/main", policy: .latest)
      #expect(stack.state.policy == .latest)
      try await stack.push("a")
      let error = await #expect(throws: ClientError.self) { try await device.stack("alice/main", policy: .merge) }
      #expect(error?.code == .policyMismatch)
      #expect(try await device.stack("alice/main").state.policy == .latest)
    }
  }

  @Test func theDefaultNameIsAName() throws {
    _ = try Name(Device.defaultName)
  }

  @Test func waitingForADaemonEnds() async throws {
    try await withTemporaryFolder { folder in
      let options = Device.Options(daemon: "ipc://\(folder.path)/none", folder: folder.path + "/d")
      let device = try await Device.open(name: "laptop", options: options)
      let stack = try await device.stack("alice/main")
      let outcome = try await stack.push("a")
      let error = await #expect(throws: ClientError.self) {
        try await stack.accepted(outcome.dot, within: .milliseconds(30))
      }
      #expect(error?.code == .unreachable)
      #expect(error?.isRetriable == true)
      let listing = await #expect(throws: ClientError.self) { try await device.list(within: .milliseconds(30)) }
      #expect(listing?.code == .unreachable)
      await device.close()
    }
  }
}

/// A device in a folder of its own, closed after the body.
func withDevice(
  isolation: isolated (any Actor)? = #isolation, _ body: (Device) async throws -> Void
) async throws {
  try await withTemporaryFolder { folder in
    let device = try await Device.open(
      name: "laptop", options: Device.Options(folder: folder.path + "/d", connects: false))
    do {
      try await body(device)
      await device.close()
    } catch {
      await device.close()
      throw error
    }
  }
}
