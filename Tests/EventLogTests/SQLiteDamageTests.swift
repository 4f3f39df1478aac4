import Foundation
import NavigationModel
import TestSupport
import Testing
import WireFormat

@testable import EventLog

/// Files that are not as they were written. A store as a killed process leaves it is copied while it is in use.
@Suite struct SQLiteDamageTests {
  @Test func cutWriteAheadLogLosesNothingBeforeTheCut() async throws {
    try await withTemporaryFolder { folder in
      let store = try leftStore(in: folder, seed: 1)
      var random = SeededGenerator(seed: 1)
      let whole = store.writeAhead.count
      for round in 0..<40 {
        let at = round == 0 ? whole : Int.random(in: 0..<whole, using: &random)
        let path = try store.copy(named: "cut\(round)", writeAhead: Data(store.writeAhead.prefix(at)))
        let log = try SQLiteLog.open(at: path, program: "tests", create: false)
        let count = try expectPrefix(log, store)
        // What was acknowledged and is gone is an alarm; only the end of the file is cut, never damage.
        let isBehind = count < store.fixture.stored[.main]!.head
        #expect(log.report.isNewEpoch == isBehind)
        #expect((log.epoch != store.epoch) == isBehind)
        for notice in log.report.notices {
          switch notice {
          case .cutTail(let bytes): #expect(bytes > 0 && bytes < at)
          case .wentBackwards(let stack, _): #expect(isBehind && stack == "alice/main")
          case .created, .damagedInTheMiddle, .withoutHeads, .openToOthers: Issue.record("\(notice)")
          }
        }
        // It goes on from there.
        var next = store.fixture(upTo: count)
        _ = try log.append([next.append(to: .main, events: 3)])
        #expect(try verify(log).problems == [])
        try log.close()
        #expect(try SQLiteLog.open(at: path, program: "tests").report.notices == [])
      }
    }
  }

  @Test(.case(46)) func unacknowledgedTailIsCutAndReported() async throws {
    try await withTemporaryFolder { folder in
      // As if the last commit had not been acknowledged: the file of heads knows the one before.
      let store = try leftStore(in: folder, seed: 2, headsBehind: true)
      let path = try store.copy(named: "torn", writeAhead: Data(store.writeAhead.dropLast(100)))
      let log = try SQLiteLog.open(at: path, program: "tests", create: false)
      #expect(!log.report.isNewEpoch)
      guard case .cutTail(let bytes)? = log.report.notices.first else {
        Issue.record("\(log.report)")
        return
      }
      #expect(bytes > 0)
      #expect(try expectPrefix(log, store) == store.fixture.stored[.main]!.batches.last!.first - 1)
    }
  }

  @Test(.case(52)) func zerosAtTheEndAreNothing() async throws {
    try await withTemporaryFolder { folder in
      let store = try leftStore(in: folder, seed: 3)
      for count in [1, 4120, 100_000] {
        let path = try store.copy(named: "zeros\(count)", writeAhead: store.writeAhead + Data(count: count))
        let log = try SQLiteLog.open(at: path, program: "tests", create: false)
        #expect(log.report.notices == [])
        #expect(try expectPrefix(log, store) == store.fixture.stored[.main]!.head)
      }
      // Nothing but zeros: all commits are gone, and it is said.
      let path = try store.copy(named: "zeros", writeAhead: Data(count: store.writeAhead.count))
      let log = try SQLiteLog.open(at: path, program: "tests", create: false)
      #expect(log.report.isNewEpoch)
    }
  }

