import Commands
import EventLog
import Foundation
import NavigationModel
import TestSupport
import Testing
import WireFormat

/// `navsync import` of exports: interrupted, damaged, forked.
@Suite struct ImportTests {
  /// An export of one device that goes to and fro.
  private func export(events: Int, to url: URL) throws {
    let stack = try StackName("alice/long")
    let device = DeviceID(high: 1, low: 2)
    var chains = StackChains(stack: stack)
    var text = ExportHeader(
      stack: stack.description, policy: "merge", devices: [.init(id: device.description, name: "phone")]
    ).bytes
    text.append(10)
    let title = String(repeating: "a page of a long book ", count: 30)
    for sequence in 1...events {
      let value = Value(type: "Page", payload: Array(#"{"number":\#(sequence),"title":"\#(title)"}"#.utf8))
      let action: Action =
        sequence % 2 == 1 ? .push(on: nil, values: [value]) : .pop(entries: [EntryID(Dot(device, sequence - 1), 0)])
      let event = Event(
        dot: Dot(device, sequence), context: VersionVector(),
        timestamp: Timestamp(milliseconds: 1_772_357_400_000 + sequence, counter: 0), action: action)
      let previous = chains.digest(of: device)
      _ = try chains.append(event)
      text += JSONLines.line(event, stack: stack.description, previous: previous)
      text.append(10)
    }
    let head = ExportTrailer.Head(
      device: device.description, sequence: events, digest: chains.digest(of: device))
    text += ExportTrailer(count: events, heads: [head]).bytes + [10]
    try Data(text).write(to: url)
  }

  /// Killed in the middle and started again, it goes on, and what comes out is what went in, digests included.
  @Test(arguments: ["jsonl", "binary", "lines"]) func aKilledImportGoesOn(form: String) async throws {
    try await withPrograms { programs in
      let folder = URL(fileURLWithPath: programs.state)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let total = 2500
      let text = folder.appendingPathComponent("long.jsonl")
      try export(events: total, to: text)
      let file = folder.appendingPathComponent("x.\(form)")
      if form == "lines" {
        // The devices' names stand in the header.
        let lines = try String(contentsOf: text, encoding: .utf8).split(separator: "\n").dropFirst().dropLast()
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
      } else {
        let source = folder.appendingPathComponent("source").path
        #expect(try programs.navsync("import", text.path, "--store", source).code == 0)
        #expect(
          try programs.navsync("export", "alice/long", "--store", source, "--format", form, "-o", file.path).code == 0)
      }
      let store = folder.appendingPathComponent("store").path
      let stack = try StackName("alice/long")
      func head() -> Int { ((try? SQLiteLog.openReader(at: store).info(of: stack)) ?? nil)?.head ?? 0 }
      let importing = try programs.start("import", file.path, "--store", store)
      while head() == 0, importing.process.isRunning {}
      kill(importing.process.processIdentifier, SIGKILL)
      #expect(importing.waitForEnd() == -SIGKILL)
      let kept = head()
      #expect(kept > 0 && kept < total, "\(kept)")
      let dry = try programs.navsync("import", file.path, "--store", store, "--dry-run")
      #expect(
        dry.error.hasSuffix("can be imported: \(total - kept) new, \(kept) there already; nothing was written\n"),
        "\(dry)")
      #expect(head() == kept)
      #expect(try programs.navsync("verify", "--store", store).code == 0)
      let again = try programs.navsync("import", file.path, "--store", store)
      #expect(again.error.hasSuffix("\(total - kept) were new, \(kept) were there already\n"), "\(again)")
      let exported = try programs.navsync("export", "alice/long", "--store", store).output
      let expected = try String(contentsOf: text, encoding: .utf8)
      #expect(exported.split(separator: "\n").dropFirst() == expected.split(separator: "\n").dropFirst())
      #expect(form == "lines" || exported == expected)
    }
  }

