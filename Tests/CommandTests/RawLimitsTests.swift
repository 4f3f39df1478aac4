import Foundation
import TestSupport
import Testing

@testable import Commands

@Suite(.timeLimit(.minutes(5)))
struct RawLimitsTests {
  @Test("The raw limits are measured, and nothing is left behind")
  func limits() async throws {
    try await withTemporaryFolder { folder in
      let trip = try RawLimits.roundTrip(in: folder, count: 50)
      #expect(trip.median > 0 && trip.count == 50)
      let append = try RawLimits.durableAppend(in: folder, count: 10)
      #expect(append.median > 0 && append.count == 10)
      let records = try RawLimits.sequentialAppend(in: folder, batches: 5, recordsABatch: 100)
      #expect(records.recordsPerSecond > 0)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }

  @Test("A folder that isn't there is an error that names it")
  func noFolder() throws {
    let folder = URL(fileURLWithPath: "/nowhere/at/all")
    #expect(throws: (any Error).self) { try RawLimits.durableAppend(in: folder) }
    #expect(throws: (any Error).self) { try RawLimits.roundTrip(in: folder) }
  }
}
