import Foundation
import TestSupport
import Testing

/// A person's laptop with a daemon of its own, and a device folder that was copied onto it.
@Suite struct ForkProgramTests {
  /// Asks until the answer is as wanted; the test's own limit of time ends a wait for nothing.
  private static func wait(_ programs: Programs, _ words: [String], for text: String) throws -> String {
    while true {
      let result = try programs.navsync(words)
      if result.output.contains(text) { return result.output }
    }
  }

  @Test func aCopiedDeviceThatActedAtTwoDaemons() async throws {
    try await withTwoPrograms { home, laptop in
      _ = try home.startDaemon()
      let first = try laptop.startDaemon(peers: [home.endpoint])
      #expect(try home.navsync("push", "alice/main", "list", "--device", "phone", "--sync").code == 0)
      _ = try Self.wait(laptop, ["show", "alice/main"], for: "list")
      // The link is cut, and the phone's folder is on the laptop, too.
      kill(first.processIdentifier, SIGTERM)
      first.waitUntilExit()
      let second = try laptop.startDaemon()
      try FileManager.default.createDirectory(
        atPath: laptop.state + "/navsync/devices", withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: home.state + "/navsync/devices/phone", toPath: laptop.state + "/navsync/devices/phone")
      #expect(try home.navsync("push", "alice/main", "here", "--device", "phone", "--sync").code == 0)
      #expect(try laptop.navsync("push", "alice/main", "there", "--device", "phone", "--sync").code == 0)
      #expect(try laptop.navsync("push", "alice/main", "above", "--device", "tablet", "--sync").code == 0)
      kill(second.processIdentifier, SIGTERM)
      second.waitUntilExit()
      _ = try laptop.startDaemon(peers: [home.endpoint])
      // Both daemons report it, and show the same.
      for programs in [home, laptop] {
        _ = try Self.wait(programs, ["show", "alice/main", "--json"], for: #"{"fork":"#)
      }
      // Both phones go on, each under an id of its own; what isn't shown of one is done again.
      for programs in [home, laptop] {
        let synced = try programs.navsync("sync", "alice/main", "--device", "phone")
        #expect(synced.code == 0, "\(synced)")
      }
      let whole = try Self.wait(home, ["show", "alice/main", "--json"], for: #""events":4"#)
      #expect(try Self.wait(laptop, ["show", "alice/main", "--json"], for: #""events":4"#) == whole)
      for value in ["list", "here", "there"] { #expect(whole.contains("\"\(value)\""), "\(whole)") }
      // The other history is in the log, and nothing is damaged.
      for programs in [home, laptop] {
        let log = try programs.navsync("log", "alice/main").output
        #expect(log.contains("another history under this device's id"), "\(log)")
        #expect(try programs.navsync("verify", "alice/main").code == 0)
        let store = try programs.navsync("verify", "--store", programs.state + "/navsync/daemon")
        #expect(store.code == 0, "\(store)")
        #expect(try programs.navsync("conflicts", "alice/main").code == 0)
      }
      _ = try Self.wait(laptop, ["status"], for: "1 stack with several histories under one device id")
    }
  }
}
