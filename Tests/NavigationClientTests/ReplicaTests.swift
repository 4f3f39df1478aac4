import EventLog
import NavigationClient
import NavigationModel
import Replication
import TestSupport
import Testing
import WireFormat

/// The replica without sockets: what it takes in is there after a commit, and not at all without one.
@Suite struct ReplicaTests {
  private let device = DeviceID(high: 0, low: 7)
  private let name: StackName

  init() throws { name = try StackName("alice/main") }

  private func value(_ text: String) -> Value { Value(type: "String", json: "\"\(text)\"") }

  @Test func afterAFullDiskItIsAsItWas() throws {
    let log = FailingLog()
    let replica = Replica(device: device, log: log)
    let stack = try replica.open(name, policy: nil)
    _ = try replica.act(.push([value("a")]), on: name, id: nil, at: 1000)
    _ = try replica.commit()
    let before = (stack.entries(), stack.chains.heads, stack.localHead)
    log.fails = true
    _ = try replica.act(.push([value("b")]), on: name, id: nil, at: 1001)
    let error = #expect(throws: ClientError.self) { try replica.commit() }
    #expect(error?.code == .storage)
    #expect(error?.isRetriable == true)
    #expect(stack.entries() == before.0)
    #expect(stack.chains.heads == before.1)
    #expect(stack.localHead == before.2)
    let refused = #expect(throws: ClientError.self) {
      _ = try replica.act(.push([value("b")]), on: name, id: "x", at: 1001)
    }
    #expect(refused?.code == .storage)
    #expect(!replica.hasPending)
    log.fails = false
    // There is room again: the same sequence number is used, once, and the same intent isn't taken for done.
    let (acted, isRepeated) = try replica.act(.push([value("c")]), on: name, id: "x", at: 1002)
    #expect(acted.dot == Dot(device, 2))
    #expect(!isRepeated)
    #expect(try replica.commit().map(\.name) == [name])
    #expect(stack.entries().map(\.value) == [value("a"), value("c")])
    #expect(try log.info(of: name)?.head == 2)
  }

  /// The disk fails, and for a while nothing can be read from it either: nothing is told of, sent or stored later that
  /// was told to have failed.
  @Test func afterADiskThatCannotBeReadItIsAsItWas() throws {
    let log = FailingLog()
    let replica = Replica(device: device, log: log)
    let stack = try replica.open(name, policy: nil)
    _ = try replica.act(.push([value("a")]), on: name, id: nil, at: 1000)
    _ = try replica.commit()
    log.fails = true
    log.failsReading = true
    _ = try replica.act(.push([value("b")]), on: name, id: nil, at: 1001)
    #expect(throws: ClientError.self) { try replica.commit() }
    for id in ["x", nil] {
      let error = #expect(throws: ClientError.self) {
        _ = try replica.act(.push([value("c")]), on: name, id: id, at: 1002)
      }
      #expect(error?.code == .storage)
    }
    #expect(throws: ClientError.self) { try replica.readAgain(name) }
    log.fails = false
    log.failsReading = false
    let acted = try replica.act(.push([value("d")]), on: name, id: "x", at: 1003).acted
    #expect(acted.dot == Dot(device, 2))
    _ = try replica.commit()
    #expect(stack.entries().map(\.value) == [value("a"), value("d")])
    #expect(try log.info(of: name)?.head == 2)
  }

  @Test func onlyTheLastIntentsAreRemembered() throws {
    let log = MemoryLog(epoch: 1)
    func act(_ id: String, _ replica: Replica) throws -> Bool {
      let isRepeated = try replica.act(.replace(value(id)), on: name, id: id, at: 1).isRepeated
      _ = try replica.commit()
      return isRepeated
    }
    let replica = Replica(device: device, log: log)
    _ = try replica.open(name, policy: nil)
    for number in 0...1024 { #expect(try !act("\(number)", replica)) }
    #expect(try act("1", replica))
    #expect(log.facts(prefixed: "intent/").count == 1024)
    let again = Replica(device: device, log: log)
    _ = try again.open(name, policy: nil)
    #expect(try act("1024", again))
    #expect(try !act("0", again))
    #expect(try !act("1", again))
  }

  @Test func whatIsReceivedTwiceIsOnce() throws {
    let author = Replica(device: device, log: MemoryLog(epoch: 1))
    let source = try author.open(name, policy: nil)
    for text in ["a", "b", "c"] { _ = try author.act(.push([value(text)]), on: name, id: nil, at: 1) }
    let batch = try #require(source.append()?.batch)
    _ = try author.commit()
    let reader = Replica(device: nil, log: nil)
    let copy = try reader.open(name, policy: nil)
    try reader.receive(batch, of: name)
    try reader.receive(batch, of: name)
    _ = try reader.commit()
    #expect(copy.entries() == source.entries())
    #expect(copy.chains.heads == source.chains.heads)
    #expect(copy.localHead == 3)
  }

  /// The clock that jumps back: new events never sort before old ones.
  @Test(.case(48)) func stampsNeverGoBack() throws {
    let replica = Replica(device: device, log: nil)
    let stack = try replica.open(name, policy: nil)
    _ = try replica.act(.push([value("a")]), on: name, id: nil, at: 5000)
    let first = stack.fold.newestTimestamp
    _ = try replica.act(.push([value("b")]), on: name, id: nil, at: 1000)
    #expect(stack.fold.newestTimestamp > first)
    #expect(stack.conflicts().isEmpty)
    #expect(stack.entries().map(\.value) == [value("a"), value("b")])
  }

  /// The digests before runs that are sent, against those of a log that is read from its beginning.
  @Test func runsHaveTheDigestBefore() throws {
    let log = MemoryLog(epoch: 1)
    let replica = Replica(device: device, log: log)
    _ = try replica.open(name, policy: nil)
    for number in 0..<150 {
      _ = try replica.act(.replace(value("\(number)")), on: name, id: nil, at: number)
      if number % 7 == 0 { _ = try replica.commit() }
    }
    _ = try replica.commit()
    let fresh = try StackReplica(name, policy: nil, from: log)
    var chains = StackChains(stack: name)
    for first in 1...150 {
      for stack in [try replica.open(name, policy: nil), fresh] {
        let (runs, through) = try stack.runs(
          after: nil, lackedBy: first == 1 ? VersionVector() : [device: first - 1], maximumEvents: 1,
          maximumBytes: 1000, log: log)
        #expect(runs.map(\.firstSequence) == [first])
        #expect(runs.first?.previous == chains.digest(of: device))
        #expect(through == first)
        if stack === fresh, let bytes = runs.first?.events.first { try chains.receive(Dot(device, first), bytes) }
      }
    }
  }
}

