import NavigationModel
import TestSupport
import Testing

@testable import WireFormat

/// Signatures of events, and what they keep a liar from.
@Suite struct VettingTests {
  static func key(_ number: UInt8) throws -> SigningKey {
    try #require(SigningKey(seed: [UInt8](repeating: number, count: 32)))
  }

  /// A device that signs the last event of every commit.
  struct Author {
    let key: SigningKey
    var grant: Grant?
    var chains: StackChains
    var device: DeviceID { key.verifyingKey.device }

    init(_ number: UInt8, stack: StackName, owner: SigningKey?, expires: Int? = nil) throws {
      let key = try VettingTests.key(number)
      self.key = key
      grant = try owner.map {
        Grant(space: stack.space, key: key.verifyingKey, name: try Name("phone"), expires: expires, by: $0)
      }
      chains = StackChains(stack: stack)
    }

    func first() throws -> [UInt8] {
      var author = self
      return try author.commit(1)[0]
    }

    mutating func commit(
      _ count: Int, context: VersionVector = VersionVector(), at time: Int = 1000, isSigned: Bool = true
    ) throws -> [[UInt8]] {
      try (1...count).map { number in
        let sequence = chains.vector[device] + 1
        var event = Event(
          dot: Dot(device, sequence), context: context, timestamp: Timestamp(milliseconds: time + sequence, counter: 0),
          action: .push(on: nil, values: [Value(type: "String", payload: Array("\"\(sequence)\"".utf8))]))
        if isSigned, number == count {
          let seal = EventSeal(key: grant == nil ? key.verifyingKey : nil, grant: grant)
          event = try seal.seal(
            event, of: chains.stack, after: chains.authorState(of: device), previous: chains.digest(of: device),
            by: key)
        }
        return try chains.append(event)
      }
    }
  }

  let stack: StackName
  let owner: SigningKey

  init() throws {
    stack = try StackName("alice/main")
    owner = try Self.key(200)
  }

  private func vetting(_ stack: StackName? = nil) -> Vetting {
    Vetting(stack: stack ?? self.stack, owner: owner.verifyingKey)
  }

  /// How many entries are let through.
  private func passes(
    _ events: [[UInt8]], of device: DeviceID, first: Int = 1, in vetting: inout Vetting
  ) throws -> Int {
    for (place, bytes) in events.enumerated() { try vetting.offer(device, first + place, bytes) }
    let passed = vetting.settle()
    #expect(passed.map(\.bytes) == events.prefix(passed.count).map { $0 } || first > 1)
    return passed.count
  }

  private func passes(_ events: [[UInt8]], of device: DeviceID, under stack: StackName? = nil) throws -> Int {
    var vetting = vetting(stack)
    return try passes(events, of: device, in: &vetting)
  }

  @Test func aSignatureVouchesForAllBeforeIt() throws {
    var phone = try Author(1, stack: stack, owner: owner)
    let events = try phone.commit(5) + phone.commit(1) + phone.commit(100)
    var vetting = vetting()
    #expect(try passes(events, of: phone.device, in: &vetting) == 106)
    #expect(vetting.held == 0 && vetting.refused == 0 && vetting.passed[phone.device] == 106)
    #expect(vetting.standings.map(\.name) == ["phone"])
  }

  @Test func anyFlippedBitIsRefused() throws {
    var phone = try Author(1, stack: stack, owner: owner)
    let events = try phone.commit(3)
    for place in events.indices {
      for bit in 0..<events[place].count * 8 {
        var altered = events
        altered[place][bit / 8] ^= 1 << (bit % 8)
        #expect(try passes(altered, of: phone.device) == 0, "event \(place), bit \(bit)")
      }
    }
  }

  @Test func orderStackDeviceAndCompletenessAreSigned() throws {
    var phone = try Author(1, stack: stack, owner: owner)
    let events = try phone.commit(3)
    let other = try Self.key(2).verifyingKey.device
    #expect(try passes(events, of: phone.device) == 3)
    #expect(try passes([events[1], events[0], events[2]], of: phone.device) == 0)
    #expect(try passes([events[0], events[2]], of: phone.device) == 0)
    #expect(try passes([events[0], events[0], events[1], events[2]], of: phone.device) == 0)
    #expect(try passes(events, of: other) == 0)
    #expect(try passes(events, of: phone.device, under: StackName("alice/other")) == 0)
    #expect(try passes(events, of: phone.device, under: StackName("bob/main")) == 0)
    // Before a first event there is no digest that would tell the stacks apart.
    let one = try Author(1, stack: stack, owner: owner).first()
    #expect(try passes([one], of: phone.device) == 1)
    #expect(try passes([one], of: phone.device, under: StackName("alice/other")) == 0)
  }

