import NavigationModel
import TestSupport
import Testing

@testable import WireFormat

/// Digests of chains, and the chains of a stack.
@Suite struct ChainTests {
  let stack: StackName
  let devices: [DeviceID]

  init() throws {
    stack = try StackName("alice/main")
    var generator = Generator(seed: 4)
    devices = (0..<3).map { _ in generator.device() }
  }

  /// Three devices' events in an order that keeps contexts held, as a log would have them.
  private func log(seed: UInt64, count: Int) throws -> [(event: Event, bytes: [UInt8])] {
    var generator = Generator(seed: seed)
    var chains = StackChains(stack: stack)
    return try (0..<count).map { _ in
      let device = generator.pick(devices)
      var event = generator.event(after: chains.authorState(of: device), among: [device])
      event.context = generator.chance(50) ? chains.context(for: device) : chains.authorState(of: device).context
      return (event, try chains.append(event))
    }
  }

  @Test func hashingTakenUpAgainEqualsRolling() throws {
    var generator = Generator(seed: 5)
    let chain = try generator.chain(of: devices[0], among: devices, count: 200)
    var rolling = ChainDigest(stack: stack, device: devices[0])
    var digests = [rolling.digest]
    for link in chain {
      rolling.append(link.bytes)
      digests.append(rolling.digest)
    }
    #expect(digests[0] == .empty)
    #expect(Set(digests).count == digests.count)
    for sequence in stride(from: 64, through: 192, by: 64) {
      for last in [sequence, sequence + 1, 200] {
        var again = ChainDigest(from: digests[sequence], at: sequence)
        for link in chain[sequence..<last] { again.append([1] + link.bytes, in: 1..<link.bytes.count + 1) }
        #expect(again.digest == digests[last])
      }
    }
    var other = ChainDigest(stack: try StackName("alice/other"), device: devices[0])
    other.append(chain[0].bytes)
    #expect(other.digest != digests[1])
  }

  @Test func aCopyIsIndependent() throws {
    var one = ChainDigest(stack: stack, device: devices[0])
    one.append([1, 2, 3])
    var two = one
    two.append([4])
    #expect(one.sequence == 1)
    #expect(one != two)
    one.append([4])
    #expect(one == two)
  }

  @Test(arguments: [UInt64](1...5))
  func aLogIsReceivedAsItWasMade(seed: UInt64) throws {
    let log = try log(seed: seed, count: 400)
    var made = StackChains(stack: stack)
    var received = StackChains(stack: stack)
    for (event, bytes) in log {
      #expect(try made.append(event) == bytes)
      #expect(try received.receive(event.dot, bytes) == event)
      for device in devices {
        var others = received.vector
        others[device] = 0
        #expect(received.context(for: device) == others)
      }
    }
    #expect(made.heads == received.heads)
    #expect(made == received)
    for device in devices {
      let chain = log.filter { $0.event.dot.device == device }
      for sequence in [0, 1, 63, 64, 65, chain.count] {
        var digest = try #require(received.closedDigest(of: device, atOrBelow: sequence))
        for link in chain[digest.sequence..<sequence] { digest.append(link.bytes) }
        #expect(digest.sequence == sequence)
        if sequence == chain.count { #expect(digest.digest == received.digest(of: device)) }
      }
      #expect(received.closedDigest(of: device, atOrBelow: chain.count + 1) == nil)
    }
  }

  @Test func faultsChangeNothing() throws {
    let log = try log(seed: 8, count: 60)
    var chains = StackChains(stack: stack)
    for (event, bytes) in log.prefix(40) { try chains.receive(event.dot, bytes) }
    let before = chains
    let next = log[40]
    let held = chains.vector[next.event.dot.device]
    #expect(throws: ChainFault.duplicate) { try chains.receive(Dot(next.event.dot.device, held), next.bytes) }
    #expect(throws: ChainFault.gap(expected: held + 1)) {
      try chains.receive(Dot(next.event.dot.device, held + 2), next.bytes)
    }
    #expect(throws: ChainFault.malformed(DecodeError(.truncated, at: 0, in: "event"))) {
      try chains.receive(next.event.dot, [])
    }
    let stranger = DeviceID(high: 9, low: 9)
    var state = AuthorState(device: stranger)
    let ahead = Event(
      dot: Dot(stranger, 1), context: [devices[0]: chains.vector[devices[0]] + 2, devices[1]: 1],
      timestamp: .zero, action: .popToRoot)
    let bytes = try EventCodec.encode(ahead, after: &state)
    let lacking = ChainFault.missingContext([devices[0]: chains.vector[devices[0]] + 2])
    #expect(throws: lacking) { try chains.receive(ahead.dot, bytes) }
    #expect(throws: lacking) { try chains.append(ahead) }
    #expect(chains == before)