  /// A store with a device that acted twice under one id, as two daemons made it.
  private func withForkedStore(_ body: (Programs, _ store: String) throws -> Void) async throws {
    try await withTwoPrograms { home, laptop in
      let homeDaemon = try home.startDaemon()
      #expect(try home.navsync("push", "alice/main", "list", "--device", "phone", "--sync").code == 0)
      let first = try laptop.startDaemon(peers: [home.endpoint])
      let mirrored = try laptop.start("log", "alice/main", "--follow")
      try mirrored.wait(for: "push list")
      try stop(first)
      let second = try laptop.startDaemon()
      try FileManager.default.createDirectory(
        atPath: laptop.state + "/navsync/devices", withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: home.state + "/navsync/devices/phone", toPath: laptop.state + "/navsync/devices/phone")
      #expect(try home.navsync("push", "alice/main", "here", "--device", "phone", "--sync").code == 0)
      #expect(try laptop.navsync("push", "alice/main", "there", "--device", "phone", "--sync").code == 0)
      try stop(second)
      let third = try laptop.startDaemon(peers: [home.endpoint])
      try mirrored.wait(for: "-  now  list › here\n")
      try body(laptop, laptop.state + "/navsync/daemon")
      try stop(third)
      try stop(homeDaemon)
    }
  }

  private func stop(_ process: Process) throws {
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
  }

  /// Both histories come through either form, and through a daemon, as they are.
  @Test func aForkedStackComesThrough() async throws {
    try await withForkedStore { programs, store in
      func act(_ words: String...) throws -> Programs.Result {
        let result = try programs.navsync(words)
        #expect(result.code == 0, "\(words): \(result.error)")
        return result
      }
      let folder = URL(fileURLWithPath: programs.state)
      let text = try act("export", "alice/main", "--store", store).output
      #expect(text.contains(#""format":2"#) && text.contains(#"{"fork":{"chain":"666f726b"#), "\(text)")
      let file = folder.appendingPathComponent("forked.jsonl").path
      let binary = folder.appendingPathComponent("forked.navsync").path
      _ = try act("export", "alice/main", "--store", store, "-o", file)
      _ = try act("export", "alice/main", "--store", store, "--format", "binary", "-o", binary)
      let shown = try act("show", "alice/main", "--store", store, "--json").output
      #expect(shown.contains(#"{"fork":""#))
      for source in [file, binary, store] {
        let target = folder.appendingPathComponent(UUID().uuidString).path
        #expect(try act("import", source, "--store", target).error.contains("0 were there already"))
        #expect(try act("export", "alice/main", "--store", target).output == text)
        #expect(try act("show", "alice/main", "--store", target, "--json").output == shown)
        #expect(try act("import", source, "--store", target).error.contains("; 0 were new"))
        let verified = try act("verify", "--store", target).output
        #expect(verified.contains("acted twice under one id") && verified.contains("2 histories"), "\(verified)")
        #expect(verified.hasSuffix("whole\n"))
      }
      for source in [file, binary] {
        #expect(try act("verify", source).output.contains("2 histories, all whole"))
        let log = try act("log", source).output
        #expect(log.contains("another history under this device's id: not folded"), "\(log)")
        let conflicts = try act("conflicts", source).output
        #expect(conflicts.contains("push here") && conflicts.contains("push there  (not folded)"), "\(conflicts)")
        #expect(try act("fold", source).output.contains("fork: two events are called"))
      }
    }
  }

  @Test func aForkedStackThroughADaemon() async throws {
    try await withForkedStore { programs, store in
      let text = try programs.navsync("export", "alice/main", "--store", store).output
      try intoAnotherDaemon(text, programs)
    }
  }

