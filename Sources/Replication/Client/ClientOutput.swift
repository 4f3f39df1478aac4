package import NavigationModel
package import WireFormat

/// What a ``ClientCore`` wants done, in order.
package enum ClientOutput: Hashable, Sendable {
  /// Make a socket and connect it; then say `connected`, or `handshakeRefused`.
  case connect
  /// Close the socket, if there is one.
  case disconnect
  case send(Message)
  /// Answer with `headsRead` before the next input: where our log of that stack stands.
  case readHeads(StackName)
  /// Answer with `headsChecked` before the next input: these are the daemon's heads; are any of them on another chain
  /// than ours?
  case checkHeads(StackName, [DeviceHead])
  /// Answer with `eventsRead` before the next input.
  case readEvents(ReadOrder)
  /// Admit and store a batch; then say `persisted` and `consumed` with the bytes named here.
  case deliver(StackName, EventBatch, firstOffset: Int, bytes: Int)
  /// The daemon has the stack under this policy.
  case policy(StackName, Policy)
  /// The daemon has that device's events up to the sequence on stable storage. Less than before after a daemon lost
  /// data: then they wait again.
  case acknowledged(StackName, DeviceID, throughSequence: Int)
  /// The daemon's time, in milliseconds since 1970, was told in the middle of a session.
  case time(Int)
  /// The daemon doesn't take an event; `isWaiting` if it will be sent again without anybody doing anything.
  case rejected(StackName, Dot, RefusalCode, detail: String, isWaiting: Bool)
  /// The daemon doesn't let the stack be followed; `isWaiting` as above.
  case refused(StackName, RefusalCode, reason: String, isWaiting: Bool)
  /// Chains differ: the daemon holds other events under the names of ours, or more of ours than we do. Nothing more is
  /// sent or received of the stack until it is followed again.
  case forked(StackName, [DeviceID])
  /// All that the daemon had at that moment was delivered.
  case live(StackName)
  case presence(StackName, PeerPresence)
  /// An answer to a request: a listing, a report, a refusal.
  case answer(Message)
  case state(ConnectionState)
  /// A session began; the daemon's time in milliseconds since 1970. Comes before any `readHeads`.
  case opened(serverTime: Int, Welcome)
}

/// Which events to read from our own log: those after an offset that a daemon lacks.
package struct ReadOrder: Hashable, Sendable {
  package var stack: StackName
  /// An offset of our own log; nil: the offset after which all that the vector lacks stands.
  package var after: Int?
  /// What the daemon has: it is left out.
  package var lackedBy: VersionVector
  package var maximumEvents: Int
  /// Of canonical bytes; a single larger event comes all the same.
  package var maximumBytes: Int
}

extension EventRun {
  /// Events in parts that are each within bounds, but have one event at least.
  package static func parts(of events: [[UInt8]], _ maximumEvents: Int, _ maximumBytes: Int) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var start = 0
    var bytes = 0
    for (place, event) in events.enumerated() {
      if place > start, place - start == maximumEvents || bytes + event.count > maximumBytes {
        parts.append(start..<place)
        (start, bytes) = (place, 0)
      }
      bytes += event.count
    }
    if start < events.count { parts.append(start..<events.count) }
    return parts
  }
}

/// A run of one device's events from our own log, ready to be appended.
package struct EventRun: Hashable, Sendable {
  package var device: DeviceID
  package var firstSequence: Int
  /// The device's digest before the first event.
  package var previous: Digest
  /// Canonical events, at least one.
  package var events: [[UInt8]]

  package init(device: DeviceID, firstSequence: Int, previous: Digest, events: [[UInt8]]) {
    self.device = device
    self.firstSequence = firstSequence
    self.previous = previous
    self.events = events
  }

  package var lastSequence: Int { firstSequence + events.count - 1 }
}

/// Another device on a stack, as far as it was heard of.
package struct PeerPresence: Hashable, Sendable {
  package var device: DeviceID
  package var name: String
  package var state: Presence.State
  /// The top entry that it shows, nil at the root.
  package var top: EntryID?

  package init(device: DeviceID, name: String, state: Presence.State, top: EntryID?) {
    self.device = device
    self.name = name
    self.state = state
    self.top = top
  }
}

/// How a client stands to its daemon.
package enum ConnectionState: Hashable, Sendable {
  /// Nobody asked for a connection yet, or it was ended.
  case stopped
  /// No daemon answers yet; it is tried on.
  case connecting
  /// There was a session and it broke; it is tried on.
  case reconnecting
  case connected
  /// A daemon is there and won't have us; it is tried again, but rarely.
  case refused(RefusalCode, reason: String)
}