    // Of a device that is held, too: one event lacking is enough, and what it would have done can still be done.
    let (author, other) = (devices[0], devices[1])
    var context = chains.context(for: author)
    context[other] = chains.vector[other] + 1
    context[stranger] = 1
    let held0 = chains.authorState(of: author)
    var after = held0
    let early = Event(
      dot: Dot(author, held0.sequence + 1), context: context, timestamp: .zero, action: .popToRoot)
    let earlyBytes = try EventCodec.encode(early, after: &after)
    #expect(throws: ChainFault.missingContext([other: chains.vector[other] + 1, stranger: 1])) {
      try chains.receive(early.dot, earlyBytes)
    }
    var oneMore = held0.context
    oneMore[other] = chains.vector[other] + 1
    #expect(throws: ChainFault.missingContext([other: chains.vector[other] + 1])) {
      try chains.append(Event(dot: early.dot, context: oneMore, timestamp: .zero, action: .popToRoot))
    }
    #expect(chains == before)
    let fine = Event(dot: early.dot, context: chains.context(for: author), timestamp: .zero, action: .popToRoot)
    _ = try chains.append(fine)
    var oneAhead = fine.context
    oneAhead[other] += 1
    let next0 = Event(dot: Dot(author, fine.dot.sequence + 1), context: oneAhead, timestamp: .zero, action: .popToRoot)
    #expect(throws: ChainFault.missingContext([other: oneAhead[other]])) { try chains.append(next0) }
  }

  @Test func aRunIsCheckedBeforeItIsTakenIn() throws {
    var generator = Generator(seed: 6)
    let chain = try generator.chain(of: devices[0], among: [devices[0]], count: 100)
    let bytes = chain.map(\.bytes)
    var chains = StackChains(stack: stack)
    for link in chain.prefix(70) { try chains.receive(link.event.dot, link.bytes) }
    let digest = chains.digest(of: devices[0])

    let whole = chains.check(devices[0], firstSequence: 71, previous: digest, events: Array(bytes[70...]))
    #expect(whole.fault == nil && whole.events == chain[70...].map(\.event))
    let prefix = chains.check(devices[0], firstSequence: 71, previous: digest, events: [bytes[70], [0], bytes[71]])
    #expect(prefix.events == [chain[70].event])
    #expect(prefix.faultDot == Dot(devices[0], 72))
    #expect(prefix.fault == .malformed(DecodeError(.unsupported, at: 0, in: "event")))
    let overlap = chains.check(devices[0], firstSequence: 61, previous: .empty, events: Array(bytes[60..<75]))
    #expect(overlap.duplicates == 10 && overlap.events.count == 5 && overlap.firstSequence == 71)
    let fork = chains.check(devices[0], firstSequence: 71, previous: .empty, events: [bytes[70]])
    #expect(fork.fault == .fork(Dot(devices[0], 71)) && fork.events.isEmpty)
    let gap = chains.check(devices[0], firstSequence: 72, previous: digest, events: [bytes[71]])
    #expect(gap.fault == .gap(expected: 71))
    let far = chains.check(devices[0], firstSequence: .max, previous: digest, events: [bytes[71]])
    #expect(far.fault == .gap(expected: 71))

    #expect(chains.vector[devices[0]] == 70)
    chains.commit(prefix)
    #expect(chains.vector[devices[0]] == 71)
    chains.commit(chains.check(devices[0], firstSequence: 71, previous: digest, events: Array(bytes[70...])))
    #expect(chains.heads == [whole.head])
  }
}
