import Foundation
import NavigationModel
import Replication
import Testing
import WireFormat

/// Text files of commands and expected outputs, as in etcd raft's testdata. `NAVSYNC_REWRITE_SCENARIOS=1` writes what
/// comes out as what is expected; review it as a diff.
@Suite struct ClientScenarioTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Scenarios/client")

  static let files =
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?
    .filter { $0.hasSuffix(".txt") }.sorted() ?? []

  @Test func thereAreScenarios() { #expect(Self.files.count >= 10) }

  @Test(arguments: files) func scenario(_ file: String) throws {
    let url = Self.folder.appending(path: file)
    let text = try String(contentsOf: url, encoding: .utf8)
    let actual = ClientScenario.run(text)
    if ProcessInfo.processInfo.environment["NAVSYNC_REWRITE_SCENARIOS"] != nil {
      try actual.write(to: url, atomically: true, encoding: .utf8)
    } else {
      #expect(actual == text, "\(file) differs")
    }
    #expect(text.hasPrefix("# "), "\(file) doesn't say why it exists")
  }
}

/// One run of a scenario: a core, its log, and the time.
struct ClientScenario {
  var core: ClientCore
  var replica: FakeReplica
  var now = 0
  var lines: [String] = []
  /// The daemon answers each ping at once, and neither shows.
  var answersPings = false

  /// The text with the outputs that come out.
  static func run(_ text: String) -> String {
    var scenario = ClientScenario(
      core: ClientCore(ClientCore.Settings(device: device("a"), name: "phone", software: "test", seed: 7)),
      replica: FakeReplica(device: device("a")))
    var result = ""
    for block in text.components(separatedBy: "\n\n") {
      let input = block.components(separatedBy: "\n----")[0]
      if !result.isEmpty { result += "\n\n" }
      result += input.trimmingCharacters(in: .newlines)
      let commands = input.split(separator: "\n").filter { !$0.hasPrefix("#") }
      if commands.isEmpty { continue }
      scenario.lines = []
      for command in commands { scenario.carryOut(String(command)) }
      result += "\n----" + scenario.lines.map { "\n" + $0 }.joined()
    }
    return result + "\n"
  }

  private mutating func carryOut(_ command: String) {
    let words = command.split(separator: " ").map(String.init)
    var fields: [String: String] = [:]
    for word in words {
      if let equals = word.firstIndex(of: "=") {
        fields[String(word[..<equals])] = String(word[word.index(after: equals)...])
      }
    }
    let stack =
      fields["stack"].flatMap { try? StackName($0) } ?? StackName(space: mustName("alice"), stack: mustName("main"))
    switch words[0] {
    case "observer": core = ClientCore(ClientCore.Settings(software: "test", seed: 7))
    case "start": core.start(now: now)
    case "stop": core.stop()
    case "hurry": core.hurry(now: now)
    case "connected": core.connected(now: now)
    case "disconnected": core.disconnected(now: now)
    case "handshake-refused": core.handshakeRefused(reason: "the key isn't allowed", now: now)
    case "malformed": core.malformedReceived(now: now)
    case "unknown-kind":
      do { _ = try Message(decoding: [0xA2, 0x06, 0]) } catch { core.unreadableReceived(error, now: now) }
    case "follow": core.follow(stack, policy: fields["policy"].flatMap { Policy($0) }, now: now)
    case "unfollow": core.unfollow(stack)
    case "act": replica.act(Int(fields["count"] ?? "1") ?? 1, on: stack, of: &core)
    case "has":
      // What the log holds from before, of any device.
      for dot in dots(fields["dots"] ?? "") {
        replica.logs[stack, default: .init()].add(dot, Array("\(letter(dot.device))\(dot.sequence)".utf8))
      }
    case "read-at-most": replica.maximumEvents = Int(words[1]) ?? 1
    case "pings-answered": answersPings = true
    case "shows": core.shows(stack, top: entry(fields["top"]), now: now)
    case "hides": core.hides(stack)
    case "list": core.request(.list(List(space: words.count > 1 ? words[1] : "")))
    case "receive":
      if let message = message(words[1], fields, stack) {
        core.received(message, bytes: Int(fields["bytes"] ?? "100") ?? 100, now: now)
      } else {
        lines.append("? \(command)")
      }
    case "time":
      // The time goes on to that, with all that is due on the way.
      let until = Int(words[1]) ?? 0
      while let due = core.deadline, due <= until {
        now = max(now, due)
        core.timerFired(now: now)
        finish(showsTime: true)
      }
      now = until
    case _: lines.append("? \(command)")
    }
    finish(showsTime: false)
  }

  private mutating func finish(showsTime: Bool) {
    while true {
      let outputs = core.drain()
      if outputs.isEmpty { return }
      for output in outputs {
        if answersPings, case .send(.ping) = output {
          core.received(.pong(Pong(serverTime: 0, heads: [])), bytes: 20, now: now)
          continue
        }
        if let line = describe(output) { lines.append(showsTime ? "\(now): \(line)" : line) }
        replica.answer(output, of: &core, now: now)
      }
    }
  }
}
