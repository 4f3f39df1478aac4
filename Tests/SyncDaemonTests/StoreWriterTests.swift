import EventLog
import NavigationModel
import Testing
import WireFormat

@testable import Replication
@testable import SyncDaemon

/// What the thread that commits does in which order.
@Suite struct StoreWriterTests {
  @Test func eventsDoNotWaitForNames() throws {
    let log = OrderedLog()
    let jobs = JobQueue<StoreThreads.WriteJob>()
    for number in 0..<3 { jobs.post(.keep(key: "name/\(number)", value: [1])) }
    jobs.post(.keep(key: "name/0", value: [2]))
    jobs.post(.commit(ServerCore.Commit(number: 1, parts: [try part()])))
    jobs.close()
    StoreWriter(log, DaemonLog(level: .error)).run(jobs)
    #expect(log.done.first == "append")
    #expect(log.done.sorted() == ["append", "close", "name/0", "name/1", "name/2"])
    #expect(log.done.last == "close")
    #expect(log.log.fact("name/0") == [2])
  }

  /// A daemon that stops while a whole fleet says its names keeps what can't be said again.
  @Test func whatMattersIsKeptInTheEnd() {
    let log = OrderedLog()
    let jobs = JobQueue<StoreThreads.WriteJob>()
    for number in 0..<1000 { jobs.post(.keep(key: "name/\(number)", value: [1])) }
    jobs.post(.keep(key: "newest-time", value: [1]))
    jobs.close()
    StoreWriter(log, DaemonLog(level: .error)).run(jobs)
    #expect(log.done.count < 200)
    #expect(log.log.fact("newest-time") == [1])
  }

  @Test("Only after a commit that was quick the next may be made by the loop")
  func slowDisk() throws {
    let log = OrderedLog()
    let writer = StoreWriter(log, DaemonLog(level: .error))
    #expect(!writer.isQuick)
    _ = writer.append(ServerCore.Commit(number: 1, parts: []), startedAt: 1_000_000, endedAt: { 1_900_000 })
    #expect(writer.isQuick)
    _ = writer.append(ServerCore.Commit(number: 2, parts: []), startedAt: 1_000_000, endedAt: { 2_100_000 })
    #expect(!writer.isQuick)
  }

  private func part() throws -> ServerCore.CommitPart {
    let stack = try StackName("s/main")
    let device = DeviceID(high: 0, low: 1)
    var chains = StackChains(stack: stack)
    let before = chains.authorState(of: device)
    let event = Event(
      dot: Dot(device, 1), context: VersionVector(), timestamp: Timestamp(milliseconds: 1, counter: 0),
      action: .popToRoot)
    let batch = EventBatch([(dot: event.dot, bytes: try chains.append(event))])
    return ServerCore.CommitPart(
      stack: stack, policy: .merge, batch: batch, heads: chains.heads, newestTime: 1, authorStates: [before])
  }
}

/// A log in memory that notes what is done.
private final class OrderedLog: EventLog {
  let log = MemoryLog(epoch: 1)
  private(set) var done: [String] = []

  var epoch: UInt64 { log.epoch }
  func append(_ appends: [LogAppend]) throws(LogError) -> [Int] {
    done.append("append")
    return try log.append(appends)
  }
  func setFact(_ key: String, _ value: [UInt8]?) throws(LogError) {
    done.append(key)
    log.setFact(key, value)
  }
  func close() throws(LogError) { done.append("close") }
  func keep(_ snapshot: StoredSnapshot, of stack: StackName) throws(LogError) { log.keep(snapshot, of: stack) }
  func makeReader() throws(LogError) -> sending any EventLogReader { log.makeReader() }
  func info(of stack: StackName) throws(LogError) -> StackInfo? { log.info(of: stack) }
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