  /// Into an empty daemon and out of it again.
  private func intoAnotherDaemon(_ text: String, _ programs: Programs) throws {
    let folder = URL(fileURLWithPath: programs.state)
    let file = folder.appendingPathComponent("x.jsonl").path
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    let other = try programs.beside("other")
    _ = try other.startDaemon()
    let imported = try other.navsync("import", file)
    #expect(imported.code == 0, "\(imported.error)")
    // But for the names of devices, which a daemon learns from the devices.
    func lines(_ text: String) -> [Substring] { Array(text.split(separator: "\n").dropFirst()) }
    #expect(lines(try other.navsync("export", "alice/main").output) == lines(text))
    #expect(try other.navsync("import", file).error.contains("; 0 were new"))
    #expect(try other.navsync("log", "alice/main").output.contains("another history under this device's id"))
  }

  /// What is wrong is said with its line, what is before it can be read, and nothing is written.
  @Test func badFiles() async throws {
    try await withTemporaryFolder { folder in
      let good = folder.appendingPathComponent("good.jsonl")
      try export(events: 6, to: good)
      let lines = try String(contentsOf: good, encoding: .utf8).split(separator: "\n").map(String.init)
      func check(_ name: String, _ lines: [String], line: Int, says: String, good: Int) async throws {
        let file = folder.appendingPathComponent(name + ".jsonl").path
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: file))
        let target = folder.appendingPathComponent(name).path
        let imported = try await navsync("import", file, "--store", target)
        #expect(imported.code == .damage, "\(name): \(imported.error)")
        for part in ["line \(line)", says, "nothing was imported"] {
          #expect(imported.error.contains(part), "\(name): \(imported.error)")
        }
        #expect(!FileManager.default.fileExists(atPath: target))
        let log = try await navsync("log", file)
        #expect(log.code == .damage && log.error.contains("line \(line)"), "\(name): \(log.error)")
        #expect(log.output.split(separator: "\n").count == good, "\(name): \(log.output)")
        let verified = try await navsync("verify", file)
        #expect(verified.code == .damage && verified.output.contains("line \(line)"), "\(verified.output)")
      }
      try await check("cut", Array(lines.dropLast(2)), line: 6, says: "it was cut", good: 5)
      try await check("hole", Array(lines[..<3] + lines[4...]), line: 4, says: "events are lacking before it", good: 2)
      var forged = lines
      forged[3] = forged[3].replacingOccurrences(of: #""number":3"#, with: #""number":4"#)
      try await check("forged", forged, line: 5, says: "is forged", good: 3)
      var torn = lines
      torn[4] = String(torn[4].prefix(30))
      try await check("torn", torn, line: 5, says: "line 5", good: 3)
      var trailer = lines
      trailer[7] = trailer[7].replacingOccurrences(of: #""count":6"#, with: #""count":7"#)
      try await check("trailer", trailer, line: 8, says: "counts 7 events, but 6 are there", good: 6)
      // Another format, and a newer version.
      let foreign = folder.appendingPathComponent("foreign").path
      try Data("id,name\n1,list\n".utf8).write(to: URL(fileURLWithPath: foreign))
      let refused = try await navsync("import", foreign, "--store", folder.appendingPathComponent("f").path)
      #expect(refused.code == .damage && refused.error.contains("line 1"), "\(refused.error)")
      #expect(refused.error.contains("neither an export nor JSON lines"), "\(refused.error)")
      let newer = folder.appendingPathComponent("newer").path
      try Data((lines.joined(separator: "\n").replacing(#""format":1"#, with: #""format":9"#)).utf8)
        .write(to: URL(fileURLWithPath: newer))
      let later = try await navsync("import", newer, "--store", folder.appendingPathComponent("n").path)
      #expect(later.code == .refused && later.error.contains("format 9"), "\(later.error)")
    }
  }

  /// The standard input, a pipe that can't be read twice, is checked before anything is written, too.
  @Test func fromTheStandardInput() async throws {
    try await withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("x.jsonl")
      try export(events: 5, to: file)
      let bytes = try [UInt8](Data(contentsOf: file))
      let store = folder.appendingPathComponent("store").path
      #expect(try await navsync("import", "-", "--store", store, input: Array(bytes.dropLast(20))).code == .damage)
      #expect(!FileManager.default.fileExists(atPath: store))
      #expect(try await navsync("import", "-", "--store", store, input: bytes).code == .ok)
      #expect(
        try await navsync("export", "alice/long", "--store", store).output == String(decoding: bytes, as: UTF8.self))
    }
  }

  /// Another history under an id that the store has: nothing is taken, and the event is named.
  @Test func anotherHistoryIsRefused() async throws {
    try await withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("x.jsonl")
      try export(events: 5, to: file)
      let store = folder.appendingPathComponent("store").path
      #expect(try await navsync("import", file.path, "--store", store).code == .ok)
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
      // Lines without digests, the third another.
      let other = lines[1...5].map { line in
        line.replacing(/"previous":"[0-9a-f]*",/, with: "").replacing(#""number":3"#, with: #""number":33"#)
      }
      let result = try await navsync(
        "import", "-", "--store", store, input: Array(other.joined(separator: "\n").utf8))
      #expect(result.code == .refused && result.error.contains("another event called"), "\(result.error)")
      #expect(result.error.contains(":3; nothing was imported"), "\(result.error)")
      // Part of what is there is no other history.
      let part = try await navsync(
        "import", "-", "--store", store, input: Array(lines[1...3].joined(separator: "\n").utf8))
      #expect(part.error.hasSuffix("3 events in 1 stack; 0 were new, 3 were there already\n"), "\(part.error)")
    }
  }

  /// Small events, so that what stands around them counts: a batch of them fits into a message, and a daemon serves the
  /// store. One that has larger batches, too.
  @Test func aDaemonServesWhatWasImported() async throws {
    try await withPrograms { programs in
      let stack = try StackName("alice/small")
      let device = DeviceID(high: 1, low: 2)
      var chains = StackChains(stack: stack)
      var records: [(dot: Dot, bytes: [UInt8])] = []
      var lines: [UInt8] = []
      for sequence in 1...12_000 {
        let event = Event(
          dot: Dot(device, sequence), context: VersionVector(),
          timestamp: Timestamp(milliseconds: 1_772_357_400_000 + sequence, counter: 0),
          action: .set(keep: [], values: [Value(type: "String", payload: Array("\"a page of a book\"".utf8))]))
        records.append((event.dot, try chains.append(event)))
        lines += JSONLines.line(event, stack: stack.description, previous: nil) + [10]
      }
      let folder = programs.state + "/navsync"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try Data(lines).write(to: URL(fileURLWithPath: folder + "/x.jsonl"))
      #expect(try programs.navsync("import", folder + "/x.jsonl", "--store", folder + "/daemon").code == 0)
      for batch in try SQLiteLog.openReader(at: folder + "/daemon").read(stack, after: 0, maximumBytes: .max) {
        #expect(batch.batch.bytes.count <= Limits().message - 1024)
      }
      let large = EventBatch(records)
      #expect(large.bytes.count > Message.maximumSize)
      let other = try programs.beside("other")
      try FileManager.default.createDirectory(
        atPath: other.state + "/navsync", withIntermediateDirectories: true)
      let log = try SQLiteLog.open(at: other.state + "/navsync/daemon", program: "a test")
      let head = StoredHead(device: device, sequence: 12_000, digest: chains.digest(of: device))
      _ = try log.append([
        LogAppend(stack: stack, policy: .merge, batch: large, heads: [head], newestTime: 1_772_357_460_000)
      ])
      try log.close()
      for home in [programs, other] {
        _ = try home.startDaemon()
        let shown = try home.navsync("show", "alice/small")
        #expect(shown.output.hasPrefix("alice/small  merge, 12000 events\n"), "\(shown)")
        // With the authors' states, too.
        #expect(try home.navsync("sync", "alice/small", "--device", "phone").code == 0)
        #expect(try home.navsync("show", "alice/small", "--at", "6000").code == 0)
      }
    }
  }
}
