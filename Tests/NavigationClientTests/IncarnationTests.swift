import EventLog
import Foundation
import NavigationClient
import TestSupport
import Testing

/// A device whose folder was restored from a backup or copied: the daemon notices, and nothing is lost. (A report of the
/// field: a restored backup used sequence numbers again; two histories under one name, never noticed.)
@Suite(.timeLimit(.minutes(5))) struct IncarnationTests {
  private func path(_ world: World, _ name: String) -> String { world.folder + "/devices/" + name }

  private func restore(_ world: World, _ name: String) throws {
    try FileManager.default.removeItem(atPath: path(world, name))
    try FileManager.default.moveItem(atPath: path(world, name) + ".backup", toPath: path(world, name))
  }

  @Test(.case(49)) func aRestoredBackupThatActed() async throws {
    try await withDaemon { world in
      var phone = try await world.device("phone")
      let old = phone.id
      var one = try await phone.stack("alice/main")
      try await one.push("shared")
      let elsewhere = try await phone.stack("alice/other")
      try await elsewhere.push("elsewhere")
      try await one.accepted()
      // Otherwise its history counts as another one, too.
      try await elsewhere.accepted()
      await phone.close()
      try FileManager.default.copyItem(atPath: path(world, "phone"), toPath: path(world, "phone") + ".backup")
      // What is in no backup, but at the daemon, and seen by another.
      phone = try await world.device("phone")
      one = try await phone.stack("alice/main")
      try await one.push("lost here")
      try await one.accepted()
      await phone.close()
      let laptop = try await world.device("laptop")
      let two = try await laptop.stack("alice/main")
      try await two.state { $0.entries.count == 2 }
      try await two.push("laptop's")
      try await two.accepted()

      try restore(world, "phone")
      phone = try await world.device("phone", connects: false)
      #expect(phone.id == old)
      one = try await phone.stack("alice/main")
      try await one.push("here only")
      try await one.push("and above")
      try await one.pop()
      try await one.push("again above")
      await phone.close()

      phone = try await world.device("phone")
      one = try await phone.stack("alice/main")
      try await one.state { $0.eventCount == 7 && $0.waiting == 0 && $0.isLive }
      #expect(phone.id != old)
      #expect(one.state.problem == nil)
      try await two.state { $0.eventCount == 7 }
      #expect(one.state.entries == two.state.entries)
      let shown = try one.state.path(of: String.self)
      #expect(Set(shown) == ["shared", "lost here", "laptop's", "here only", "again above"])
      // The other stack is as it was, and the new id acts on both.
      let other = try await phone.stack("alice/other")
      #expect(try other.state.path(of: String.self) == ["elsewhere"])
      try await other.push("more")
      try await other.accepted()
      try await one.push("on")
      try await one.accepted()
      try await two.state { $0.eventCount == 8 }
      await phone.close()

      // It stays so, and the replaced store is kept.
      phone = try await world.device("phone")
      one = try await phone.stack("alice/main")
      try await one.live()
      #expect(one.state.eventCount == 8)
      #expect(one.state.entries == two.state.entries)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: path(world, "phone")).contains { $0.hasPrefix("replaced-") }
      )
      await phone.close()
      await laptop.close()
    }
  }

  @Test func aRestoredBackupThatDidNothing() async throws {
    try await withDaemon { world in
      var phone = try await world.device("phone")
      let old = phone.id
      var one = try await phone.stack("alice/main")
      try await one.push("a")
      try await one.accepted()
      await phone.close()
      try FileManager.default.copyItem(atPath: path(world, "phone"), toPath: path(world, "phone") + ".backup")
      phone = try await world.device("phone")
      one = try await phone.stack("alice/main")
      try await one.push("b")
      try await one.accepted()
      await phone.close()
      try restore(world, "phone")
      phone = try await world.device("phone")
      one = try await phone.stack("alice/main")
      try await one.state { $0.eventCount == 2 && $0.isLive }
      #expect(phone.id != old)
      #expect(try one.state.path(of: String.self) == ["a", "b"])
      try await one.pop()
      try await one.accepted()
      #expect(try one.state.path(of: String.self) == ["a"])
      await phone.close()
    }
  }

  @Test func aCopiedFolder() async throws {
    try await withDaemon { world in
      var phone = try await world.device("phone")
      var one = try await phone.stack("alice/main")
      try await one.push("a")
      try await one.accepted()
      await phone.close()
      try FileManager.default.copyItem(atPath: path(world, "phone"), toPath: path(world, "clone"))
      // Both act under one id, the clone offline.
      let clone = try await world.device("clone", connects: false)
      try await clone.stack("alice/main").push("clone's")
      await clone.close()
      phone = try await world.device("phone")
      one = try await phone.stack("alice/main")
      try await one.push("phone's")
      try await one.accepted()
      let again = try await world.device("clone")
      let two = try await again.stack("alice/main")
      try await two.state { $0.eventCount == 3 && $0.waiting == 0 && $0.isLive }
      try await one.state { $0.eventCount == 3 }
      #expect(again.id != phone.id)
      #expect(one.state.entries == two.state.entries)
      #expect(Set(try one.state.path(of: String.self)) == ["a", "phone's", "clone's"])
      await again.close()
      await phone.close()
    }
  }

  /// Several stacks are found to differ one after the other, within a second and by the same id: each time the store of
  /// before is kept under a name of its own.
  @Test func aCopiedFolderOfSeveralStacks() async throws {
    try await withDaemon { world in
      let names = ["alice/one", "alice/two", "alice/three", "alice/four"]
      var phone = try await world.device("phone")
      await phone.close()
      try FileManager.default.copyItem(atPath: path(world, "phone"), toPath: path(world, "clone"))
      let clone = try await world.device("clone", connects: false)
      for name in names { try await clone.stack(name).push("clone's") }
      await clone.close()
      phone = try await world.device("phone")
      for name in names {
        let stack = try await phone.stack(name)
        try await stack.push("phone's")
        try await stack.accepted()
      }
      let again = try await world.device("clone")
      for name in names {
        let stack = try await again.stack(name)
        try await stack.state { $0.eventCount == 2 && $0.waiting == 0 && $0.isLive }
        #expect(Set(try stack.state.path(of: String.self)) == ["phone's", "clone's"])
      }
      await again.close()
      await phone.close()
    }
  }

  /// What was done offline with a clock that is hours ahead doesn't have to wait for hours: no daemon had it, so it is
  /// stamped anew.
  @Test func aClockThatWasAhead() async throws {
    try await withDaemon { world in
      let name = try StackName("alice/main")
      let ahead = Int(Date().timeIntervalSince1970 * 1000) + 7_200_000
      let old = DeviceID(high: 1, low: 2)
      do {
        let log = try SQLiteLog.open(at: path(world, "phone"), program: "test")
        try log.setFact("device", Array(old.description.utf8))
        let replica = Replica(device: old, log: log)
        _ = try replica.open(name, policy: .latest)
        for text in ["a", "b"] {
          _ = try replica.act(.push([Value(text)]), on: name, id: nil, at: ahead)
        }
        _ = try replica.act(.pop(1), on: name, id: nil, at: ahead)
        _ = try replica.commit()
        try log.close()
      }
      let phone = try await world.device("phone")
      let one = try await phone.stack("alice/main")
      try await one.state { $0.eventCount == 3 && $0.waiting == 0 && $0.isLive }
      #expect(phone.id != old)
      #expect(one.state.policy == .latest)
      #expect(one.state.problem == nil)
      #expect(one.state.conflicts.isEmpty)
      #expect(try one.state.path(of: String.self) == ["a"])
      #expect(one.state.lastChange.map { $0.timestamp.milliseconds < ahead - 3_600_000 } == true)
      try await one.push("c")
      try await one.accepted()
      await phone.close()
    }
  }

  /// The process died between the two steps that put a new store in the place of the old one.
  @Test func aSwapThatWasCutOff() async throws {
    try await withTemporaryFolder { folder in
      let world = try World(folder, starts: false)
      var phone = try await world.device("phone", connects: false)
      let id = phone.id
      try await phone.stack("alice/main").push("a")
      await phone.close()
      try FileManager.default.moveItem(atPath: path(world, "phone"), toPath: path(world, "phone") + "~next")
      // What an earlier swap kept is inside of what this one kept, and has to stay at hand.
      try FileManager.default.createDirectory(
        atPath: path(world, "phone") + "~next/replaced-2/replaced-1", withIntermediateDirectories: true)
      phone = try await world.device("phone", connects: false)
      #expect(phone.id == id)
      #expect(try await phone.stack("alice/main").state.entries.count == 1)
      await phone.close()
      #expect(FileManager.default.fileExists(atPath: path(world, "phone") + "/replaced-1"))
      #expect(!FileManager.default.fileExists(atPath: path(world, "phone") + "/replaced-2/replaced-1"))
    }
  }
}
