package import ArgumentParsing
import EventLog
import Foundation
import KeyFiles
import NavigationModel
import WireFormat

/// `navsync ls`.
package struct ListStacks: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "ls", abstract: "List stacks.",
    examples: [
      CommandExample("navsync ls", "All stacks."),
      CommandExample("navsync ls alice", "Those of a space."),
    ])

  @Argument(help: "Only the stacks of this space.") var space: String?
  @OptionGroup var source: SourceOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  private struct Row: Encodable {
    var stack: String
    var policy: String
    var events: Int
    var devices: Int
    var lastStored: String
  }

  package func run(on console: Console) async throws {
    let name: Name?
    do { name = try space.map { try Name($0.hasSuffix("/") ? $0.dropLast() : $0[...]) } } catch {
      throw CommandError(.usage, "\(error)")
    }
    var rows: [Row] = []
    var policies: [String] = []
    let source = try await self.source.open(on: console)
    switch source {
    case .daemon(let session):
      let names = try await session.deviceNames()
      for stack in try await session.list(space: name?.description ?? "").stacks {
        policies.append(policyText(stack.policy, names))
        rows.append(
          Row(
            stack: stack.stack, policy: stack.policy.description, events: stack.head, devices: stack.devices,
            lastStored: rfc3339(milliseconds: stack.lastStored)))
      }
    case .store(let reader, _):
      do {
        let names = try deviceNames(in: reader)
        for info in try reader.stacks(in: name) {
          policies.append(policyText(info.policy, names))
          rows.append(
            Row(
              stack: info.stack.description, policy: info.policy.description, events: info.head,
              devices: info.devices, lastStored: rfc3339(milliseconds: info.lastStored)))
        }
      } catch { throw commandError(error) }
    case .file, .export: break
    }
    if rows.isEmpty { console.say("there are no stacks\(name.map { " in \($0)" } ?? "") in \(source.name)") }
    if output.json { return try printJSON(rows, on: console) }
    try printTable(
      zip(rows, policies).map {
        [$0.stack, $1, counted($0.events, "event"), counted($0.devices, "device"), $0.lastStored]
      }, on: console)
  }
}

/// `navsync devices`.
package struct ListDevices: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "devices", abstract: "List the devices that the daemon knows, and whether they are connected.",
    examples: [CommandExample("navsync devices", "Names, ids and when each was last heard of.")])

  @OptionGroup var source: SourceOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  private struct Row: Encodable {
    var device: String
    var name: String
    var connected: Bool?
    var lastSeen: String?
  }

  package func run(on console: Console) async throws {
    var rows: [Row] = []
    let source = try await self.source.open(on: console)
    switch source {
    case .daemon(let session):
      rows = try await session.list().devices.map {
        Row(
          device: $0.device.description, name: $0.name, connected: $0.connected,
          lastSeen: $0.lastSeen == 0 ? nil : rfc3339(milliseconds: $0.lastSeen))
      }
    case .store(let reader, _):
      do {
        rows = try deviceNames(in: reader).all.map { Row(device: $0.key.description, name: $0.value) }
          .sorted { ($0.name, $0.device) < ($1.name, $1.device) }
      } catch { throw commandError(error) }
    case .file, .export: break
    }
    if rows.isEmpty { console.say("\(source.name) knows no devices yet") }
    if output.json { return try printJSON(rows, on: console) }
    try printTable(
      rows.map {
        let state = $0.connected.map { $0 ? "connected" : "away" } ?? ""
        return [$0.name.isEmpty ? "-" : $0.name, $0.device, state, $0.lastSeen ?? ""]
      }, on: console)
  }
}

