import EventLog
import NavigationModel
import StackHistory
import TestSupport
import Testing
import WireFormat

@testable import Commands

/// Histories as commands read them from a store.
@Suite struct HistoryTests {
  private let stack: StackName

  init() throws { stack = try StackName("alice/main") }

  /// A device that writes into a log.
  private struct Author {
    let key: SigningKey
    var grant: Grant?
    var chains: StackChains
    var device: DeviceID { key.verifyingKey.device }

    init(_ number: UInt8, stack: StackName, owner: SigningKey? = nil) throws {
      let key = try HistoryTests.key(number)
      self.key = key
      grant = try owner.map {
        Grant(space: stack.space, key: key.verifyingKey, name: try Name("phone"), expires: nil, by: $0)
      }
      chains = StackChains(stack: stack)
    }

    /// Signed if there is a grant.
    mutating func push(into log: MemoryLog) throws {
      let sequence = chains.vector[device] + 1
      var event = Event(
        dot: Dot(device, sequence), context: VersionVector(),
        timestamp: Timestamp(milliseconds: 1000 + sequence, counter: 0),
        action: .push(on: nil, values: [Value(type: "String", payload: Array("\"\(sequence)\"".utf8))]))
      if let grant {
        event = try EventSeal(grant: grant).seal(
          event, of: chains.stack, after: chains.authorState(of: device), previous: chains.digest(of: device), by: key)
      }
      let bytes = try chains.append(event)
      try store(bytes, into: log)
    }

    /// What only a newer version reads.
    mutating func addUnreadable(to log: MemoryLog) throws {
      let dot = Dot(device, chains.vector[device] + 1)
      #expect(try chains.receive(dot, [0]) == nil)
      try store([0], into: log)
    }

    private func store(_ bytes: [UInt8], into log: MemoryLog) throws {
      let sequence = chains.vector[device]
      let head = StoredHead(device: device, sequence: sequence, digest: chains.digest(of: device))
      _ = try log.append([
        LogAppend(
          stack: chains.stack, policy: .merge, batch: EventBatch([(Dot(device, sequence), bytes)]), heads: [head],
          newestTime: 1000)
      ])
    }
  }

  private static func key(_ number: UInt8) throws -> SigningKey {
    try #require(SigningKey(seed: [UInt8](repeating: number, count: 32)))
  }

  /// What `navsync ui` takes over from its device's store is vetted as what it read at first.
  @Test func whatCameIntoAStoreIsVetted() async throws {
    let owner = try Self.key(200)
    let log = MemoryLog()
    var phone = try Author(1, stack: stack, owner: owner)
    var stranger = try Author(2, stack: stack)
    try phone.push(into: log)
    let history = try await History(stack, in: .store(log.makeReader(), path: "a store"))
    history.vetting = StackVetting(
      stack, by: SpaceTrust(space: stack.space, mode: .required, owner: owner.verifyingKey))
    let loaded = try await LoadedHistory(history, on: .silent)
    #expect(loaded.timeline.count == 1)
    try stranger.push(into: log)
    try phone.push(into: log)
    #expect(try loaded.takeStored())
    #expect(loaded.timeline.devices == [phone.device])
    #expect(loaded.timeline.count == 2 && loaded.history.vetting.withheld == 1)
    // What is held back comes once more, and is still held back.
    try phone.push(into: log)
    #expect(try loaded.takeStored())
    #expect(loaded.timeline.count == 3 && loaded.history.vetting.withheld == 1)
  }

  /// What can't be read is not counted, and what stands behind it is read all the same.
  @Test func aStoreIsReadToItsOwnEnd() async throws {
    let log = MemoryLog()
    var phone = try Author(1, stack: stack)
    var laptop = try Author(2, stack: stack)
    try phone.push(into: log)
    try phone.addUnreadable(to: log)
    try laptop.push(into: log)
    let walked = try await History(stack, in: .store(OneBatchReader(log), path: "a store"))
    var dots: [Dot] = []
    try await walked.walk { item in
      dots.append(item.event.dot)
      return true
    }
    #expect(dots == [Dot(phone.device, 1), Dot(laptop.device, 1)])
    let read = try await History(stack, in: .store(OneBatchReader(log), path: "a store"))
    let loaded = try await LoadedHistory(read, on: .silent)
    #expect(loaded.timeline.devices == [phone.device, laptop.device] && read.unread == 1)
  }
}

/// A reader of a log whose batches are as large as can be read at once.
private final class OneBatchReader: EventLogReader {
  private let log: MemoryLog

  init(_ log: MemoryLog) { self.log = log }

  var epoch: UInt64 { log.epoch }

  func info(of stack: StackName) -> StackInfo? { log.info(of: stack) }

  func stacks(in space: Name?) -> [StackInfo] { log.stacks(in: space) }

  func heads(of stack: StackName) -> [StoredHead] { log.heads(of: stack) }

  func read(_ stack: StackName, after offset: Int, maximumBytes: Int) -> [StoredBatch] {
    log.read(stack, after: offset, maximumBytes: 1)
  }

  func offset(in stack: StackName, lackedBy vector: VersionVector) -> Int { log.offset(in: stack, lackedBy: vector) }

  func offset(in stack: StackName, storedSince milliseconds: Int) -> Int {
    log.offset(in: stack, storedSince: milliseconds)
  }

  func events(of device: DeviceID, in stack: StackName, sequences: ClosedRange<Int>) -> [[UInt8]] {
    log.events(of: device, in: stack, sequences: sequences)
  }

  func snapshot(of stack: StackName) -> StoredSnapshot? { log.snapshot(of: stack) }

  func fact(_ key: String) -> [UInt8]? { log.fact(key) }

  func facts(prefixed prefix: String) -> [(key: String, value: [UInt8])] { log.facts(prefixed: prefix) }
}
