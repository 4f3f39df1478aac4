import ArgumentParsing
import Foundation
import NavigationClient
import NavigationModel
import StackHistory
import TerminalUI
import TestSupport
import Testing

@testable import Commands

/// The screens of `navsync ui`, without a daemon.
@MainActor @Suite(.timeLimit(.minutes(5))) struct InterfaceTests {
  private struct Screens {
    let device: Device
    let desk: Desk
    let control: StackControl?
    let host: TestHost

    /// Waits until the screen is as wanted.
    @MainActor func wait(_ condition: (String) -> Bool) async throws {
      while !condition(host.text) {
        try Task.checkCancellation()
        await Task.yield()
      }
    }

    @MainActor func wait(for text: String) async throws { try await wait { $0.contains(text) } }

    /// The screen without what differs from run to run.
    @MainActor var text: String { host.text.replacing(/\d\d:\d\d:\d\d/, with: "hh:mm:ss") + "\n" }
  }

  private func withScreens(_ stack: String?, _ body: (Screens) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
      let device = try await Device.open(
        name: "phone", options: Device.Options(folder: folder.path + "/phone", connects: false))
      let desk = Desk(device)
      let control = try stack.map { try desk.open(StackName($0)) }
      try await body(
        Screens(
          device: device, desk: desk, control: control,
          host: TestHost(width: 64, height: 22) { DeskView(desk: desk, control: control) }))
      await device.close()
    }
  }

  @Test func anEmptyStack() async throws {
    try await withScreens("alice/main") { screens in
      try expectGolden(screens.text, "ui-empty.txt")
      screens.host.press(.character("b"))
      try await screens.wait(for: "Nothing changed: the stack is at its root.")
      screens.host.press(.character("h"))
      #expect(screens.host.text.contains("Nothing was done yet."))
    }
  }

  @Test func drivingAStack() async throws {
    try await withScreens("alice/main") { screens in
      let host = screens.host
      host.press(.character("p"))
      host.type("list")
      try expectGolden(screens.text, "ui-push.txt")
      host.press(.enter)
      try await screens.wait(for: "1 list")
      host.press(.character("p"))
      host.type(#"{"id":42}"#)
      host.press(.tab)
      host.type("Product")
      host.press(.enter)
      try await screens.wait(for: #"Product {"id":42}"#)
      try expectGolden(screens.text, "ui-stack.txt")
      // What isn't JSON is refused, and said.
      host.press(.character("r"))
      host.type("{")
      host.press(.tab)
      host.type("Product")
      host.press(.enter)
      try await screens.wait(for: "That wasn't done.")
      host.press(.character("r"))
      host.type("other")
      host.press(.enter)
      try await screens.wait { $0.contains("2 other") && !$0.contains("42") }
      host.press(.character("u"))
      try await screens.wait { $0.contains("42") && !$0.contains("2 other") }
      host.press(.character("0"))
      try await screens.wait { !$0.contains("1 list") }
      host.press(.character("h"))
      try await screens.wait(for: "phone root")
      try expectGolden(screens.text, "ui-history.txt")
      host.press(.down, .down, .enter)
      try await screens.wait(for: "Undo it")
      #expect(host.text.contains("Event 3") && host.text.contains("After   list › other"))
      #expect(host.click("Restore what was shown after it"))
      try await screens.wait(for: "Now     list › other")
      host.press(.escape, .escape)
      #expect(host.text.contains("2 other"))
    }
  }

  @Test func anEntryAndItsClosing() async throws {
    try await withScreens("alice/main") { screens in
      _ = try await screens.device.stack("alice/main").push(contentsOf: [Value("a"), Value("b"), Value("c")])
      try await screens.wait(for: "3 c")
      #expect(screens.host.click("1 a"))
      try expectGolden(screens.text, "ui-entry.txt")
      #expect(screens.host.click("Close what is above"))
      screens.host.press(.escape)
      try await screens.wait { $0.contains("1 a") && !$0.contains("2 b") }
      #expect(screens.host.click("1 a") && screens.host.click("Close it and what is above"))
      try await screens.wait { !$0.contains("1 a") && $0.contains("0 the root") }
    }
  }

  /// What comes while the history is open is appended to what was read.
  @Test func theHistoryGoesOn() async throws {
    try await withScreens("alice/main") { screens in
      let stack = try await screens.device.stack("alice/main")
      for number in 1...3 { try await stack.push("early \(number)") }
      screens.host.press(.character("h"))
      try await screens.wait(for: "push early 3")
      let read = try #require(screens.control?.history)
      for number in 4...9 {
        try await stack.push("late \(number)")
        try await screens.wait(for: "push late \(number)")
      }
      screens.host.press(.escape, .character("u"))
      try await screens.wait { $0.contains("Undone: phone: push late 9") && !$0.contains("9 late 9") }
      #expect(screens.control?.history === read && read.timeline.count == 10)
    }
  }

  @Test func choosingAStack() async throws {
    try await withScreens(nil) { screens in
      #expect(screens.host.text.contains("None yet."))
      screens.host.press(.down)
      screens.host.type("alice")
      screens.host.press(.enter)
      #expect(screens.host.text.contains("'alice' is not a stack"))
      screens.host.type("/new")
      screens.host.press(.enter)
      #expect(screens.host.text.contains("alice/new (merge)"))
    }
  }

  @Test(arguments: ["alice", "Alice/main", "alice/"]) func whatIsNoStackIsRefused(name: String) {
    #expect(throws: (any Error).self) { try parse(Navsync.self, arguments: ["ui", name], environment: [:]) }
  }
}
