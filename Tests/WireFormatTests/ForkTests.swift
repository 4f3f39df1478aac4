import NavigationModel
import TestSupport
import Testing

@testable import WireFormat

/// Several histories under one device id, and events that can't be read.
@Suite struct ForkTests {
  private static let main = try! StackName("alice/main")
  private static let device = DeviceID(high: 0, low: 7)
  private static let other = DeviceID(high: 0, low: 8)

  /// A device's events: so many that all have, then its own.
  private static func history(_ common: Int, _ own: Int, _ name: String, at milliseconds: Int = 1000) -> [[UInt8]] {
    var chains = StackChains(stack: main)
    return (1...common + own).map { sequence in
      let isOwn = sequence > common
      let event = Event(
        dot: Dot(device, sequence), context: VersionVector(),
        timestamp: Timestamp(milliseconds: (isOwn ? milliseconds : 0) + sequence, counter: 0),
        action: .push(
          on: nil, values: [Value(type: "String", payload: Array("\"\(isOwn ? name : "c")\(sequence)\"".utf8))]))
      do { return try chains.append(event) } catch { preconditionFailure("\(error)") }
    }
  }

  private static func take(_ run: EventBatch.Run, into claims: inout StackClaims) throws(ChainFault) {
    for (place, bytes) in run.events.enumerated() {
      try claims.receive(Dot(run.device, run.firstSequence + place), bytes)
    }
  }

  /// Copies what is held of retired chains, until all of it is in copies.
  private static func settle(_ claims: inout StackClaims, _ entries: [DeviceID: [[UInt8]]]) throws(ChainFault) {
    for (chain, all) in entries where claims.chains.unsettled.contains(chain) {
      for run in claims.chains.additions(for: chain, entries: all) ?? [] { try take(run, into: &claims) }
    }
  }

  @Test func aCopysIdTellsWhatItIs() {
    let fork = Fork(device: Self.device, sequence: 300, digest: Digest(high: 1, low: 2))
    #expect(Fork(fork.bytes, in: 0..<fork.bytes.count, under: fork.id) == fork)
    #expect(Fork.mayBeCopy(fork.id) && !Fork.mayBeCopy(Self.device))
    // Under another id, or with anything changed, cut or added, it is none.
    #expect(Fork(fork.bytes, in: 0..<fork.bytes.count, under: DeviceID(high: fork.id.high, low: 1)) == nil)
    for place in fork.bytes.indices {
      var bytes = fork.bytes
      bytes[place] ^= 1
      #expect(Fork(bytes, in: 0..<bytes.count, under: fork.id) == nil)
      #expect(Fork(fork.bytes, in: 0..<place, under: fork.id) == nil)
    }
    #expect(Fork(fork.bytes + [0], in: 0..<fork.bytes.count + 1, under: fork.id) == nil)
    // No canonical event begins so.
    var author = AuthorState(device: Self.device)
    #expect(throws: DecodeError.self) { try EventCodec.decode(fork.bytes, after: &author) }
  }

