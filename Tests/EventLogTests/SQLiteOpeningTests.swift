import CSQLite
import EventLog
import Foundation
import NavigationModel
import TestSupport
import Testing
import WireFormat

/// What is refused at opening, that refusing changes nothing, and what stands beside a running store.
@Suite struct SQLiteOpeningTests {
  @Test func secondWriterIsRefusedByName() async throws {
    try await withTemporaryFolder { folder in
      let first = try SQLiteLog.open(at: folder.path, program: "navsyncd")
      #expect { _ = try SQLiteLog.open(at: folder.path, program: "navsync", waitMilliseconds: 30) } throws: { error in
        guard let error = error as? LogError else { return false }
        return error.code == .busy && error.isRetriable
          && error.detail.contains("held by process \(getpid()) (navsyncd)")
      }
      // Readers aren't kept out, and the lock ends with the log.
      _ = try SQLiteLog.openReader(at: folder.path)
      try first.close()
      try SQLiteLog.open(at: folder.path, program: "navsync").close()
    }
  }

  @Test func aStoreIsItsOwnersAlone() async throws {
    try await withTemporaryFolder { folder in
      func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + name)
        return try #require(attributes[.posixPermissions] as? Int)
      }
      func setMode(_ mode: Int, _ name: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path + name)
      }
      // Also in a folder that others can enter.
      try setMode(0o755, "")
      var fixture = LogFixture(seed: 1)
      let log = try SQLiteLog.open(at: folder.path, program: "tests")
      _ = try log.append([fixture.append(to: .main, events: 3)])
      try log.backup(to: folder.path + "/backup")
      #expect(log.report.notices == [.created])
      for name in ["/log.sqlite3", "/log.sqlite3-wal", "/heads", "/lock", "/backup/log.sqlite3"] {
        #expect(try mode(name) == 0o600, "\(name)")
      }
      try log.close()
      // One that isn't says so, and keeps its epoch.
      func noticesAtOpening() throws -> [OpenReport.Notice] {
        let again = try SQLiteLog.open(at: folder.path, program: "tests")
        defer { try? again.close() }
        #expect(again.epoch == log.epoch)
        return again.report.notices
      }
      try setMode(0o644, "/log.sqlite3")
      #expect(try noticesAtOpening() == [.openToOthers(path: folder.path + "/log.sqlite3", mode: 0o644)])
      try setMode(0o775, "")
      #expect(try noticesAtOpening() == [.openToOthers(path: folder.path, mode: 0o775)])
      try setMode(0o700, "")
      #expect(try noticesAtOpening() == [])
    }
  }

  @Test func newerFormatIsRefusedByNumber() async throws {
    try await withTemporaryFolder { folder in
      try SQLiteLog.open(at: folder.path, program: "tests").close()
      let file = folder.appendingPathComponent("log.sqlite3").path
      try execute("PRAGMA user_version = 7", on: file)
      let before = try contents(of: folder)
      for open in openings(folder.path) {
        #expect { try open() } throws: { error in
          (error as? LogError)?.code == .newerFormat && (error as? LogError)?.detail.contains("format 7") == true
        }
      }
      let after = try contents(of: folder)
      #expect(after["log.sqlite3"] == before["log.sqlite3"] && after["heads"] == before["heads"])
    }
  }

  @Test func foreignFilesAreRefusedAndKept() async throws {
    let made: [(String) throws -> Void] = [
      { try execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)", on: $0) },
      { try Data("This is no database. It is longer than a header.".utf8.map { $0 }).write(to: URL(filePath: $0)) },
      { try Data(count: 8192).write(to: URL(filePath: $0)) },
    ]
    for make in made {
      try await withTemporaryFolder { folder in
        try make(folder.appendingPathComponent("log.sqlite3").path)
        let before = try contents(of: folder)["log.sqlite3"]
        for open in openings(folder.path) {
          #expect { try open() } throws: { ($0 as? LogError)?.code == .notAStore }
        }
        #expect(try contents(of: folder)["log.sqlite3"] == before)
      }
    }
  }

  @Test func nothingIsMadeUnlessAsked() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.appendingPathComponent("a/b").path
      #expect { _ = try SQLiteLog.open(at: path, program: "tests", create: false) } throws: {
        ($0 as? LogError)?.code == .notFound
      }
      #expect { _ = try SQLiteLog.openReader(at: path) } throws: { ($0 as? LogError)?.code == .notFound }
      #expect(try contents(of: folder).isEmpty)
      let log = try SQLiteLog.open(at: path, program: "tests")
      #expect(log.report.notices == [.created] && !log.report.isNewEpoch)
      try log.close()
      #expect(try SQLiteLog.open(at: path, program: "tests", create: false).report.notices == [])
    }
  }

  /// As a process that is being started has it between its fork and its exec.
  @Test func aCopyOfTheLocksDescriptorHoldsNothing() async throws {
    try await withTemporaryFolder { folder in
      let log = try SQLiteLog.open(at: folder.path, program: "tests")
      let lock = folder.appendingPathComponent("lock").resolvingSymlinksInPath().path
      let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == lock
      }
      let copies = descriptors.compactMap { Int32($0) }.map { dup($0) }
      try #require(copies.count == 1 && copies[0] >= 0)
      defer { close(copies[0]) }
      try log.close()
      try SQLiteLog.open(at: folder.path, program: "tests").close()
    }
  }

  @Test func readersSeeAClosedAndARunningStore() async throws {
    try await withTemporaryFolder { folder in
      var fixture = LogFixture(seed: 1)
      let log = try SQLiteLog.open(at: folder.path, program: "tests")
      _ = try log.append([fixture.append(to: .main, events: 30)])
      let beside = try SQLiteLog.openReader(at: folder.path)
      #expect(beside.epoch == log.epoch)
      #expect(equal(try allEvents(beside, .main), fixture.stored[.main]!.events))
      _ = try log.append([fixture.append(to: .main, events: 30)])
      #expect(equal(try allEvents(beside, .main), fixture.stored[.main]!.events))
      try log.close()
      #expect(equal(try allEvents(try SQLiteLog.openReader(at: folder.path), .main), fixture.stored[.main]!.events))
    }
  }

  @Test func backupIsWholeWhileTheLogIsInUse() async throws {
    try await withTemporaryFolder { folder in
      var fixture = LogFixture(seed: 2)
      let log = try SQLiteLog.open(at: folder.appendingPathComponent("store").path, program: "tests")
      for _ in 0..<20 { _ = try log.append([fixture.append(to: .main, events: 30)]) }
      let backup = folder.appendingPathComponent("backup").path
      let reader = try SQLiteLog.openReader(at: folder.appendingPathComponent("store").path)
      let then = fixture.stored[.main]!.events
      try reader.backup(to: backup)
      _ = try log.append([fixture.append(to: .main, events: 30)])
      // One place holds one store.
      #expect(throws: LogError.self) { try log.backup(to: backup) }
      try log.backup(to: folder.appendingPathComponent("second").path)

      // Read as it is, and restored: with another epoch, because it is behind what was acknowledged.
      #expect(equal(try allEvents(try SQLiteLog.openReader(at: backup), .main), then))
      let restored = try SQLiteLog.open(at: backup, program: "tests", create: false)
      #expect(restored.report.notices == [.withoutHeads] && restored.epoch != log.epoch)
      #expect(try verify(restored).problems == [])
      #expect(equal(try allEvents(restored, .main), then))
      try restored.close()
      #expect(try SQLiteLog.open(at: backup, program: "tests").report.notices == [])
    }
  }

  @Test(.case(54)) func writeAheadLogIsBounded() async throws {
    try await withTemporaryFolder { folder in
      let chunk = 1 << 20
      let log = try SQLiteLog.open(at: folder.path, program: "tests")
      var fixture = LogFixture(seed: 3)
      var most = 0
      do {
        // A reader that is always there holds nothing back, because it keeps no transaction.
        let reader = try SQLiteLog.openReader(at: folder.path)
        for _ in 0..<150 {
          _ = try log.append([fixture.filled(chunk)])
          most = max(most, log.writeAheadBytes)
          #expect(try reader.read(.main, after: fixture.stored[.main]!.head - 1, maximumBytes: 0).count == 1)
        }
      }
      #expect(most < 64 * chunk)
      try log.close()
      #expect(try contents(of: folder).keys.sorted() == ["heads", "lock", "log.sqlite3"])
    }
  }
}

/// The ways to open a store, each closing again what it opened.
private func openings(_ path: String) -> [() throws -> Void] {
  [
    { try SQLiteLog.open(at: path, program: "tests").close() },
    { try SQLiteLog.open(at: path, program: "tests", create: false).close() },
    { _ = try SQLiteLog.openReader(at: path) },
  ]
}

/// The files of a folder, but the lock, which says who asked last.
func contents(of folder: URL) throws -> [String: Data] {
  var result: [String: Data] = [:]
  for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
    result[name] = try? Data(contentsOf: folder.appendingPathComponent(name))
  }
  if result["lock"] != nil { result["lock"] = Data() }
  return result
}

/// Runs SQL as any other program might.
func execute(_ sql: String, on path: String) throws {
  var handle: OpaquePointer?
  try #require(sqlite3_open(path, &handle) == SQLITE_OK)
  defer { sqlite3_close(handle) }
  try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
}
