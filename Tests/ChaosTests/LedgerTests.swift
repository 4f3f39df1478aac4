import Chaos
import EventLog
import NavigationModel
import Testing
import WireFormat

/// What the rounds trust: the ledger finds what a store lacks.
@Suite struct LedgerTests {
  private static let name = try! StackName("alice/main")
  private static let device = DeviceID(high: 1, low: 1)
  private static let other = DeviceID(high: 2, low: 2)

  /// A log with a push of each mark, by one device.
  private static func log(_ marks: [String], by device: DeviceID = device) throws -> MemoryLog {
    let log = MemoryLog()
    var chain = ChainDigest(stack: name, device: device)
    var state = AuthorState(device: device)
    var events: [(dot: Dot, bytes: [UInt8])] = []
    for (place, mark) in marks.enumerated() {
      let value = Value(type: "Mark", payload: Array(mark.utf8))
      let event = Event(
        dot: Dot(device, place + 1), context: VersionVector(),
        timestamp: Timestamp(milliseconds: 1000 + place, counter: 0),
        action: .push(on: nil, values: [value]))
      let bytes = try EventCodec.encode(event, after: &state)
      chain.append(bytes)
      events.append((event.dot, bytes))
    }
    let head = StoredHead(device: device, sequence: marks.count, digest: chain.digest)
    _ = try log.append([
      LogAppend(stack: name, policy: .merge, batch: EventBatch(events), heads: [head], newestTime: 1000)
    ])
    return log
  }

  private static func ledger(_ marks: [String]) -> Ledger {
    var ledger = Ledger()
    for (place, mark) in marks.enumerated() { ledger.acted("\(name)", Dot(device, place + 1), mark: mark) }
    return ledger
  }

  private static let marks = ["phone.1.1", "phone.1.2", "phone.1.3"].map(Mark.payload)

  @Test func whatIsThereIsFound() throws {
    let view = try StoreView(of: Self.log(Self.marks))
    #expect(Self.ledger(Self.marks).missing(in: view) == [])
    #expect(view.stacks["alice/main"]?.heads.count == 1)
  }

  @Test func whatIsLackingIsNamed() throws {
    let ledger = Self.ledger(Self.marks)
    let cut = try StoreView(of: Self.log(Array(Self.marks.dropLast())))
    #expect(ledger.missing(in: cut).map(\.dot) == [Dot(Self.device, 3)])
    #expect(ledger.missing(in: try StoreView(of: MemoryLog())).count == 3)
    // Another event in its place is not it.
    let changed = try StoreView(of: Self.log([Self.marks[0], Mark.payload("phone.1.9"), Self.marks[2]]))
    #expect(ledger.missing(in: changed).map(\.mark) == [Self.marks[1]])
  }

  @Test func whatWasActedAgainUnderAnotherIdIsFoundByItsMark() throws {
    var ledger = Self.ledger(Self.marks)
    let again = try StoreView(of: Self.log(Self.marks, by: Self.other))
    #expect(ledger.missing(in: again).count == 3)
    ledger.replaced(Self.device)
    #expect(ledger.missing(in: again) == [])
    let some = try StoreView(of: Self.log(Array(Self.marks.dropFirst()), by: Self.other))
    #expect(ledger.missing(in: some).map(\.mark) == [Self.marks[0]])
  }

  @Test func aLostDiskTakesOnlyWhatNoDaemonHad() throws {
    var ledger = Self.ledger(Self.marks)
    ledger.accepted("\(Self.name)", Dot(Self.device, 2))
    #expect(ledger.accepted == 2)
    #expect(ledger.lostDisk(of: Self.device) == 1)
    #expect(ledger.missing(in: try StoreView(of: MemoryLog())).map(\.dot.sequence) == [1, 2])
  }

  @Test func eachIsHeldToItsOwnPromise() throws {
    var ledger = Self.ledger(Self.marks)
    ledger.accepted("\(Self.name)", Dot(Self.device, 2))
    let nothing = try StoreView(of: MemoryLog())
    #expect(ledger.missing(in: nothing, promised: .daemon).map(\.dot.sequence) == [1, 2])
    #expect(ledger.missing(in: nothing, promised: .device(Self.device)).count == 3)
    #expect(ledger.missing(in: nothing, promised: .device(Self.other)) == [])
  }

  @Test func whatIsActedOnAFailingDiskMayBeLost() throws {
    var ledger = Self.ledger([Self.marks[0]])
    let before = ledger
    ledger.acted("\(Self.name)", Dot(Self.device, 2), mark: Self.marks[1])
    ledger.mayBeLost(of: Self.device, since: before)
    #expect(ledger.missing(in: try StoreView(of: MemoryLog())).map(\.mark) == [Self.marks[0]])
  }
}
