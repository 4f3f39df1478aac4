import EventLog
import NavigationModel
import TestSupport
import Testing
import WireFormat

/// A clock that a test sets.
final class TestClock { var now = 1_700_000_000_000 }

/// What every log must do. `makeLog` gives a new, empty log, which may be closed and opened again by `reopen`.
func checkEventLogContract(
  makeLog: (_ clock: @escaping () -> Int) throws -> any EventLog,
  reopen: ((any EventLog, _ clock: @escaping () -> Int) throws -> any EventLog)? = nil
) throws {
  for seed in UInt64(1)...4 {
    let clock = TestClock()
    var log = try makeLog { clock.now }
    var fixture = LogFixture(seed: seed)
    try checkNothingThere(log)
    let stacks = try ["alice/main", "alice/a.b", "alice-b/x", "bob/main"].map { try StackName($0) }
    for round in 0..<40 {
      // Now and then the clock goes back; the times of storing don't.
      clock.now += Int.random(in: -20...200, using: &fixture.random)
      fixture.now = max(fixture.now, clock.now)
      var appends: [LogAppend] = []
      for _ in 0..<Int.random(in: 1...4, using: &fixture.random) {
        let stack = stacks.randomElement(using: &fixture.random)!
        // As the log does: a stack's own newest time, or the clock's.
        fixture.now = max(clock.now, fixture.stored[stack]?.batches.last?.time ?? 0)
        appends.append(fixture.append(to: stack, events: Int.random(in: 0...5, using: &fixture.random)))
      }
      let offsets = try log.append(appends)
      checkOffsets(offsets, appends, fixture)
      if round % 10 == 9 {
        try checkReads(log, &fixture)
        try checkReads(try log.makeReader(), &fixture)
        if let reopen {
          let epoch = log.epoch
          log = try reopen(log) { clock.now }
          #expect(log.epoch == epoch)
          try checkReads(log, &fixture)
        }
      }
    }
    try checkListing(log, fixture)
    try checkRefusals(log, &fixture)
    try checkFactsAndSnapshots(log, fixture)
    try checkReads(log, &fixture)
    try checkVerifying(log, fixture)
    try log.close()
  }
}

private func checkNothingThere(_ log: any EventLog) throws {
  #expect(try log.info(of: .main) == nil)
  #expect(try log.stacks(in: nil).isEmpty)
  #expect(try log.heads(of: .main).isEmpty)
  #expect(try log.read(.main, after: 0, maximumBytes: 1000).isEmpty)
  #expect(try log.offset(in: .main, lackedBy: VersionVector()) == 0)
  #expect(try log.offset(in: .main, storedSince: 0) == 0)
  #expect(try log.events(of: DeviceID(high: 1, low: 1), in: .main, sequences: 1...5).isEmpty)
  #expect(try log.snapshot(of: .main) == nil)
  #expect(try log.fact("device") == nil)
  // An empty batch is nothing, and makes nothing.
  let nothing = LogAppend(stack: .main, policy: .merge, batch: .empty, heads: [], newestTime: 0)
  #expect(try log.append([nothing]) == [1])
  #expect(try log.append([]).isEmpty)
  #expect(try log.info(of: .main) == nil)
}

private func checkOffsets(_ offsets: [Int], _ appends: [LogAppend], _ fixture: LogFixture) {
  var next: [StackName: Int] = [:]
  for append in appends.reversed() {
    let end = next[append.stack] ?? (fixture.stored[append.stack]?.head ?? 0) + 1
    next[append.stack] = end - append.batch.count
  }
  var expected: [Int] = []
  for append in appends {
    expected.append(next[append.stack]!)
    next[append.stack]! += append.batch.count
  }
  #expect(offsets == expected)
}

