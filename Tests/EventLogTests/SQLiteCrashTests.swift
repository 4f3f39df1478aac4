import EventLog
import Foundation
import NavigationModel
import TestSupport
import Testing
import WireFormat

/// What is left after a process ended in the middle of something. The processes are real: exit tests.
@Suite struct SQLiteCrashTests {
  @Test func killedProcessesLoseNothingAcknowledged() async throws {
    try await withTemporaryFolder { folder in
      let path = folder.path
      for seed in UInt64(1)...5 {
        let result = await #expect(
          processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
        ) { [path = path as String, seed = seed as UInt64] in
          try appendUntilKilled(at: path, seed: seed)
        }
        let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        let acknowledged = output.split(separator: "\n").last { $0.hasPrefix("ack ") }.flatMap { Int($0.dropFirst(4)) }
        let promised = try #require(acknowledged)

        let log = try SQLiteLog.open(at: path, program: "tests", create: false)
        #expect(!log.report.isNewEpoch, "\(log.report)")
        let stored = try allEvents(log, crashStack(seed))
        #expect(stored.count >= promised)
        // What is there is what was appended, whole batches of it, in order.
        var fixture = LogFixture(seed: seed)
        while fixture.stored[crashStack(seed)]?.head ?? 0 < stored.count { _ = fixture.nextInCrash(seed) }
        #expect(equal(stored, fixture.stored[crashStack(seed)]!.events))
        #expect(try verify(log).problems == [])
        try log.close()
      }
    }
  }

  @Test(.case(47)) func fullDiskRefusesAppendsAndHeals() async throws {
    try await withTemporaryFolder { folder in
      _ = await #expect(processExitsWith: .success) { [path = folder.path as String] in
        signal(SIGXFSZ, SIG_IGN)
        let log = try SQLiteLog.open(at: path, program: "tests")
        var fixture = LogFixture(seed: 3)
        try #require(limitFiles(to: 300_000))
        var refusal: LogError?
        while refusal == nil {
          let before = fixture
          let append = fixture.append(to: .main, events: 50)
          do throws(LogError) { _ = try log.append([append]) } catch {
            refusal = error
            fixture = before
          }
        }
        #expect(refusal?.code == .full && refusal?.isRetriable == true, "\(refusal!)")
        // Reads go on, nothing half written is there, and it is refused again.
        #expect(equal(try allEvents(log, .main), fixture.stored[.main]!.events))
        var other = fixture
        let refused = other.append(to: .main, events: 50)
        #expect { try log.append([refused]) } throws: { ($0 as? LogError)?.code == .full }
        #expect(try log.makeReader().info(of: .main)?.head == fixture.stored[.main]!.head)
        // With room again it goes on, with the same batch.
        try #require(limitFiles(to: .max))
        _ = try log.append([refused])
        #expect(equal(try allEvents(log, .main), other.stored[.main]!.events))
        #expect(try verify(log).problems == [])
        try log.close()
        let again = try SQLiteLog.open(at: path, program: "tests", create: false)
        #expect(again.report.notices == [])
        #expect(equal(try allEvents(again, .main), other.stored[.main]!.events))
      }
    }
  }

  @Test func failedSyncClosesAndReopens() async throws {
    try await withTemporaryFolder { folder in
      _ = await #expect(processExitsWith: .success) { [path = folder.path as String] in
        FailingSync.install()
        let log = try SQLiteLog.open(at: path, program: "tests")
        var fixture = LogFixture(seed: 4)
        _ = try log.append([fixture.append(to: .main, events: 10)])
        FailingSync.turn(on: true)
        let append = fixture.append(to: .main, events: 10)
        #expect { try log.append([append]) } throws: { ($0 as? LogError)?.code == .inputOutput }
        #expect(FailingSync.count > 0)
        // While the disk fails it isn't taken as good again.
        #expect { try log.append([append]) } throws: { ($0 as? LogError)?.code == .inputOutput }
        FailingSync.turn(on: false)
        // Whether it was stored is open; the heads say.
        if try log.info(of: .main)?.head == 10 { _ = try log.append([append]) }
        _ = try log.append([fixture.append(to: .main, events: 10)])
        #expect(equal(try allEvents(log, .main), fixture.stored[.main]!.events))
        #expect(try verify(log).problems == [])
        try log.close()
        let again = try SQLiteLog.open(at: path, program: "tests", create: false)
        #expect(again.report.notices == [])
        #expect(equal(try allEvents(again, .main), fixture.stored[.main]!.events))
      }
    }
  }

  /// The power goes: of every file there is what was synced of it, and nothing that was written since.
  @Test(.case(45)) func aPowerCutLosesNothingAcknowledged() async throws {
    try await withTemporaryFolder { folder in
      _ = await #expect(processExitsWith: .success) { [path = folder.path as String] in
        FailingSync.install()
        let (store, synced) = (path + "/store", path + "/synced")
        try FileManager.default.createDirectory(atPath: synced, withIntermediateDirectories: false)
        FailingSync.keepWhatIsSynced(of: store, in: synced)
        let log = try SQLiteLog.open(at: store, program: "tests")
        var fixture = LogFixture(seed: 6)
        // Far enough for checkpoints, which write the database and begin the write-ahead log anew.
        for round in 1...240 {
          _ = try log.append([fixture.append(to: .main, events: 5, size: 6000)])
          guard round % 20 == 1 else { continue }
          let cut = path + "/cut\(round)"
          try FailingSync.cutPower(leaving: cut)
          let left = try SQLiteLog.open(at: cut, program: "tests", create: false)
          #expect(equal(try allEvents(left, .main), fixture.stored[.main]!.events), "after commit \(round)")
          #expect(try verify(left).problems == [])
          try left.close()
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: store + "/log.sqlite3")).count > 1 << 20, "no checkpoint")
        try log.close()
      }
    }
  }

  /// The disk is full, the process is killed, and the disk is still full when the store is opened.
  @Test(.case(59)) func openingOnAFullDiskDeletesNothing() async throws {
    try await withTemporaryFolder { folder in
      let result = await #expect(
        processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
      ) { [path = folder.path as String] in
        signal(SIGXFSZ, SIG_IGN)
        let log = try SQLiteLog.open(at: path, program: "tests")
        var fixture = LogFixture(seed: 7)
        try #require(limitFiles(to: 300_000))
        while let first = try? log.append([fixture.append(to: .main, events: 20)]) {
          let line = Array("ack \(first[0] + 19)\n".utf8)
          _ = write(1, line, line.count)
        }
        _ = kill(getpid(), SIGKILL)
      }
      let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
      let acknowledged = try #require(
        output.split(separator: "\n").last { $0.hasPrefix("ack ") }.flatMap { Int($0.dropFirst(4)) })
      _ = await #expect(processExitsWith: .success) { [path = folder.path as String, count = acknowledged as Int] in
        signal(SIGXFSZ, SIG_IGN)
        try #require(limitFiles(to: 100_000))
        // Whether it can be opened or not: nothing goes.
        for _ in 0..<3 {
          if let log = try? SQLiteLog.open(at: path, program: "tests", create: false) {
            #expect(try allEvents(log, .main).count == count)
            try? log.close()
          }
        }
      }
      let log = try SQLiteLog.open(at: folder.path, program: "tests", create: false)
      #expect(!log.report.isNewEpoch, "\(log.report)")
      var fixture = LogFixture(seed: 7)
      while fixture.stored[.main]?.head ?? 0 < acknowledged { _ = fixture.append(to: .main, events: 20) }
      #expect(equal(try allEvents(log, .main), fixture.stored[.main]!.events))
      _ = try log.append([fixture.append(to: .main, events: 20)])
      #expect(try verify(log).problems == [])
    }
  }
}

/// Lets no file of this process grow beyond a size; the largest number lifts the limit.
private func limitFiles(to bytes: rlim_t) -> Bool {
  var limit = rlimit(rlim_cur: bytes, rlim_max: .max)
  return setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0
}

private func crashStack(_ seed: UInt64) -> StackName { try! StackName("crash/round\(seed)") }

extension LogFixture {
  fileprivate mutating func nextInCrash(_ seed: UInt64) -> LogAppend {
    append(to: crashStack(seed), events: Int.random(in: 1...40, using: &random), size: 300)
  }
}

/// Appends and says how far it got, until another thread ends the process at a moment that nobody chose.
private func appendUntilKilled(at path: String, seed: UInt64) throws {
  let log = try SQLiteLog.open(at: path, program: "tests")
  var fixture = LogFixture(seed: seed)
  let kill = Int(seed) * 37 % 150 + 5
  for number in 0... {
    let append = fixture.nextInCrash(seed)
    if number == kill { Thread.detachNewThread { _ = Glibc.kill(getpid(), SIGKILL) } }
    let first = try log.append([append])[0]
    let line = Array("ack \(first + append.batch.count - 1)\n".utf8)
    _ = write(1, line, line.count)
  }
}
