import EventLog
import Foundation
import NavigationModel
import TestSupport
import Testing

@Suite struct EventLogTests {
  @Test func memoryLogKeepsTheContract() throws {
    try checkEventLogContract { MemoryLog(clock: $0) }
  }

  @Test func sqliteLogKeepsTheContract() async throws {
    try await withTemporaryFolder { folder in
      var number = 0
      func path() -> String { folder.appendingPathComponent("store\(number)").path }
      try checkEventLogContract { clock in
        number += 1
        return try SQLiteLog.open(at: path(), program: "tests", clock: clock)
      } reopen: { log, clock in
        try log.close()
        return try SQLiteLog.open(at: path(), program: "tests", create: false, clock: clock)
      }
    }
  }

  @Test func memoryLogIsReadBesideItsWriter() async throws {
    try await checkReadingBesideWriting(MemoryLog())
  }

  @Test func sqliteLogIsReadBesideItsWriter() async throws {
    try await withTemporaryFolder { folder in
      try await checkReadingBesideWriting(try SQLiteLog.open(at: folder.path, program: "tests"))
    }
  }
}