private func checkReads(_ log: any EventLogReader, _ fixture: inout LogFixture) throws {
  for (stack, stored) in fixture.stored {
    let info = try #require(try log.info(of: stack))
    #expect(
      info
        == StackInfo(
          stack: stack, policy: .latest, head: stored.head, lastStored: stored.batches.last!.time,
          devices: stored.heads.count))
    #expect(try log.heads(of: stack) == stored.heads.values.sorted { $0.device < $1.device })

    for page in [1, 100, 1 << 20] { #expect(equal(try allEvents(log, stack, page: page), stored.events)) }
    let batches = try log.read(stack, after: 0, maximumBytes: 1 << 30)
    #expect(batches.map(\.firstOffset) == stored.batches.map(\.first))
    #expect(batches.map(\.storedAt) == stored.batches.map(\.time))
    #expect(try log.read(stack, after: stored.head, maximumBytes: 100).isEmpty)
    #expect(try log.read(stack, after: stored.head + 7, maximumBytes: 100).isEmpty)
    #expect(try log.read(stack, after: .max, maximumBytes: 100).isEmpty)
    #expect(try log.read(stack, after: .min, maximumBytes: .max).count == stored.batches.count)

    for _ in 0..<10 {
      let after = Int.random(in: 0..<stored.head, using: &fixture.random)
      #expect(equal(try allEvents(log, stack, after: after, page: 64), stored.events[after...]))
      // Exactly the batch that holds the next event comes first.
      let first = try #require(try log.read(stack, after: after, maximumBytes: 0).first)
      #expect(first.firstOffset <= after + 1 && after + 1 < first.firstOffset + first.batch.count)
      try checkVector(log, stack, stored, &fixture.random)
      try checkSequences(log, stack, stored, &fixture.random)
    }
    for time in Set(stored.batches.flatMap { [$0.time, $0.time + 1] } + [0]) {
      let expected = stored.batches.first { $0.time >= time }.map { $0.first - 1 } ?? stored.head
      #expect(try log.offset(in: stack, storedSince: time) == expected)
    }
  }
}

private func checkVector(
  _ log: any EventLogReader, _ stack: StackName, _ stored: LogFixture.Stored, _ random: inout SeededGenerator
) throws {
  var vector = VersionVector()
  for head in stored.heads.values { vector[head.device] = Int.random(in: 0...head.sequence + 1, using: &random) }
  let offset = try log.offset(in: stack, lackedBy: vector)
  let lacked = stored.events.indices.filter { !vector.contains(stored.events[$0].dot) }
  // Everything lacked stands after it, and not a whole batch more than is needed.
  if let first = lacked.first {
    let batch = stored.batches.last { $0.first <= first + 1 }!
    #expect(offset == batch.first - 1)
  } else {
    #expect(offset == stored.head)
  }
}

private func checkSequences(
  _ log: any EventLogReader, _ stack: StackName, _ stored: LogFixture.Stored, _ random: inout SeededGenerator
) throws {
  let head = stored.heads.values.randomElement(using: &random)!
  let lower = Int.random(in: 1...head.sequence + 2, using: &random)
  let wanted = lower...Int.random(in: lower...head.sequence + 3, using: &random)
  let expected = stored.events.filter { $0.dot.device == head.device && wanted.contains($0.dot.sequence) }
  #expect(try log.events(of: head.device, in: stack, sequences: wanted) == expected.map(\.bytes))
}

private func checkListing(_ log: any EventLog, _ fixture: LogFixture) throws {
  let names = fixture.stored.keys.sorted()
  #expect(try log.stacks(in: nil).map(\.stack) == names)
  let alice = try Name("alice")
  #expect(try log.stacks(in: alice).map(\.stack) == names.filter { $0.space == alice })
  #expect(try log.stacks(in: try Name("nobody")).isEmpty)
  #expect(try log.stacks(in: nil) == names.map { try log.info(of: $0)! })
}

private func checkRefusals(_ log: any EventLog, _ fixture: inout LogFixture) throws {
  var fork = fixture
  var good = fork.append(to: .main, events: 3)
  // Another policy than the stack's doesn't change it.
  good.policy = .merge
  let other = try StackName("carol/new")
  // What was stored already, and what leaves a hole: nothing of the commit is kept, not even of another stack.
  var ahead = fork
  _ = ahead.append(to: .main, events: 1, by: [fixture.devices[0]])
  let hole = ahead.append(to: .main, events: 1, by: [fixture.devices[0]])
  for bad in [[fork.append(to: other, events: 2), good, hole], [good, good]] {
    #expect { try log.append(bad) } throws: { ($0 as? LogError)?.code == .notNext }
    #expect(try log.info(of: other) == nil)
  }
  try checkReads(log, &fixture)
  var after = fixture
  let next = after.append(to: .main, events: 2)
  _ = try log.append([next])
  #expect { try log.append([next]) } throws: { ($0 as? LogError)?.code == .notNext }
  after.stored[.main]!.batches[after.stored[.main]!.batches.count - 1].time = try log.info(of: .main)!.lastStored
  fixture = after
}

