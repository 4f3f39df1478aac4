import Testing

@testable import ZeroMQ

/// What waits at a ROUTER, in turn and within bounds.
@Suite struct InboxTests {
  private func message(_ peer: UInt32, _ number: Int, size: Int = 2) -> PeerMessage {
    var body = [UInt8](repeating: 0, count: max(size, 2))
    (body[0], body[1]) = (UInt8(number >> 8), UInt8(truncatingIfNeeded: number))
    return PeerMessage(peer: Peer(number: peer), body: body)
  }

  private func number(_ message: PeerMessage) -> Int { Int(message.body[0]) << 8 | Int(message.body[1]) }

  /// Who sends one message waits for one of each other's at most, and everybody's come in order.
  @Test func everybodyHasATurn() {
    var inbox = Inbox()
    for number in 0..<1000 { #expect(inbox.add(message(1, number)) == nil) }
    for number in 0..<3 { #expect(inbox.add(message(2, number)) == nil) }
    #expect(inbox.add(message(3, 0)) == nil)
    #expect(inbox.take(3).map(\.peer.number) == [1, 2, 3])
    #expect(inbox.take(3).map(\.peer.number) == [1, 2, 1])
    #expect(inbox.add(message(3, 1)) == nil)
    #expect(inbox.take(4).map(\.peer.number) == [2, 1, 3, 1])
    var next = 5
    while !inbox.isEmpty {
      for message in inbox.take(64) {
        #expect(number(message) == next)
        next += 1
      }
    }
    #expect(next == 1000)
  }

  /// A peer that goes over its bound is dropped with all that it has, and the others keep theirs.
  @Test func whoSendsTooMuchIsMuted() {
    var inbox = Inbox()
    _ = inbox.add(message(2, 7))
    var muted: PeerMessage?
    var sent = 0
    while muted == nil {
      muted = inbox.add(message(1, 0))
      sent += 1
    }
    #expect(sent == Inbox.messagesAPeer + 1)
    #expect(muted?.peer == Peer(number: 1))
    #expect(inbox.isMuted(Peer(number: 1)) && !inbox.isMuted(Peer(number: 2)))
    let ends = [1, 1, 2].map { inbox.endsNow(Peer(number: $0)) }
    #expect(ends == [true, false, false])
    #expect(inbox.take(10).map(number) == [7])
    #expect(inbox.isEmpty)

    sent = 0
    while inbox.add(message(3, 0, size: 100_000)) == nil { sent += 1 }
    #expect(sent == Inbox.bytesAPeer / 100_128)
  }

  /// Many together go over the bound of all: who has the most is dropped, each time.
  @Test func allTogetherAreBounded() {
    var inbox = Inbox()
    for number in 0..<10 { _ = inbox.add(message(1, number, size: 100_000)) }
    var muted: [UInt32] = []
    for round in 0..<200 {
      for peer in UInt32(2)..<40 where !inbox.isMuted(Peer(number: peer)) {
        if let dropped = inbox.add(message(peer, round, size: 100_000)) { muted.append(dropped.peer.number) }
      }
    }
    #expect(!muted.isEmpty && !muted.contains(1))
    #expect(Set(muted).count == muted.count)
    var bytes = 0
    while !inbox.isEmpty { bytes += inbox.take(64).reduce(0) { $0 + $1.body.count } }
    #expect(bytes <= Inbox.allBytes && bytes >= 1_000_000)
  }
}