  /// Whichever history a replica had, and whichever copy came first, it ends with the same.
  @Test(arguments: [(0, 1, 1), (0, 3, 1), (4, 1, 3), (63, 2, 1), (64, 1, 1), (70, 5, 9)], [1000, 5000])
  func bothSidesEndWithTheSame(_ lengths: (Int, Int, Int), _ time: Int) throws {
    let (common, here, there) = lengths
    let histories = [
      Self.history(common, here, "here"), Self.history(common, there, "there", at: time),
    ]
    var sides: [StackClaims] = []
    for history in histories {
      var claims = StackClaims(stack: Self.main)
      for (place, bytes) in history.enumerated() { try claims.receive(Dot(Self.device, place + 1), bytes) }
      sides.append(claims)
    }
    // One side sees that they differ where the shorter ends, and copies what it has.
    let shown = min(histories[0].count, histories[1].count)
    let copy = sides[0].chains.copy(of: Self.device, entries: histories[0], differingAt: shown)
    for place in 0...1 {
      for run in copy { try Self.take(run, into: &sides[place]) }
      #expect(sides[place].chains.retired == [Self.device])
    }
    try Self.settle(&sides[0], [Self.device: histories[0]])
    let answer = try #require(sides[1].chains.additions(for: Self.device, entries: histories[1]))
    #expect(answer.count == 1 && answer[0].firstSequence == 1)
    for place in 0...1 { for run in answer { try Self.take(run, into: &sides[place]) } }
    #expect(sides[0].chains.additions(for: Self.device, entries: histories[0]) == [])
    #expect(sides[1].chains.additions(for: Self.device, entries: histories[1]) == [])
    for place in 0...1 { sides[place].settled(Self.device) }
    #expect(sides[0].all == sides[1].all)
    #expect(sides[0].chains.liveHeads == sides[1].chains.liveHeads)
    #expect(sides[0].chains.reach == [Self.device: max(histories[0].count, histories[1].count)])
    let admission = sides[0].admission
    #expect(admission.forks == [Dot(Self.device, common + 1)] && sides[0].chains.forks == admission.forks)
    // The earlier one is folded; of equal times the one with the lower digest.
    let digests = histories.map { history in
      var digest = ChainDigest(stack: Self.main, device: Self.device)
      for bytes in history.prefix(common + 1) { digest.append(bytes) }
      return digest.digest
    }
    let isFirst = time > 1000 || digests[0] < digests[1]
    #expect(admission.folded.count == histories[isFirst ? 0 : 1].count)
    #expect(admission.rivals.count == (isFirst ? there : here))
    #expect(sides[0].chains.main(of: Self.device) == sides[1].chains.main(of: Self.device))
    // Nothing is added under the device's own id any more, and a copy that isn't what it says is refused.
    let refused = sides[0].chains
    var chains = refused
    let run = chains.take(
      Self.device, firstSequence: histories[0].count + 1, previous: nil, events: [histories[0][0]], notAfter: .max)
    #expect(run.count == 0 && run.fault == .fork(Dot(Self.device, histories[0].count + 1)))
    #expect(chains == refused)
    var empty = StackChains(stack: Self.main)
    let untrue = Fork(device: Self.device, sequence: 1, digest: Digest(high: 9, low: 9))
    try empty.receive(Dot(untrue.id, 1), untrue.bytes)
    #expect(throws: ChainFault.self) { try empty.receive(Dot(untrue.id, 2), histories[0][0]) }
  }

  /// An event of a newer kind is held with what comes after it; neither it nor what rests on it is folded.
  @Test func whatCantBeReadIsHeld() throws {
    var newer = StackChains(stack: Self.main)
    var claims = StackClaims(stack: Self.main)
    let events = Self.history(2, 0, "")
    for (place, bytes) in events.enumerated() { try claims.receive(Dot(Self.device, place + 1), bytes) }
    let unknown: [UInt8] = [0x06, 1, 2, 3]
    #expect(try claims.receive(Dot(Self.device, 3), unknown) == nil)
    #expect(try claims.receive(Dot(Self.device, 4), [0xFF]) == nil)
    #expect(claims.chains.hasUnreadable && claims.chains.vector[Self.device] == 4)
    // Somebody who can read it goes on from it, somebody else from what is before.
    for (place, bytes) in (events + [unknown]).enumerated() { try newer.receive(Dot(Self.device, place + 1), bytes) }
    let above = try newer.append(
      Event(
        dot: Dot(Self.other, 1), context: [Self.device: 3], timestamp: Timestamp(milliseconds: 9, counter: 0),
        action: .popToRoot))
    #expect(try claims.receive(Dot(Self.other, 1), above) != nil)
    #expect(claims.admission.events.map(\.dot) == [Dot(Self.device, 1), Dot(Self.device, 2)])
    #expect(claims.admission.held == [Dot(Self.other, 1)])
    // First-hand it is refused; brought along it is taken in as it is.
    var chains = StackChains(stack: Self.main)
    let strict = chains.take(Self.device, firstSequence: 1, previous: nil, events: [unknown], notAfter: .max)
    #expect(strict.count == 0)
    let kept = chains.take(
      Self.device, firstSequence: 1, previous: nil, events: [unknown], notAfter: .max, keepsUnknown: true)
    #expect(kept.count == 1 && kept.fault == nil)
  }
}