  @Test(.case(53)) func damageInTheMiddleIsToldApart() async throws {
    try await withTemporaryFolder { folder in
      let store = try leftStore(in: folder, seed: 4)
      var random = SeededGenerator(seed: 4)
      for round in 0..<30 {
        var bytes = store.writeAhead
        // The header, then anywhere in the first half: more than one commit follows.
        let at =
          round < 5 ? Int.random(in: 0..<32, using: &random) : Int.random(in: 32..<bytes.count / 2, using: &random)
        bytes[at] ^= 1 << UInt8.random(in: 0...7, using: &random)
        let path = try store.copy(named: "bit\(round)", writeAhead: bytes)
        let log = try SQLiteLog.open(at: path, program: "tests", create: false)
        let count = try expectPrefix(log, store)
        if count == store.fixture.stored[.main]!.head {
          // A bit that nobody reads, in the header's count of checkpoints, say.
          #expect(log.report.notices == [], "bit in byte \(at)")
          continue
        }
        #expect(log.report.isNewEpoch)
        let kept = log.report.notices.compactMap { notice -> String? in
          guard case .damagedInTheMiddle(_, let commits, let kept) = notice else { return nil }
          return commits > 1 ? kept : nil
        }
        let copy = try #require(kept.first, "bit in byte \(at): \(log.report)")
        // Nothing was deleted.
        #expect(try Data(contentsOf: URL(filePath: copy)) == bytes)
      }
    }
  }

  @Test func flippedBitsInTheDatabaseAreFound() async throws {
    try await withTemporaryFolder { folder in
      let source = folder.appendingPathComponent("source")
      var fixture = LogFixture(seed: 5)
      let log = try SQLiteLog.open(at: source.path, program: "tests")
      for _ in 0..<12 { _ = try log.append([fixture.append(to: .main, events: 20, size: 200)]) }
      try log.setFact("device", Array(repeating: 9, count: 40))
      try log.close()
      let events = fixture.stored[.main]!.events
      let file = try Data(contentsOf: source.appendingPathComponent("log.sqlite3"))
      var random = SeededGenerator(seed: 5)
      var found = 0
      for round in 0..<150 {
        var bytes = file
        let at = Int.random(in: 0..<bytes.count, using: &random)
        bytes[at] ^= 1 << UInt8.random(in: 0...7, using: &random)
        let copy = folder.appendingPathComponent("flip")
        try? FileManager.default.removeItem(at: copy)
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: false)
        try bytes.write(to: copy.appendingPathComponent("log.sqlite3"))
        // Either it is found, or everything reads as it was written.
        do {
          let reader = try SQLiteLog.openReader(at: copy.path)
          guard try verify(reader).isWhole else {
            found += 1
            continue
          }
          #expect(equal(try allEvents(reader, .main), events), "round \(round), byte \(at)")
          #expect(try reader.heads(of: .main) == fixture.stored[.main]!.heads.values.sorted { $0.device < $1.device })
          #expect(try reader.fact("device") == Array(repeating: 9, count: 40))
        } catch let error as LogError {
          #expect([.damaged, .notAStore, .newerFormat, .notFound].contains(error.code), "\(error)")
          found += 1
        }
      }
      #expect(found > 50)
    }
  }

  @Test func brokenBatchIsNamedAndWhatStandsBeforeIsRead() async throws {
    try await withTemporaryFolder { folder in
      var fixture = LogFixture(seed: 6)
      let log = try SQLiteLog.open(at: folder.path, program: "tests")
      for _ in 0..<5 { _ = try log.append([fixture.append(to: .main, events: 20, size: 200)]) }
      try log.close()
      let file = folder.appendingPathComponent("log.sqlite3")
      // In the canonical bytes of the event at offset 50, in the third batch.
      var bytes = try Data(contentsOf: file)
      let event = try #require(fixture.stored[.main]!.events[40..<60].first { $0.bytes.count > 16 })
      let place = try #require(bytes.range(of: Data(event.bytes.prefix(12))))
      bytes[place.lowerBound + 5] ^= 4
      try bytes.write(to: file)

      let reader = try SQLiteLog.openReader(at: folder.path)
      let before = try reader.read(.main, after: 0, maximumBytes: 1 << 20)
      #expect(before.count == 2)
      #expect { try reader.read(.main, after: 40, maximumBytes: 100) } throws: { error in
        guard let error = error as? LogError else { return false }
        return error.code == .damaged && error.about == "alice/main" && error.detail.contains("offset 41")
      }
      #expect(try reader.read(.main, after: 60, maximumBytes: 1 << 20).count == 2)
      let found = try verify(reader)
      #expect(found.problems.first?.stack == .main && found.problems.first?.offset == 41)
      #expect(found.events == 40)
    }
  }

  @Test func olderDatabaseUnderTheSameHeadsIsAnotherEpoch() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.appendingPathComponent("store").path
      let older = folder.appendingPathComponent("older").path
      var fixture = LogFixture(seed: 7)
      let log = try SQLiteLog.open(at: path, program: "tests")
      _ = try log.append([fixture.append(to: .main, events: 5)])
      let then = fixture
      try log.backup(to: older)
      _ = try log.append([fixture.append(to: .main, events: 5)])
      try log.close()
      try FileManager.default.removeItem(atPath: path + "/log.sqlite3")
      try FileManager.default.copyItem(atPath: older + "/log.sqlite3", toPath: path + "/log.sqlite3")
      let again = try SQLiteLog.open(at: path, program: "tests")
      #expect(again.report.notices == [.wentBackwards(stack: "alice/main", offset: 6)])
      #expect(again.report.isNewEpoch && again.epoch != log.epoch)
      #expect(equal(try allEvents(again, .main), then.stored[.main]!.events))
      // Once said it is done.
      try again.close()
      let third = try SQLiteLog.open(at: path, program: "tests")
      #expect(third.report.notices == [] && third.epoch == again.epoch)
    }
  }
}

