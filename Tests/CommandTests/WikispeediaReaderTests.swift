import Commands
import Foundation
import NavigationModel
import TestSupport
import Testing

@Suite struct WikispeediaReaderTests {
  typealias Session = WikispeediaReader.Session

  func sessions(_ text: String) async throws -> [Session] {
    var result: [Session] = []
    _ = try await withCapturedConsole(input: Array(text.utf8)) { console, _ in
      var reader = WikispeediaReader(try LineReader(path: "-", on: console))
      while let session = try reader.next() { result.append(session) }
      return .ok
    }
    return result
  }

  func article(_ name: String) -> Value { Value(type: "Article", payload: Array("\"\(name)\"".utf8)) }

  @Test func aSessionIsADevicesChain() async throws {
    let session = try #require(try await sessions("7\t1000\t10\tApe;Brain%22s;<;Tree\n").first)
    let device = session.device
    func entry(_ sequence: Int) -> EntryID { EntryID(Dot(device, sequence), 0) }
    #expect(session.stack.description == "wikispeedia/person-7")
    #expect(session.deviceName == "session-1000")
    #expect(
      session.events.map(\.action) == [
        .push(on: nil, values: [article("Ape")]), .push(on: entry(1), values: [article("Brain\\\"s")]),
        .pop(entries: [entry(2)]), .push(on: entry(1), values: [article("Tree")]),
      ])
    #expect(session.events.map(\.timestamp.milliseconds) == [1_002_500, 1_005_000, 1_007_500, 1_010_000])
    #expect(session.events.map(\.dot.sequence) == [1, 2, 3, 4])
    #expect(session.events.allSatisfy { $0.context.isEmpty && $0.timestamp.counter == 0 })
  }

  /// `printf '7\t1000\t1' | b2sum -l 128`
  @Test func deviceIDsAreDigestsOfPersonStartAndPlace() async throws {
    let read = try await sessions("7\t1000\t10\tA\n7\t1000\t10\tB\n8\t1000\t10\tA\n")
    #expect(read[0].device.description == "a3b403fa5288f238f5b2b403f70dc3a1")
    #expect(read[1].device.description == "f91899058c08be57c85f8558c6a6e496")
    #expect(read[1].deviceName == "session-1000-2")
    #expect(read[2].device.description == "adf162da35fe7f30773afc2429c67202")
    #expect(read[2].stack.description == "wikispeedia/person-8")
  }

  @Test func aLaterSessionHoldsTheEarlierOnesAndBeginsAtTheRoot() async throws {
    let read = try await sessions("7\t1000\t10\tA;B\n7\t1011\t10\tC\n8\t1011\t1\tD\n7\t2000\t5\tE\n")
    #expect(read[1].events.map(\.action) == [.popToRoot, .push(on: nil, values: [article("C")])])
    #expect(read[1].events.map(\.timestamp.milliseconds) == [1_011_000, 1_021_000])
    #expect(read[1].events.allSatisfy { $0.context == [read[0].device: 2] })
    #expect(read[2].events.allSatisfy { $0.context.isEmpty })
    #expect(read[3].events[0].context == [read[0].device: 2, read[1].device: 2])
  }

  @Test func overlappingSessionsAreConcurrent() async throws {
    let read = try await sessions("7\t1000\t10\tA\n7\t1005\t1\tB\n7\t1010\t10\tC\n7\t1011\t1\tD\n")
    #expect(read[1].events[0].context.isEmpty)
    // One that begins in the second in which another ends doesn't hold it.
    #expect(read[2].events[0].context == [read[1].device: 1])
    #expect(read[3].events[0].context == [read[0].device: 1, read[1].device: 1])
  }

  @Test func backClicksAtTheSessionsOwnRootAreLeftOut() async throws {
    let read = try await sessions("7\t1000\t10\t<;A;<;<\n7\t2000\t4\t<;<\n7\t3000\t1\t<;A\n9\t1\t1\t<\n9\t5\t1\tB\n")
    #expect(read.map(\.skippedBacks) == [2, 2, 1, 1, 0])
    #expect(read.map(\.events.count) == [2, 1, 2, 0, 1])
    #expect(read[2].events[0].context == [read[0].device: 2, read[1].device: 1])
    #expect(read[4].events[0].context.isEmpty)
  }

  @Test func keysGrowEvenWhereTimeStandsStill() async throws {
    let read = try await sessions("7\t1000\t0\tA;B;C\n7\t1001\t0\tD;<\n")
    #expect(read[0].events.map(\.timestamp.counter) == [0, 1, 2])
    #expect(read[1].events.map(\.timestamp.counter) == [0, 1, 2])
  }

  @Test(arguments: [
    ("7\t1000\t10\n", "columns"), ("7\t1000\t10\tA\tB\n", "columns"), ("x\t1000\t10\tA\n", "person"),
    ("-1\t1000\t10\tA\n", "person"), ("7\t1e3\t10\tA\n", "start"), ("7\t99999999999999\t10\tA\n", "start"),
    ("7\t1000\t-1\tA\n", "duration"), ("7\t1000\t10\t\n", "path is empty"), ("7\t1000\t10\tA;;B\n", "step ''"),
    ("7\t1000\t10\tA%GG\n", "A%GG"), ("7\t1000\t10\tA%ff\n", "A%ff"), ("\n", "columns"),
    ("7\t999\t10\tA\n", "sort the lines"),
  ])
  func wrongLinesAreNamed(line: String, part: String) async throws {
    do {
      _ = try await sessions("7\t1000\t10\tA\n" + line)
      Issue.record("no error")
    } catch let error as CommandError {
      #expect(error.code == .damage)
      #expect(error.message.hasPrefix("the standard input, line 2: "))
      #expect(error.message.contains(part))
    }
  }

  @Test func theExcerptIsReadWhole() async throws {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../deploy/data/wikispeedia-excerpt.tsv.gz").path
    var counts: [String: Int] = [:]
    var people: Set<StackName> = []
    var devices: Set<DeviceID> = []
    var chains: [StackName: VersionVector] = [:]
    var keys: [Dot: EventKey] = [:]
    _ = try await withCapturedConsole { console, _ in
      var reader = WikispeediaReader(try LineReader(path: path, on: console))
      while let session = try reader.next() {
        people.insert(session.stack)
        devices.insert(session.device)
        counts["skipped", default: 0] += session.skippedBacks
        for event in session.events {
          var past = event.context
          past[session.device] = event.dot.sequence - 1
          // Causal order, and a key above all that the author held.
          #expect(chains[session.stack, default: VersionVector()].covers(past))
          for element in past.elements {
            #expect(try #require(keys[Dot(element.device, element.sequence)]) < event.key)
          }
          chains[session.stack, default: VersionVector()][session.device] = event.dot.sequence
          keys[event.dot] = event.key
          switch event.action {
          case .push: counts["push", default: 0] += 1
          case .pop: counts["pop", default: 0] += 1
          case .popToRoot: counts["root", default: 0] += 1
          case .set, .replace: Issue.record("no such action is in the data")
          }
        }
      }
      return .ok
    }
    #expect(people.count == 1059)
    #expect(devices.count == 2000)
    #expect(counts == ["push": 9279, "pop": 965, "root": 876, "skipped": 0])
  }
}