/// A log in memory whose disk can be full.
private final class FailingLog: EventLog {
  var fails = false
  var failsReading = false
  private let log = MemoryLog(epoch: 1)

  private func check() throws(LogError) {
    if fails { throw LogError(.full, about: "test", "no room") }
  }

  var epoch: UInt64 { log.epoch }
  func append(_ appends: [LogAppend]) throws(LogError) -> [Int] {
    try check()
    return try log.append(appends)
  }
  func keep(_ snapshot: StoredSnapshot, of stack: StackName) throws(LogError) { log.keep(snapshot, of: stack) }
  func setFact(_ key: String, _ value: [UInt8]?) throws(LogError) {
    try check()
    log.setFact(key, value)
  }
  func makeReader() throws(LogError) -> sending any EventLogReader { log.makeReader() }
  func close() throws(LogError) {}
  func info(of stack: StackName) throws(LogError) -> StackInfo? {
    if failsReading { throw LogError(.inputOutput, about: "test", "it can't be read") }
    return log.info(of: stack)
  }
  func stacks(in space: Name?) throws(LogError) -> [StackInfo] { log.stacks(in: space) }
  func heads(of stack: StackName) throws(LogError) -> [StoredHead] { log.heads(of: stack) }
  func read(_ stack: StackName, after offset: Int, maximumBytes: Int) throws(LogError) -> [StoredBatch] {
    log.read(stack, after: offset, maximumBytes: maximumBytes)
  }
  func offset(in stack: StackName, lackedBy vector: VersionVector) throws(LogError) -> Int {
    log.offset(in: stack, lackedBy: vector)
  }
  func offset(in stack: StackName, storedSince milliseconds: Int) throws(LogError) -> Int {
    log.offset(in: stack, storedSince: milliseconds)
  }
  func events(
    of device: DeviceID, in stack: StackName, sequences: ClosedRange<Int>
  ) throws(LogError) -> [[UInt8]] { log.events(of: device, in: stack, sequences: sequences) }
  func snapshot(of stack: StackName) throws(LogError) -> StoredSnapshot? { log.snapshot(of: stack) }
  func fact(_ key: String) throws(LogError) -> [UInt8]? { log.fact(key) }
  func facts(prefixed prefix: String) throws(LogError) -> [(key: String, value: [UInt8])] {
    log.facts(prefixed: prefix)
  }
}