/// A store as a killed process leaves it.
private struct LeftStore {
  let folder: URL
  let fixture: LogFixture
  let seed: UInt64
  let epoch: UInt64
  let database: Data
  let writeAhead: Data
  let heads: Data

  /// The files in a folder of their own, with another write-ahead log.
  func copy(named name: String, writeAhead: Data) throws -> String {
    let copy = folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: copy, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    try database.write(to: copy.appendingPathComponent("log.sqlite3"))
    try writeAhead.write(to: copy.appendingPathComponent("log.sqlite3-wal"))
    try heads.write(to: copy.appendingPathComponent("heads"))
    return copy.path
  }

  /// What it held when it had that many events.
  func fixture(upTo count: Int) -> LogFixture {
    var result = LogFixture(seed: seed)
    while result.stored[.main]?.head ?? 0 < count { _ = result.nextLeft() }
    return result
  }
}

extension LogFixture {
  fileprivate mutating func nextLeft() -> LogAppend {
    append(to: .main, events: Int.random(in: 1...30, using: &random), size: 150)
  }
}

private func leftStore(in folder: URL, seed: UInt64, headsBehind: Bool = false) throws -> LeftStore {
  let source = folder.appendingPathComponent("source")
  func file(_ name: String) throws -> Data { try Data(contentsOf: source.appendingPathComponent(name)) }
  var fixture = LogFixture(seed: seed)
  let log = try SQLiteLog.open(at: source.path, program: "tests")
  for _ in 0..<24 { _ = try log.append([fixture.nextLeft()]) }
  // What the next second would bring.
  try log.bearWitness()
  let before = try file("heads")
  _ = try log.append([fixture.nextLeft()])
  try log.bearWitness()
  // Without the room that it may have been given.
  let whole = try WriteAheadFile.examine(source.appendingPathComponent("log.sqlite3-wal").path).wholeBytes
  return LeftStore(
    folder: folder, fixture: fixture, seed: seed, epoch: log.epoch, database: try file("log.sqlite3"),
    writeAhead: try file("log.sqlite3-wal").prefix(whole), heads: headsBehind ? before : try file("heads"))
}

/// Expects whole batches from the first on, nothing else; returns the number of events.
private func expectPrefix(_ log: any EventLogReader, _ store: LeftStore) throws -> Int {
  let events = try allEvents(log, .main)
  let stored = store.fixture.stored[.main]!
  #expect(equal(events, stored.events.prefix(events.count)))
  #expect(events.isEmpty || stored.batches.contains { $0.first + $0.count - 1 == events.count })
  return events.count
}
