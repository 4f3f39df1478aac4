/// What came at a ROUTER and wasn't handed over yet: a message of each peer in turn, so that who sends much delays itself.
///
/// libzmq could hold peers back instead, by the receiver's high-water mark. It mustn't: see ``SocketOptions/receiveLimit``.
/// What waits here is bounded, and a peer that goes over the bound is *muted*: what it sent and sends is dropped, and its
/// connection is ended when the next comes, which tells what connection it is.
struct Inbox {
  /// Of one peer.
  static let messagesAPeer = 1 << 16
  static let bytesAPeer = 16 << 20
  /// Of all peers: the one that takes the most is muted.
  static let allBytes = 64 << 20
  /// How many of the muted are remembered; one that is forgotten is muted again soon.
  static let mutedRemembered = 4096

  private struct Line {
    /// The oldest last.
    var front: [PeerMessage] = []
    var back: [PeerMessage] = []
    var bytes = 0
    var count: Int { front.count + back.count }

    mutating func popFirst() -> PeerMessage? {
      if front.isEmpty { (front, back) = (back.reversed(), []) }
      guard let message = front.popLast() else { return nil }
      bytes -= Inbox.weight(message)
      return message
    }
  }

  private var lines: [Peer: Line] = [:]
  /// Whose turn it is; each that has something is in it once. The next is at `start`.
  private var order: [Peer] = []
  private var start = 0
  private var bytes = 0
  private var muted: Set<Peer> = []
  private var mutedInOrder: [Peer] = []
  /// Muted, and not heard since.
  private var toEnd: Set<Peer> = []

  var isEmpty: Bool { start == order.count }

  func isMuted(_ peer: Peer) -> Bool { !muted.isEmpty && muted.contains(peer) }

  /// Whether a muted peer's connection is to be ended: once.
  mutating func endsNow(_ peer: Peer) -> Bool { toEnd.remove(peer) != nil }

  /// Bytes of a message that waits, with what keeping it takes.
  private static func weight(_ message: PeerMessage) -> Int { message.body.count + 128 }

  /// - Returns: a peer that is muted from now on, because it went over a bound.
  mutating func add(_ message: PeerMessage) -> PeerMessage? {
    let peer = message.peer
    if lines[peer] == nil {
      lines[peer] = Line()
      order.append(peer)
    }
    lines[peer]!.back.append(message)
    lines[peer]!.bytes += Self.weight(message)
    bytes += Self.weight(message)
    if lines[peer]!.count > Self.messagesAPeer || lines[peer]!.bytes > Self.bytesAPeer {
      mute(peer)
      return message
    }
    guard bytes > Self.allBytes, let most = lines.max(by: { $0.value.bytes < $1.value.bytes }) else { return nil }
    let last = most.value.back.last ?? most.value.front[0]
    mute(most.key)
    return last
  }

  private mutating func mute(_ peer: Peer) {
    bytes -= lines.removeValue(forKey: peer)?.bytes ?? 0
    order.removeSubrange(..<start)
    start = 0
    order.removeAll { $0 == peer }
    guard muted.insert(peer).inserted else { return }
    mutedInOrder.append(peer)
    toEnd.insert(peer)
    guard mutedInOrder.count > Self.mutedRemembered else { return }
    let first = mutedInOrder.removeFirst()
    muted.remove(first)
    toEnd.remove(first)
  }

  /// The next messages, one of each peer in turn.
  mutating func take(_ limit: Int) -> [PeerMessage] {
    var result: [PeerMessage] = []
    while result.count < limit, start < order.count {
      let peer = order[start]
      start += 1
      guard let message = lines[peer]?.popFirst() else { preconditionFailure("who has a turn has a message") }
      bytes -= Self.weight(message)
      result.append(message)
      if lines[peer]!.count > 0 { order.append(peer) } else { lines[peer] = nil }
    }
    if start == order.count || start > 4096 {
      order.removeSubrange(..<start)
      start = 0
    }
    return result
  }
}
