import CZeroMQ
import Glibc

/// The buffers that a loop reads into, kept from turn to turn.
struct ReceivedBatch: ~Copyable {
  private var peers: [PeerMessage] = []
  private var bodies: [[UInt8]] = []
  private var publications: [Publication] = []
  private var head = Frame()
  private var body = Frame()

  /// Reads what a socket has, up to the limit of a batch, and hands it over.
  mutating func read<Handler: LoopHandler>(
    _ place: OpenSocket, _ loop: Loop, _ handler: inout Handler, _ now: Moment
  ) {
    switch place.kind {
    case .router:
      readPeers(place, loop, &handler, now)
      if !peers.isEmpty { handler.received(peers, on: place.id, at: now) }
      peers = []
    case .dealer:
      readBodies(place, loop)
      if !bodies.isEmpty { handler.received(bodies, on: place.id, at: now) }
      bodies.removeAll(keepingCapacity: true)
    case .sub:
      readPublications(place, loop)
      if !publications.isEmpty { handler.published(publications, on: place.id, at: now) }
      publications.removeAll(keepingCapacity: true)
    case .xpub:
      let changes = readSubscriptions(place)
      if !changes.isEmpty { handler.subscriptionsChanged(changes, on: place.id, at: now) }
    case .pair, .rep:
      preconditionFailure("a loop opens no \(place.kind)")
    }
  }

  /// Reads more than it hands over, so that nothing waits in libzmq, whose queues have no bound.
  private mutating func readPeers<Handler: LoopHandler>(
    _ place: OpenSocket, _ loop: Loop, _ handler: inout Handler, _ now: Moment
  ) {
    for _ in 0..<Loop.readLimit {
      guard place.socket.receive(into: &head) else { break }
      let peer = head.withBytes { Peer(routingID: $0) }
      guard head.hasMore, place.socket.receive(into: &body) else {
        loop.malformed += 1
        continue
      }
      place.heard(body)
      if let peer, place.inbox.isMuted(peer) {
        loop.mutedMessages += 1
        if place.inbox.endsNow(peer), let descriptor = body.descriptor { place.end(descriptor) }
        _ = skipRest(of: place)
        continue
      }
      let key = place.isGated ? body.user() : nil
      let bytes = body.bytes()
      guard !skipRest(of: place), let peer, key != nil || !place.isGated else {
        loop.malformed += 1
        continue
      }
      if let muted = place.inbox.add(PeerMessage(peer: peer, key: key, body: bytes)) {
        handler.muted(muted.peer, key: muted.key, on: place.id, at: now)
      }
    }
    peers = place.inbox.take(Loop.batchLimit)
  }

  private mutating func readBodies(_ place: OpenSocket, _ loop: Loop) {
    for _ in 0..<Loop.batchLimit {
      guard place.socket.receive(into: &body) else { return }
      if skipRest(of: place) {
        loop.malformed += 1
      } else {
        bodies.append(body.bytes())
      }
    }
  }

  private mutating func readPublications(_ place: OpenSocket, _ loop: Loop) {
    for _ in 0..<Loop.batchLimit {
      guard place.socket.receive(into: &head) else { return }
      guard head.hasMore, place.socket.receive(into: &body), !skipRest(of: place) else {
        loop.malformed += 1
        continue
      }
      publications.append(Publication(topic: head.bytes(), body: body.bytes()))
    }
  }

  private mutating func readSubscriptions(_ place: OpenSocket) -> [SubscriptionChange] {
    var changes: [SubscriptionChange] = []
    for _ in 0..<Loop.batchLimit {
      guard place.socket.receive(into: &body) else { break }
      place.heard(body)
      // One frame of 0 or 1 and the topic; anything else is a message of an XSUB, which nobody asked for.
      if skipRest(of: place) { continue }
      body.withBytes { bytes in
        guard let first = bytes.first, first <= 1 else { return }
        changes.append(SubscriptionChange(isSubscribed: first == 1, topic: [UInt8](bytes.dropFirst())))
      }
    }
    return changes
  }

  /// Reads away further frames of the message whose last frame was read into `body`.
  /// - Returns: whether there were any.
  private mutating func skipRest(of place: OpenSocket) -> Bool {
    guard body.hasMore else { return false }
    while body.hasMore, place.socket.receive(into: &body) {}
    return true
  }
}

extension Peer {
  /// The peer of a routing id that libzmq made: a zero and four bytes (zmq_socket(3), ROUTER). A peer can choose another
  /// one for itself; such a one is not served.
  init?(routingID bytes: UnsafeRawBufferPointer) {
    guard bytes.count == 5, bytes[0] == 0 else { return nil }
    number = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
  }

  /// Runs the body with the routing id.
  func withRoutingID<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let bytes = (
      UInt8(0), UInt8(truncatingIfNeeded: number >> 24), UInt8(truncatingIfNeeded: number >> 16),
      UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)
    )
    return withUnsafeBytes(of: bytes, body)
  }
}
