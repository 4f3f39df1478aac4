import Foundation
import Glibc
import KeyFiles
import SyncDaemon
import TestSupport
import Testing
import ZeroMQ

/// Two devices side by side on terminals that draw, with a daemon between them that comes and goes.
@Suite(.serialized, .enabled(if: TmuxSession.isAvailable), .timeLimit(.minutes(3))) struct TwoDevicesTests {
  private func open(
    _ program: String, _ arguments: String = "", as device: String, in world: World, environment: String = "",
    suspends: Bool = false
  ) throws -> TmuxSession {
    let path = try BuiltProgram.url(program).path
    let command =
      "env XDG_STATE_HOME='\(world.folder)/state' NAVSYNC_DAEMON='\(world.endpoint)' \(environment) '\(path)' "
      + "\(arguments) --device \(device)"
    // The shell tells how it ended, and goes on with it when it was suspended.
    let whole = suspends ? "set -m; \(command); echo suspended; read line; fg" : command
    return try TmuxSession(columns: 80, rows: 24, whole, tellsEnd: true)
  }

  private func withDaemon(_ body: (World) throws -> Void) throws {
    let folder = URL(fileURLWithPath: "/tmp/navsync-two-\(UUID().uuidString.prefix(8))", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let world = World(folder)
    try world.start()
    defer { world.stop() }
    try body(world)
  }

  private func quit(_ sessions: TmuxSession...) throws {
    for session in sessions {
      try session.press("q")
      try session.wait(for: "ended with 0")
      #expect(try session.value("alternate_on") == "0")
    }
  }

  @Test func eachShowsWhatTheOtherDoes() throws {
    try withDaemon { world in
      let phone = try open("colors-example", as: "phone", in: world)
      let laptop = try open("colors-example", as: "laptop", in: world)
      try phone.wait(for: "laptop: root · connected")
      try laptop.wait(for: "phone: root · connected")
      try phone.press("Enter")
      try laptop.wait(for: "██████  Mint")
      try laptop.wait(for: "phone opened Mint")
      // A note of a screen is the device's own, and outlives what the other does.
      try laptop.press("mine")
      try phone.press("Tab", "Enter")
      try phone.wait(for: "██████  Teal")
      let held = try laptop.wait(for: "Another device shows something else")
      #expect(held.contains("██████  Mint") && held.contains("mine"))
      try laptop.press("Escape")
      try laptop.wait(for: "██████  Teal")
      try laptop.press("Escape")
      try laptop.wait { $0.contains("██████  Mint") && $0.contains("mine") }
      try phone.wait(for: "██████  Mint")
      try phone.press("Tab", "g")
      try laptop.wait(for: "Four screens at once")
      try quit(phone, laptop)
    }
  }

  @Test func offlineAndBack() throws {
    try withDaemon { world in
      let phone = try open("colors-example", as: "phone", in: world)
      let laptop = try open("navsync", "ui alice/colors", as: "laptop", in: world)
      try phone.wait(for: "laptop: root · connected")
      world.stop()
      try phone.wait(for: "reconnecting")
      try phone.press("Enter")
      try phone.wait(for: "reconnecting, 1 waiting")
      try laptop.press("p")
      try laptop.wait(for: "On top of the root:")
      try laptop.press("from here", "Enter")
      try laptop.wait(for: "1 waiting")
      try world.start()
      // Both opened something on the root: both are kept, and both are told.
      let both = try laptop.wait { $0.contains("shade {\"name\":\"Mint\"}") && $0.contains("connected") }
      #expect(both.contains("from here"))
      try laptop.wait(for: "1 conflict")
      try phone.wait(for: "1 conflict")
      try phone.wait { !$0.contains("waiting") && $0.contains("connected") }
      try laptop.press("c", "Enter")
      let told = try laptop.wait(for: "Decided")
      #expect(told.contains("all are kept, each branch whole"))
      #expect(told.contains("phone:1") && told.contains("laptop:1"))
      try quit(phone, laptop)
    }
  }

  /// A device that stays behind is followed: what it shows, as it moves, and no more when one goes back.
  @Test func followingAnother() throws {
    try withDaemon { world in
      let phone = try open("navsync", "ui alice/main", as: "phone", in: world)
      let laptop = try open("navsync", "ui alice/main", as: "laptop", in: world)
      try laptop.wait(for: "phone: root")
      try phone.wait(for: "laptop: root")
      try laptop.press("d")
      try laptop.wait { $0.contains("laptop (you), at the root") && $0.contains("phone at the root") }
      // The first that can be chosen is the phone.
      try laptop.press("Enter")
      try laptop.wait { $0.contains("Following phone") && $0.contains("phone is at the root.") }
      for value in ["list", "item"] {
        try phone.press("p")
        try phone.wait(for: "On top of")
        try phone.press(value, "Enter")
        try laptop.wait { $0.contains("phone is at \(value).") && $0.contains("Value  \"\(value)\"") }
      }
      #expect(try laptop.screen().contains("list › item"))
      try phone.press("b")
      try laptop.wait { $0.contains("phone is at list.") && $0.contains("Value  \"list\"") }
      // Away, and there again.
      try phone.press("q")
      try phone.wait(for: "ended with 0")
      try laptop.wait(for: "phone doesn't show the stack now.")
      let again = try open("navsync", "ui alice/main", as: "phone", in: world)
      try laptop.wait(for: "phone is at list.")
      try laptop.press("Escape")
      try laptop.wait { $0.contains("Enter follows a device") && !$0.contains("Following") }
      try again.press("b")
      try laptop.wait { $0.contains("phone at the root") && !$0.contains("Following") }
      try quit(again, laptop)
    }
  }

  /// A daemon with keys that doesn't know this machine: said while it runs, and by the exit code.
  @Test func notAuthorised() throws {
    try withDaemon { world in
      let keys = KeyFolder(world.folder + "/keys")
      try keys.makeKeys()
      var options = try SyncDaemonOptions(
        listen: [try Endpoint("tcp://127.0.0.1:0")], feed: [], store: .memory, log: DaemonLog(level: .error))
      options.keys = keys
      let daemon = try SyncDaemon(options)
      defer { daemon.stop() }
      let environment = "NAVSYNC_DAEMON='\(daemon.endpoints[0])' NAVSYNC_KEYS='\(world.folder)/none'"
      // It waits two seconds for what the daemon says, which is too short on a machine that has much to do.
      var told = ""
      for _ in 0..<20 where !told.contains("ended with 77") {
        let once = try open("navsync", "ui alice/main --once", as: "phone", in: world, environment: environment)
        told = try once.wait(for: "ended with").replacingOccurrences(of: "\n", with: "")
      }
      #expect(told.contains("not authorised: the daemon at") && told.contains("ended with 77"))
      let phone = try open("navsync", "ui alice/main", as: "phone", in: world, environment: environment)
      try phone.wait(for: "not authorised")
      try phone.press("p")
      try phone.wait(for: "On top of")
      try phone.press("mine", "Enter")
      try phone.wait { $0.contains("1 mine") && $0.contains("1 waiting") }
      try phone.press("q")
      try phone.wait(for: "ended with 77")
    }
  }

  @Test func killedAndStartedAgain() throws {
    try withDaemon { world in
      var phone = try open("navsync", "ui alice/main", as: "phone", in: world)
      let laptop = try open("navsync", "ui alice/main", as: "laptop", in: world)
      try laptop.wait(for: "phone: root")
      try phone.press("p")
      try phone.wait(for: "On top of")
      try phone.press("kept", "Enter")
      try laptop.wait(for: "1 kept")
      let shell = try phone.value("pane_pid")
      let children = try String(contentsOfFile: "/proc/\(shell)/task/\(shell)/children", encoding: .utf8)
      kill(try #require(children.split(separator: " ").first.flatMap { pid_t($0) }), SIGKILL)
      try phone.wait(for: "ended with 137")
      try laptop.press("p")
      try laptop.wait(for: "On top of")
      try laptop.press("meanwhile", "Enter")
      try laptop.wait(for: "2 meanwhile")
      phone = try open("navsync", "ui alice/main", as: "phone", in: world)
      try phone.wait { $0.contains("1 kept") && $0.contains("2 meanwhile") && $0.contains("connected") }
      try phone.press("u")
      try laptop.wait { !$0.contains("2 meanwhile") && $0.contains("1 kept") }
      try quit(phone, laptop)
    }
  }

  @Test func resizedAndSuspended() throws {
    try withDaemon { world in
      let phone = try open("navsync", "ui alice/main", as: "phone", in: world, suspends: true)
      let laptop = try open("navsync", "ui alice/main", as: "laptop", in: world)
      try laptop.wait(for: "phone: root")
      try phone.resize(columns: 50, rows: 12)
      try phone.wait { $0.hasPrefix("alice/main (merge)") && $0.components(separatedBy: "\n").count == 12 }
      try phone.resize(columns: 100, rows: 30)
      try phone.wait { $0.components(separatedBy: "\n").count == 30 }
      try phone.press("C-z")
      try phone.wait(for: "suspended")
      #expect(try phone.value("alternate_on") == "0")
      try laptop.press("p")
      try laptop.wait(for: "On top of")
      try laptop.press("news", "Enter")
      try laptop.wait(for: "1 news")
      try phone.press("Enter")
      try phone.wait(for: "1 news")
      #expect(try phone.value("alternate_on") == "1")
      try quit(phone, laptop)
    }
  }

  /// What can't be done ends with the right code, and says why.
  @Test func whatCanNotBeShown() throws {
    try withDaemon { world in
      func end(_ arguments: String, as device: String, saying text: String, _ environment: String = "") throws -> String
      {
        let session = try open("navsync", arguments, as: device, in: world, environment: environment)
        let screen = try session.wait(for: "ended with").replacingOccurrences(of: "\n", with: "")
        #expect(screen.contains(text))
        return String(screen.reversed().prefix { $0.isNumber }.reversed())
      }
      #expect(try end("ui alice/none --once", as: "phone", saying: "there is no stack alice/none") == "3")
      let nobody = "NAVSYNC_DAEMON=ipc://\(world.folder)/nobody"
      #expect(try end("ui alice/none --once", as: "phone", saying: "no daemon is connected", nobody) == "69")
      #expect(try end("ui --once", as: "phone", saying: "no daemon is connected", nobody) == "69")
      #expect(try end("ui alice", as: "phone", saying: "write space/stack") == "2")
      let holder = try open("navsync", "ui alice/main", as: "phone", in: world)
      try holder.wait(for: "connected")
      #expect(try end("ui alice/main", as: "phone", saying: "with --device NAME") == "4")
      // A program goes on, and says that it is alone.
      let program = try open("colors-example", as: "phone", in: world)
      try program.wait(for: "not shared: open elsewhere, use --device NAME")
      try program.press("Enter")
      try program.wait(for: "██████  Mint")
      try program.press("Tab", "q")
      try program.wait(for: "alice/colors was not shared")
      try quit(holder)
    }
  }

  /// A race: each device has a way of its own, and sees how far the other is.
  @Test func aRace() throws {
    try withDaemon { world in
      let phone = try open("wikispeedia-example", as: "phone", in: world)
      let laptop = try open("wikispeedia-example", as: "laptop", in: world)
      try phone.wait(for: "laptop: root")
      try laptop.wait(for: "phone: root")
      try phone.press("Enter")
      try phone.wait(for: "laptop: 0 links")
      try laptop.wait(for: "phone: 0 links")
      try phone.press("Down", "Down", "Down", "Enter")
      try phone.wait(for: "You: 1 link,")
      try laptop.wait { $0.contains("phone: 1 link,") && $0.contains("You: 0 links") }
      try quit(phone, laptop)
    }
  }

  @Test func withoutColoursAndWithoutAScreen() throws {
    try withDaemon { world in
      let plain = try open("colors-example", as: "phone", in: world, environment: "NO_COLOR=1")
      try plain.wait(for: "connected")
      try plain.press("Enter")
      try plain.wait(for: "██████  Mint")
      let lines = try open("colors-example", "--accessible", as: "laptop", in: world)
      try lines.wait(for: "██████  Mint")
      #expect(try lines.value("alternate_on") == "0")
      try lines.press("b", "Enter")
      try plain.wait(for: "Four screens at once")
      try lines.press("q", "Enter")
      try lines.wait(for: "ended with 0")
      try quit(plain)
    }
  }
}

extension TmuxSession {
  @discardableResult
  fileprivate func wait(until condition: (String) throws -> Bool) throws -> String {
    try wait("what is wanted", until: condition)
  }
}