  @Test func aTailThatIsCutOffWaitsForItsSignature() throws {
    var phone = try Author(1, stack: stack, owner: owner)
    let events = try phone.commit(2) + phone.commit(3)
    var vetting = vetting()
    #expect(try passes(Array(events.prefix(4)), of: phone.device, in: &vetting) == 2)
    #expect(vetting.standings.first?.held == 2)
    #expect(vetting.standings.first?.reason == .unsigned)
    #expect(try passes([events[4]], of: phone.device, first: 5, in: &vetting) == 3)
    #expect(vetting.held == 0)
    #expect(throws: ChainFault.gap(expected: 6)) { try vetting.offer(phone.device, 7, events[0]) }
  }

  @Test func whatIsTrueTakesThePlaceOfWhatWasForged() throws {
    var phone = try Author(1, stack: stack, owner: owner)
    var forger = try Author(1, stack: stack, owner: nil)
    let events = try phone.commit(1) + phone.commit(3)
    var vetting = vetting()
    #expect(try passes(Array(events.prefix(1)), of: phone.device, in: &vetting) == 1)
    // Unsigned, with a sequence that is due.
    let forged = try forger.commit(4, at: 5000, isSigned: false)
    #expect(try passes(Array(forged[1...]), of: phone.device, first: 2, in: &vetting) == 0)
    #expect(vetting.held == 3)
    // With the signature of another event.
    var copied = events[1]
    copied[2] ^= 1
    #expect(try passes([copied, events[2], events[3]], of: phone.device, first: 2, in: &vetting) == 0)
    #expect(vetting.refused > 0)
    // What came after it had no place, which is no gap.
    #expect(try passes([events[3]], of: phone.device, first: 4, in: &vetting) == 0)
    #expect(try passes(Array(events[1...]), of: phone.device, first: 2, in: &vetting) == 3)
    #expect(vetting.held == 0)
  }

  @Test func onlyTheOwnersGrantsCount() throws {
    var none = try Author(1, stack: stack, owner: nil)
    var vetting = vetting()
    let events = try none.commit(2)
    #expect(try passes(events, of: none.device, in: &vetting) == 0)
    #expect(vetting.standings.first?.reason == .notGranted)
    // It comes later, and covers what was done before.
    none.grant = try Author(1, stack: stack, owner: owner).grant
    #expect(try passes(none.commit(1), of: none.device, first: 3, in: &vetting) == 3)
    var foreign = try Author(3, stack: stack, owner: Self.key(99))
    #expect(try passes(foreign.commit(1), of: foreign.device) == 0)
    var elsewhere = try Author(4, stack: stack, owner: owner)
    elsewhere.grant = try Author(4, stack: StackName("bob/main"), owner: owner).grant
    #expect(try passes(elsewhere.commit(1), of: elsewhere.device) == 0)
    var borrowed = try Author(5, stack: stack, owner: owner)
    borrowed.grant = try Author(1, stack: stack, owner: owner).grant
    #expect(try passes(borrowed.commit(1), of: borrowed.device) == 0)
  }

  @Test func anExpiredGrantCoversWhatWasDoneBefore() throws {
    var phone = try Author(1, stack: stack, owner: owner, expires: 2000)
    var vetting = vetting()
    #expect(try passes(phone.commit(2, at: 1000), of: phone.device, in: &vetting) == 2)
    #expect(try passes(phone.commit(1, at: 2000), of: phone.device, first: 3, in: &vetting) == 0)
    #expect(vetting.standings.first?.reason == .expired)
    phone.grant = try Author(1, stack: stack, owner: owner, expires: 9000).grant
    #expect(try passes(phone.commit(1, at: 3000), of: phone.device, first: 4, in: &vetting) == 2)
  }

  /// What was found once stays so: a device without a grant costs a check an event, however much of it is held.
  @Test(arguments: [nil, 500]) func noSignatureIsCheckedTwice(expires: Int?) throws {
    var phone = try Author(1, stack: stack, owner: expires == nil ? nil : owner, expires: expires)
    var vetting = vetting()
    for sequence in 1...50 {
      #expect(try passes(phone.commit(1), of: phone.device, first: sequence, in: &vetting) == 0)
      #expect(vetting.standings.first?.reason == (expires == nil ? .notGranted : .expired))
    }
    #expect(vetting.held == 50 && vetting.checks == 50)
    // The rest is vouched for by the one that is.
    phone.grant = try Author(1, stack: stack, owner: owner).grant
    #expect(try passes(phone.commit(1), of: phone.device, first: 51, in: &vetting) == 51)
    #expect(vetting.checks == 51)
  }