private func checkFactsAndSnapshots(_ log: any EventLog, _ fixture: LogFixture) throws {
  try log.setFact("device/b", [2])
  try log.setFact("device/a", [])
  try log.setFact("devices", [9, 0, 9])
  try log.setFact("other", [1])
  #expect(try log.fact("device/a") == [])
  #expect(try log.facts(prefixed: "device/").map(\.key) == ["device/a", "device/b"])
  #expect(try log.facts(prefixed: "").count == 4)
  try log.setFact("device/b", [3, 4])
  try log.setFact("other", nil)
  try log.setFact("never", nil)
  #expect(try log.facts(prefixed: "d").map(\.value) == [[], [3, 4], [9, 0, 9]])
  #expect(try log.makeReader().fact("other") == nil)

  let first = StoredSnapshot(foldVersion: 1, offset: 3, bytes: [1, 2, 3])
  let second = StoredSnapshot(foldVersion: 2, offset: 5, bytes: Array(repeating: 7, count: 10_000))
  try log.keep(first, of: .main)
  #expect(try log.snapshot(of: .main) == first)
  try log.keep(second, of: .main)
  #expect(try log.makeReader().snapshot(of: .main) == second)
  // There is no snapshot of what isn't there.
  let nowhere = try StackName("nobody/none")
  try log.keep(first, of: nowhere)
  #expect(try log.snapshot(of: nowhere) == nil)
  #expect(try log.info(of: nowhere) == nil)
}

private func checkVerifying(_ log: any EventLog, _ fixture: LogFixture) throws {
  var reports = 0
  let found = try verify(log) { _ in reports += 1 }
  #expect(found.problems == [])
  #expect(found.stacks == fixture.stored.count && found.events == fixture.stored.values.reduce(0) { $0 + $1.head })
  #expect(reports >= found.stacks)
  #expect(try verify(try log.makeReader(), only: .main).events == fixture.stored[.main]!.head)

  // A head that its chain doesn't have is found.
  let wrong = try StackName("zoe/wrong")
  var other = fixture
  var append = other.append(to: wrong, events: 5, by: [fixture.devices[1]])
  append.heads[0].digest = Digest(high: 1, low: 2)
  _ = try log.append([append])
  let problem = try #require(try verify(log).problems.first)
  #expect(problem.stack == wrong && problem.offset == 1)
  #expect(try verify(log).problems.count == 1)
}

/// A reader on another thread, beside a writer, sees whole commits in order and never goes back.
func checkReadingBesideWriting(_ log: any EventLog) async throws {
  var fixture = LogFixture(seed: 9)
  let commits = 200
  let reader = Handed(try log.makeReader())
  let reading = Task.detached { () throws -> Int in
    let reader = reader.take()
    var seen = 0
    var reads = 0
    while seen < commits * 3 {
      for stored in try reader.read(.main, after: seen, maximumBytes: 500) {
        guard stored.firstOffset == seen + 1, stored.batch.count == 3 else { return -1 }
        seen += 3
      }
      guard try reader.info(of: .main)?.head ?? 0 >= seen else { return -2 }
      reads += 1
      await Task.yield()
    }
    return reads
  }
  for _ in 0..<commits { _ = try log.append([fixture.append(to: .main, events: 3)]) }
  #expect(try await reading.value > 0)
  try log.close()
}

/// Hands a value that isn't `Sendable` to another task.
///
/// Unchecked, because the compiler doesn't follow a value into a closure: it is sent in, taken once, and nobody else
/// has it.
private final class Handed: @unchecked Sendable {
  private let reader: any EventLogReader

  init(_ reader: sending any EventLogReader) { self.reader = reader }

  func take() -> any EventLogReader { reader }
}