/// `navsync status`.
package struct Status: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "status",
    abstract: "Show what the daemon is and has done: everything accepted, refused, dropped and held back.",
    examples: [
      CommandExample("navsync status", "For a person."),
      CommandExample("navsync status --json | jq .counters", "For a program."),
    ])

  @OptionGroup var daemon: DaemonOptions
  @OptionGroup var output: OutputOptions

  package init() {}

  private struct Report: Encodable {
    var software: String
    var daemon: String
    var epoch: String
    var started: String
    var store: String
    var endpoints: [String]
    var counters: [String: Int]
    var peers: [PeerRow]
    /// Whom this user trusts, which the daemon knows nothing of: a space and its mode.
    var signatures: [String: String]
  }

  private struct PeerRow: Encodable {
    var endpoint: String
    var daemon: String?
    var connected: Bool
    var since: String
    var stacks: Int
    var behind: Int
    var ahead: Int
    var forked: Int
    var heldBack: Int
    var problem: String?

    init(_ peer: StatusReport.Peer) {
      endpoint = peer.endpoint
      daemon = peer.daemon?.description
      connected = peer.connected
      since = rfc3339(milliseconds: peer.since)
      stacks = peer.stacks
      behind = peer.behind
      ahead = peer.ahead
      forked = peer.forked
      heldBack = peer.heldBack
      problem = peer.problem.isEmpty ? nil : peer.problem
    }

    var text: String {
      var words = [
        endpoint, "\(connected ? "connected" : "not connected") since \(since)", "\(stacks) stacks",
        "\(behind) events to come, \(ahead) to go",
      ]
      if forked > 0 { words.append("\(counted(forked, "stack")) with several histories under one device id") }
      if heldBack > 0 { words.append("\(heldBack) held back") }
      if let problem { words.append(problem) }
      return words.joined(separator: "; ")
    }
  }

  package func run(on console: Console) async throws {
    let trusts = try withKeyErrors { try KeyFolder.ofUser.trusts() }
    let session = try await DaemonSession.open(daemon.daemon, on: console)
    let status = try await session.status()
    let report = Report(
      software: status.software, daemon: status.daemon.description, epoch: String(status.epoch, radix: 16),
      started: rfc3339(milliseconds: status.startedAt), store: status.store, endpoints: status.endpoints,
      counters: Dictionary(status.counters.map { ($0.name, $0.value) }) { $1 }, peers: status.peers.map(PeerRow.init),
      signatures: Dictionary(trusts.map { ("\($0.space)", $0.mode.rawValue) }) { $1 })
    if output.json { return try printJSON([report], on: console) }
    try printTable(
      [
        ["daemon", report.daemon], ["software", report.software], ["store", report.store],
        ["epoch", report.epoch], ["started", report.started],
        ["endpoints", report.endpoints.joined(separator: " ")],
      ] + report.peers.map { ["peer", $0.text] } + trusts.map { ["signatures", "\($0.mode.rawValue) in \($0.space)"] }
        + status.counters.map { [$0.name.replacingOccurrences(of: "_", with: " "), "\($0.value)"] }, on: console)
  }
}

/// `navsync feed-topic`.
package struct FeedTopicCommand: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "feed-topic",
    abstract: "Print the feed's topic of a stack, or the prefix of a space's topics, as hexadecimal.",
    examples: [
      CommandExample("navsync feed-topic alice/main", "What to subscribe to for one stack."),
      CommandExample("navsync feed-topic alice/", "The prefix for all stacks of a space."),
    ])

  @Argument(help: "A stack as space/stack, or a space with a slash behind it.") var name: String

  package init() {}

  package func run(on console: Console) async throws {
    let topic: [UInt8]
    do {
      topic =
        name.hasSuffix("/") ? FeedTopic.prefix(of: try Name(name.dropLast())) : FeedTopic.topic(of: try StackName(name))
    } catch { throw CommandError(.usage, "\(error)") }
    try console.print(topic.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
  }
}

/// Objects as JSON, one a line.
func printJSON(_ rows: [some Encodable], on console: Console) throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  try console.withBufferedOutput { output in
    for row in rows { try output.write(try encoder.encode(row) + [10]) }
  }
}

/// Rows with their columns below one another.
func printTable(_ rows: [[String]], on console: Console) throws {
  var widths: [Int] = []
  for row in rows {
    for (place, cell) in row.enumerated() {
      if place == widths.count { widths.append(0) }
      widths[place] = max(widths[place], cell.count)
    }
  }
  try console.withBufferedOutput { output in
    for row in rows {
      var line = ""
      for (place, cell) in row.enumerated() {
        line += cell
        if place + 1 < row.count { line += String(repeating: " ", count: widths[place] - cell.count + 2) }
      }
      while line.last == " " { line.removeLast() }
      try output.print(line)
    }
  }
}