  @Test func aGrantEndsAfter1970() async throws {
    await #expect(processExitsWith: .failure) {
      let key = try #require(SigningKey(seed: [UInt8](repeating: 1, count: 32)))
      _ = Grant(space: try Name("alice"), key: key.verifyingKey, name: try Name("phone"), expires: 0, by: key)
    }
  }

  @Test func anyFlippedBitOfAGrantIsRefused() throws {
    let grant = try #require(try Author(1, stack: stack, owner: owner, expires: 77).grant)
    #expect(Grant(bytes: grant.bytes) == grant)
    #expect(Grant("\(grant)") == grant)
    #expect(grant.isSigned(by: owner.verifyingKey))
    for bit in 0..<grant.bytes.count * 8 {
      var altered = grant.bytes
      altered[bit / 8] ^= 1 << (bit % 8)
      #expect(Grant(bytes: altered)?.isSigned(by: owner.verifyingKey) != true, "bit \(bit)")
    }
  }

  @Test func whatRestsOnWhatIsHeldWaits() throws {
    var phone = try Author(1, stack: stack, owner: owner)
    var stranger = try Author(2, stack: stack, owner: nil)
    let unknown = try stranger.commit(1)
    var seen = VersionVector()
    seen[stranger.device] = 1
    phone.chains = stranger.chains
    let events = try phone.commit(1, context: seen)
    var vetting = vetting()
    #expect(try passes(unknown, of: stranger.device, in: &vetting) == 0)
    #expect(try passes(events, of: phone.device, in: &vetting) == 0)
    #expect(Set(vetting.standings.compactMap(\.reason)) == [.notGranted, .waiting])
    stranger.grant = try Author(2, stack: stack, owner: owner).grant
    #expect(try passes(stranger.commit(1), of: stranger.device, first: 2, in: &vetting) == 3)
  }

  @Test func aCopyOfAHistoryKeepsItsSignatures() throws {
    var phone = try Author(1, stack: stack, owner: owner)
    let events = try phone.commit(2) + phone.commit(2)
    let run = try #require(phone.chains.copy(of: phone.device, entries: events, differingAt: 2).first)
    #expect(run.device != phone.device)
    #expect(try passes(run.events, of: run.device) == 5)
    var altered = run.events
    altered[3][3] ^= 1
    #expect(try passes(altered, of: run.device) == 3)
  }

  @Test func whatIsHeldIsBounded() throws {
    var stranger = try Author(2, stack: stack, owner: nil)
    let events = try stranger.commit(20, isSigned: false)
    var vetting = Vetting(stack: stack, owner: owner.verifyingKey, room: 10 * 1100)
    #expect(try passes(events, of: stranger.device, in: &vetting) == 0)
    #expect((1...10).contains(vetting.held))
    #expect(vetting.refused == 20 - vetting.held)
  }

  @Test func whatSignsIsKnownByItsBytes() throws {
    // Computed with Python's cryptography and hashlib from the page beside the proto files.
    #expect("\(owner.verifyingKey.device)" == Self.ownerID)
    var phone = try Author(1, stack: stack, owner: owner, expires: 4096)
    #expect(try #require(phone.grant).bytes.hexadecimal == Self.grantBytes)
    #expect(try phone.commit(1)[0].hexadecimal == Self.eventBytes)
    #expect(SigningKey(secretText: owner.secretText) == owner)
    #expect("\(owner)\(String(reflecting: owner))".contains(owner.secretText) == false)
  }

  private static let ownerID = "a53c11d5c2ff37ef2b3d3b435485e9dc"
  private static let grantBytes =
    "05616c6963658a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c0570686f6e6500000000"
    + "00001000c37a008d7e269df6fedc4cc55fc2e84cf0df200b500e4ea24202dc1628149a030492b43f0c44557ad0ce63d2"
    + "b486c0d9542c758470ac41a612588c18eb48740a"
  private static let eventBytes =
    "49d20f010003223122127405616c6963658a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f"
    + "5c0570686f6e650000000000001000c37a008d7e269df6fedc4cc55fc2e84cf0df200b500e4ea24202dc1628149a0304"
    + "92b43f0c44557ad0ce63d2b486c0d9542c758470ac41a612588c18eb48740a7a40d8bc9636fcfa736afec657ba459513"
    + "e2deb2acf889174d37ec4719dc1b3a660b1440177a6484037196edf9df1cde40551d6d682f1363df16ce84ec824efef5"
    + "0b"

  @Test func fieldsThatAreNoSealAreNone() {
    for fields: [UInt8] in [[1], [0x7A, 64], [0x7A, 1, 0], [0x0A, 32], [3, 1], [255, 255, 255]] {
      #expect(EventSeal(fields) == EventSeal())
    }
    // Others' fields stand beside it, of every type.
    let signature = [UInt8](repeating: 7, count: 64)
    #expect(EventSeal([0x1D, 1, 2, 3, 4, 0x7A, 64] + signature).signature == signature)
    #expect(EventSeal([0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x7A, 64] + signature).signature == signature)
    #expect(EventSeal([0x0A, 32] + [UInt8](repeating: 1, count: 32) + [0x1D, 1, 2, 3]) == EventSeal())
    #expect(EventSeal([8, 1, 0x1A, 1, 9, 0x7A, 64] + signature).signature == signature)
    #expect(EventSeal([0x7A, 64] + signature + [8, 1]).signature == nil)
  }
}
