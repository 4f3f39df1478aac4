import Foundation
import TestSupport
import Testing

@testable import EventLog

/// A write-ahead log that was given its room.
@Suite struct RoomTests {
  @Test("A log that stays in use gets room for its commits, once, and goes on in it through checkpoints and a kill")
  func room() async throws {
    try await withTemporaryFolder { folder in
      let source = folder.appendingPathComponent("source")
      func size() throws -> Int {
        try Data(contentsOf: source.appendingPathComponent("log.sqlite3-wal")).count
      }
      var fixture = LogFixture(seed: 7)
      let log = try SQLiteLog.open(at: source.path, program: "tests")
      while log.writeAheadBytes < Upkeep.pagesBeforeGrowth * 4096 {
        _ = try log.append([fixture.append(to: .main, events: 1)])
      }
      // More commits while it grows: none may be written over.
      while try size() < Upkeep.checkpointPages * 4096 { _ = try log.append([fixture.append(to: .main, events: 1)]) }
      let grown = try size()
      // As a killed process leaves it.
      let copy = folder.appendingPathComponent("copy")
      try FileManager.default.copyItem(at: source, to: copy)
      let again = try SQLiteLog.open(at: copy.path, program: "tests", create: false)
      #expect(again.report.notices == [])
      #expect(equal(try allEvents(again, .main), fixture.stored[.main]!.events[...]))
      try again.close()

      // Through several lives of the file: it is never longer than it was made, and never made anew.
      for _ in 0..<3 * Upkeep.checkpointPages / 3 {
        _ = try log.append([fixture.append(to: .main, events: 1)])
        #expect(log.writeAheadBytes <= Upkeep.maximumPages * 4096 + (1 << 16))
      }
      #expect(try size() >= grown)
      #expect(try verify(log).problems == [])
      #expect(equal(try allEvents(log, .main), fixture.stored[.main]!.events[...]))
      try log.close()
      #expect(!FileManager.default.fileExists(atPath: source.appendingPathComponent("log.sqlite3-wal").path))
    }
  }
}
