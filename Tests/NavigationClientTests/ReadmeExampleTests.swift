import Foundation
import NavigationClient
import NavigationModel
import TestSupport
import Testing

@Suite struct ReadmeExampleTests {
  /// The program that the README shows, as a process of its own: it acts without a daemon, and ends when another program
  /// that has its device next goes back to the root.
  @Test func theProgramActsAndFollows() async throws {
    try await withTemporaryFolder { folder in
      let program = Process()
      program.executableURL = try BuiltProgram.url("recipes-example")
      program.environment = [
        "XDG_STATE_HOME": folder.path, "HOME": folder.path,
        "NAVSYNC_DAEMON": "ipc://" + folder.appendingPathComponent("sync").path,
      ]
      let output = Pipe()
      program.standardOutput = output
      try program.run()
      var shown = ""
      while !shown.contains("\n"), let more = try output.fileHandleForReading.read(upToCount: 1) {
        shown += String(decoding: more, as: UTF8.self)
      }
      kill(program.processIdentifier, SIGKILL)
      program.waitUntilExit()
      #expect(shown == "Soup (waiting: 1)\n")

      // What it did is on the disk, whatever became of the process.
      let device = try await Device.open(
        name: "kitchen",
        options: Device.Options(folder: folder.path + "/navsync/devices/kitchen", connects: false))
      let stack = try await device.stack("alice/recipes")
      #expect(stack.state.values.map(\.json) == [#"{"id":42,"title":"Soup"}"#])
      await device.close()
    }
  }
}
