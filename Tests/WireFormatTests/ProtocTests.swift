import Foundation
import NavigationModel
import TestSupport
import Testing

@testable import WireFormat

/// The messages against Google's implementation, by its `protoc`, over the schema in `proto/`.
@Suite struct ProtocTests {
  private static let proto = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../proto").standardizedFileURL

  /// What Google reads of our bytes, it writes as the same bytes: field numbers, types and order agree, for every kind
  /// of message and all of its fields.
  @Test func googleReadsAndWritesWhatWeWrite() async throws {
    var generator = Generator(seed: 17)
    var messages: [Message] = []
    for kind in 0..<Generator.messageKinds { for _ in 0..<30 { messages.append(generator.message(kind)) } }
    try await withTemporaryFolder { folder in
      // Field 1 of a message that holds many, so that one call does for all.
      var bytes: [UInt8] = []
      for message in messages {
        let encoded = message.encoded()
        bytes.append(0x0A)
        bytes.append(number: encoded.count)
        bytes += encoded
      }
      let text = try protoc("--decode", Data(bytes), in: folder)
      let written = try protoc("--encode", text, in: folder)
      #expect([UInt8](written) == bytes)
      // Nothing of ours is unknown to the schema: unknown fields are printed by number.
      #expect(
        !String(decoding: text, as: UTF8.self).split(separator: "\n").contains { line in
          line.trimmingPrefix(while: \.isWhitespace).first?.isNumber == true
        })
    }
  }

  /// What Google writes under the schema's names, we read under ours.
  @Test func weReadWhatGoogleWrites() async throws {
    try await withTemporaryFolder { folder in
      let text = Self.samples.map { "messages { \($0.text) }" }.joined(separator: "\n")
      let bytes = [UInt8](try protoc("--encode", Data(text.utf8), in: folder))
      var at = 0
      for sample in Self.samples {
        #expect(bytes[at] == 0x0A)
        var reader = EventByteReader(bytes, in: at + 1..<bytes.count)
        let range = try reader.run(limit: bytes.count)
        #expect(try Message(decoding: Array(bytes[range])) == sample.message)
        at = range.upperBound
      }
      #expect(at == bytes.count)
      #expect(Set(Self.samples.map { $0.text.prefix { $0 != " " } }).count == Generator.messageKinds)
    }
  }

  private func protoc(_ mode: String, _ input: Data, in folder: URL) throws -> Data {
    try """
    syntax = "proto3";
    package test;
    import "navsync/v1/sync.proto";
    message Many { repeated navsync.v1.Envelope messages = 1; }
    """.write(to: folder.appending(path: "many.proto"), atomically: true, encoding: .utf8)
    let source = folder.appending(path: "input")
    try input.write(to: source)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["protoc", "-I\(Self.proto.path())", "-I\(folder.path())", "\(mode)=test.Many", "many.proto"]
    process.standardInput = try FileHandle(forReadingFrom: source)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let result = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "protoc \(mode) failed; it is in Debian's protobuf-compiler")
    return result
  }

  private static let idText = #""\000\000\000\000\000\000\000\001\000\000\000\000\000\000\000\002""#
  private static let id = DeviceID(high: 1, low: 2)
  private static let digest = Digest(high: 1, low: 2)
  private static let head = #"{ device: \#(idText) sequence: 300 digest: \#(idText) }"#

  private static let samples: [(text: String, message: Message)] = [
    (
      #"hello { protocol_version: 1 device: \#(idText) name: "tablet" software: "navsync 1" }"#,
      .hello(Hello(device: id, name: "tablet", software: "navsync 1"))
    ),
    (
      #"""
      welcome { daemon: \#(idText) epoch: 18446744073709551615 server_time: 1700000000000
      limits { message: 262144 event: 131072 value: 65536 events_an_append: 512 devices_a_stack: 4096 follows: 16384
      credit: 1048576 } feed_endpoint: "ipc://x" software: "navsyncd" }
      """#,
      .welcome(
        Welcome(
          daemon: id, epoch: .max, serverTime: 1_700_000_000_000, feedEndpoint: "ipc://x", software: "navsyncd"))
    ),
    (
      #"refused { about: SUBJECT_APPEND stack: "a/b" code: REFUSAL_CODE_BUSY reason: "later" }"#,
      .refused(Refused(about: .append, stack: "a/b", code: .busy, reason: "later"))
    ),
    (
      #"follow { stack: "a/b" policy: "latest" have \#(head) wants_author_states: true }"#,
      .follow(
        Follow(
          stack: "a/b", policy: .latest, start: .vector([DeviceHead(device: id, sequence: 300, digest: digest)]),
          wantsAuthorStates: true))
    ),
    (
      #"follow { stack: "a/b" policy: "merge" policy_milliseconds: -5 policy_counter: 6 }"#,
      .follow(
        Follow(stack: "a/b", policy: .merge, policySince: Timestamp(milliseconds: -5, counter: 6)))
    ),
    (
      #"following { stack: "a/b" policy: "merge" policy_milliseconds: 5 policy_counter: -6 }"#,
      .following(
        Following(
          stack: "a/b", exists: false, policy: .merge, head: 0, heads: [],
          policySince: Timestamp(milliseconds: 5, counter: -6)))
    ),
    (
      #"follow { stack: "a/b" offset: 7 epoch: 0 }"#, .follow(Follow(stack: "a/b", start: .offset(7, epoch: 0)))
    ),
    (
      #"following { stack: "a/b" exists: true policy: "lead:\#(id)" head: 9 heads \#(head) }"#,
      .following(
        Following(
          stack: "a/b", exists: true, policy: .lead(id), head: 9,
          heads: [DeviceHead(device: id, sequence: 300, digest: digest)]))
    ),
    (
      #"""
      events { stack: "a/b" epoch: 5 previous_offset: 8 first_offset: 9 batch: "\001\377" author_states {
      device: \#(idText) sequence: 4 milliseconds: -5 counter: 6
      context { device: "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\003" sequence: 2 }
      table: "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\003" top_sequence: 4 top_index: 1 } }
      """#,
      .events(
        EventsMessage(
          stack: "a/b", epoch: 5, previousOffset: 8, firstOffset: 9, batch: [1, 255], authorStates: [authorState]))
    ),
    (#"live { stack: "a/b" offset: 9 }"#, .live(Live(stack: "a/b", offset: 9))),
    (#"unfollow { stack: "a/b" }"#, .unfollow(Unfollow(stack: "a/b"))),
    (
      #"""
      append { stack: "a/b" policy: "merge" device: \#(idText) first_sequence: 3 previous: \#(idText)
      events: "\003" events: "" }
      """#,
      .append(
        Append(
          stack: "a/b", policy: .merge, device: id, firstSequence: 3, previous: digest, events: [[3], []]))
    ),
    (
      #"accepted { stack: "a/b" device: \#(idText) through_sequence: 5 offset: 6 }"#,
      .accepted(Accepted(stack: "a/b", device: id, throughSequence: 5, offset: 6))
    ),
    (
      #"""
      rejected { stack: "a/b" device: \#(idText) sequence: 5 code: REFUSAL_CODE_MISSING_CONTEXT detail: "d"
      expected_sequence: 4 missing { device: \#(idText) sequence: 8 } server_time: 99 }
      """#,
      .rejected(
        Rejected(
          stack: "a/b", dot: Dot(id, 5), code: .missingContext, detail: "d", expectedSequence: 4, missing: [id: 8],
          serverTime: 99))
    ),
    ("credit { bytes: 1048576 }", .credit(Credit(bytes: 1 << 20))),
    (
      #"ping { heads { stack: "a/b" offset: 1 } heads { stack: "a/c" } }"#,
      .ping(Ping(heads: [StackHead(stack: "a/b", offset: 1), StackHead(stack: "a/c", offset: 0)]))
    ),
    (
      #"pong { server_time: 5 heads { stack: "a/b" offset: 1 } }"#,
      .pong(Pong(serverTime: 5, heads: [StackHead(stack: "a/b", offset: 1)]))
    ),
    (
      #"""
      presence { stack: "a/b" device: \#(idText) name: "phone" state: STATE_AWAY
      top { device: \#(idText) sequence: 4 index: 1 } }
      """#,
      .presence(
        Presence(stack: "a/b", device: id, name: "phone", state: .away, top: EntryID(Dot(id, 4), 1)))
    ),
    (#"list { space: "a" }"#, .list(List(space: "a"))),
    (#"list { devices_only: true }"#, .list(List(devicesOnly: true))),
    (#"list { follow: true }"#, .list(List(follows: true))),
    (
      #"""
      listing { stacks { stack: "a/b" policy: "merge" head: 1 devices: 2 last_stored: 3 }
      devices { device: \#(idText) name: "phone" connected: true last_seen: 4 } last: true }
      """#,
      .listing(
        Listing(
          stacks: [.init(stack: "a/b", policy: .merge, head: 1, devices: 2, lastStored: 3)],
          devices: [.init(device: id, name: "phone", connected: true, lastSeen: 4)], last: true))
    ),
    ("status_request { }", .statusRequest(StatusRequest())),
    (#"pair { secret: "\001\002" name: "phone" }"#, .pair(Pair(secret: [1, 2], name: "phone"))),
    (
      #"paired { name: "phone" space: "*" may: "read,act" }"#,
      .paired(Paired(name: "phone", space: "*", may: "read,act"))
    ),
    (
      #"""
      status_report { software: "s" daemon: \#(idText) epoch: 1 started_at: 2 store: "memory" endpoints: "ipc://x"
      endpoints: "" counters { name: "events_accepted" value: 3 } }
      """#,
      .statusReport(
        StatusReport(
          software: "s", daemon: id, epoch: 1, startedAt: 2, store: "memory", endpoints: ["ipc://x", ""],
          counters: [.init(name: "events_accepted", value: 3)]))
    ),
    (
      #"""
      status_report { daemon: \#(idText) peers { endpoint: "tcp://x" daemon: \#(idText) connected: true since: 4 stacks: 5
      behind: 6 ahead: 7 forked: 8 held_back: 9 problem: "p" } peers { endpoint: "y" } }
      """#,
      .statusReport(
        StatusReport(
          software: "", daemon: id, epoch: 0, startedAt: 0, store: "", endpoints: [], counters: [], peers: peers))
    ),
    (
      #"range { stack: "a/b" epoch: 5 from: 2 to: 9007199254740991 }"#,
      .range(RangeRequest(stack: "a/b", epoch: 5, from: 2, to: Dot.maximumSequence))
    ),
  ]

  private static var peers: [StatusReport.Peer] {
    var peer = StatusReport.Peer(endpoint: "tcp://x", daemon: id, connected: true, since: 4)
    peer.stacks = 5
    peer.behind = 6
    peer.ahead = 7
    peer.forked = 8
    peer.heldBack = 9
    peer.problem = "p"
    return [peer, StatusReport.Peer(endpoint: "y", connected: false, since: 0)]
  }

  private static var authorState: AuthorState {
    let other = DeviceID(high: 0, low: 3)
    var state = AuthorState(device: id)
    state.sequence = 4
    state.timestamp = Timestamp(milliseconds: -5, counter: 6)
    state.context = [other: 2]
    state.table = [id, other]
    state.top = EntryID(Dot(id, 4), 1)
    return state
  }
}
