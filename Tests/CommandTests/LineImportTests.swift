import Foundation
import NavigationModel
import TestSupport
import Testing
import WireFormat

@testable import Commands

/// Lines without a header, from any source, in any order.
@Suite struct LineImportTests {
  private let stack: StackName
  private let devices = [DeviceID(high: 9, low: 1), DeviceID(high: 2, low: 2), DeviceID(high: 5, low: 3)]

  init() throws { stack = try StackName("alice/main") }

  /// Events of three devices that hear of each other now and then, in the order of a log.
  private func history(_ count: Int, seed: UInt64) throws -> (lines: [String], chains: StackChains) {
    var generator = SeededGenerator(seed: seed)
    var chains = StackChains(stack: stack)
    var lines: [String] = []
    var contexts: [DeviceID: VersionVector] = [:]
    for number in 1...count {
      let device = try #require(devices.randomElement(using: &generator))
      var context = contexts[device] ?? VersionVector()
      if Int.random(in: 0..<3, using: &generator) == 0 { context.join(chains.vector) }
      context[device] = 0
      contexts[device] = context
      let event = Event(
        dot: Dot(device, chains.vector[device] + 1), context: context,
        timestamp: Timestamp(milliseconds: 1_772_357_400_000 + number, counter: 0),
        action: .push(on: nil, values: [Value(type: "String", payload: Array("\"\(number)\"".utf8))]))
      let previous = chains.digest(of: device)
      _ = try chains.append(event)
      lines.append(
        String(decoding: JSONLines.line(event, stack: stack.description, previous: previous), as: UTF8.self))
    }
    return (lines, chains)
  }

  private func write(_ lines: [String], to folder: URL, _ name: String = "x.jsonl") throws -> String {
    let url = folder.appendingPathComponent(name)
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: url)
    return url.path
  }

  private func events(of store: String) async throws -> [String] {
    try await navsync("export", stack.description, "--store", store).output.split(separator: "\n").dropFirst()
      .dropLast().map(String.init)
  }

  /// In a log's order they keep it, digests included; in any other they come into one that causality allows. However
  /// often they are there.
  @Test(arguments: [1, 2, 3]) func theOrderOfTheLinesDoesNotMatter(seed: UInt64) async throws {
    let (lines, chains) = try history(400, seed: seed)
    try await withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("ordered").path
      let file = try write(lines, to: folder)
      let dry = try await navsync("import", file, "--store", store, "--dry-run")
      #expect(
        dry.error.hasSuffix("400 events in 1 stack can be imported: 400 new, 0 there already; nothing was written\n"))
      #expect(
        try await navsync("import", file, "--store", store).error.hasSuffix("400 were new, 0 were there already\n"))
      #expect(try await events(of: store) == lines)
      #expect(
        try await navsync("import", file, "--store", store).error.hasSuffix("0 were new, 400 were there already\n"))

      var generator = SeededGenerator(seed: seed)
      let shuffled = (lines + lines.prefix(50)).shuffled(using: &generator)
      let other = folder.appendingPathComponent("shuffled").path
      let imported = try await navsync(
        "import", "-", "--store", other, input: Array(shuffled.joined(separator: "\n").utf8))
      #expect(imported.error.hasSuffix("400 events in 1 stack; 400 were new, 0 were there already\n"), "\(imported)")
      #expect(try await events(of: other).sorted() == lines.sorted())
      #expect(try await navsync("verify", "--store", other).code == .ok)
      let trailer = try await navsync("export", stack.description, "--store", other).output.split(separator: "\n").last
      for head in chains.heads { #expect(trailer?.contains("\(head.digest)") == true) }
      // Part of it is there already.
      let half = folder.appendingPathComponent("half").path
      let first = try write(Array(lines.prefix(150)), to: folder, "half.jsonl")
      #expect(try await navsync("import", first, "--store", half).code == .ok)
      let rest = try await navsync("import", "-", "--store", half, input: Array(shuffled.joined(separator: "\n").utf8))
      #expect(rest.error.hasSuffix("250 were new, 150 were there already\n"), "\(rest)")
    }
  }

  /// What can't be imported is named by its line, and nothing is written.
  @Test func badLines() async throws {
    let (lines, _) = try history(60, seed: 4)
    func places(of device: DeviceID) -> [Int] { lines.indices.filter { lines[$0].contains(#""device":"\#(device)""#) } }
    let second = places(of: devices[0])[1]
    func check(_ lines: [String], line: Int?, says: String, code: ExitCode = .damage) async throws {
      try await withTemporaryFolder { folder in
        let target = folder.appendingPathComponent("target").path
        let result = try await navsync("import", try write(lines, to: folder), "--store", target)
        #expect(result.code == code, "\(result)")
        let place = line.map { "line \($0): " } ?? ""
        #expect(result.error.contains(place + says) && result.error.hasSuffix("; nothing was imported\n"), "\(result)")
        #expect(!FileManager.default.fileExists(atPath: target))
      }
    }
    var hole = lines
    hole.remove(at: second)
    try await check(hole, line: places(of: devices[0])[2], says: "the event \(devices[0]):3 needs others")
    var lacking = lines
    lacking.removeAll { $0.contains(#""device":"\#(devices[1])""#) }
    try await check(lacking, line: nil, says: " needs others that are not in the file")
    var forged = lines
    forged[second] = forged[second].replacing(#""value":"\#(second + 1)""#, with: #""value":"0""#)
    forged[second] = forged[second].replacing(#"["\#(second + 1)"]"#, with: #"["0"]"#)
    #expect(forged[second] != lines[second])
    try await check(
      forged, line: places(of: devices[0])[2] + 1, says: "the digest before \(devices[0]):3 is another one")
    try await check(
      lines + [forged[second]], line: 61, says: "another event than in line \(second + 1) is called \(devices[0]):2")
    try await check(lines + ["{"], line: 61, says: "")
    let text = lines.map { $0.replacing("\(devices[0])", with: "phone") }
    try await check(
      text, line: text.firstIndex { $0.contains("phone") }.map { $0 + 1 }, says: "its devices are not ids")
    try await check(lines.map { $0.replacing(#","stack":"alice/main""#, with: "") }, line: nil, says: "use --stack")
    try await withTemporaryFolder { folder in
      let file = try write(lines, to: folder)
      let other = try await navsync("import", file, "--stack", "bob/main", "--store", folder.path + "/target")
      #expect(other.code == .notFound && other.error.contains("it has no events of bob/main"), "\(other)")
    }
  }

  /// Far more than is held at once comes out sorted.
  @Test func sortsMoreThanItHolds() throws {
    var generator = SeededGenerator(seed: 5)
    var sorter = try LineSorter(for: "a test", room: 1000)
    var expected: [DeviceID: [String]] = [:]
    var all: [(Dot, String)] = []
    for device in devices {
      for sequence in 1...700 {
        let text = "\(device) \(sequence) " + String(repeating: "x", count: sequence % 100)
        all.append((Dot(device, sequence), text))
        expected[device, default: []].append(text)
      }
    }
    for (number, line) in all.shuffled(using: &generator).enumerated() {
      try sorter.add(line.0, number: number, Array(line.1.utf8))
    }
    #expect(sorter.count == 2100)
    let sorted = try sorter.finish()
    #expect(sorted.count == 3)
    for (device, lines) in zip(devices.sorted(), sorted) {
      var lines = lines
      var found: [String] = []
      while let line = try lines.next() {
        #expect(line.key.dot == Dot(device, found.count + 1))
        found.append(String(decoding: line.bytes, as: UTF8.self))
      }
      #expect(found == expected[device])
    }
  }
}
