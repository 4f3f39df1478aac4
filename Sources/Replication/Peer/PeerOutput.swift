package import NavigationModel
package import WireFormat

/// What a ``PeerCore`` wants done, in order.
package enum PeerOutput: Hashable, Sendable {
  /// Make a socket and connect it to the other daemon; then say `connected`, or `handshakeRefused`.
  case connect
  /// Close the socket, if there is one.
  case disconnect
  /// To the other daemon.
  case send(Message)
  /// To the own daemon, by ``ServerCore/linkSubmitted(_:from:at:)``; its answers come to `ownReceived`.
  case submit(Message)
  /// Answer with `headsRead` before the next input: what ``ServerCore/held(_:)`` has.
  case readHeads(StackName)
  /// Answer with `eventsRead`, at any time: events of the own log.
  case readEvents(Int, ReadOrder)
  /// Answer with `eventRead`, at any time: one event of the own log, to be compared there.
  case readEvent(Int, StackName, Dot)
  /// The other daemon has a stack under that policy since then: to ``ServerCore/policyHeard(_:_:since:at:)``.
  case policyHeard(StackName, Policy, since: Timestamp)
  case log(ServerCore.LogRecord)
}

/// What a link knows of one stack.
struct Linked: Hashable, Sendable {
  /// Events from the other daemon that are to be appended here.
  struct Arrived: Hashable, Sendable {
    var run: EventBatch.Run
    /// What is given back as credit when it is dealt with, and the session that it belongs to.
    var bytes: Int
    var session: Int
  }

  /// Events that were appended here and not answered.
  struct InFlight: Hashable, Sendable {
    var device: DeviceID
    var first: Int
    var last: Int
    var bytes: Int
    var session: Int
  }

  struct Probe: Hashable, Sendable {
    var number: Int
    var dot: Dot
  }

  // Here.
  /// The own daemon said where its log of the stack stands.
  var isFollowed = false
  /// Nil as long as there is no event.
  var policy: Policy?
  /// Since when, as of the last time that the other daemon was asked.
  var policySince = Timestamp.zero
  var local = VersionVector()
  /// The newest offset of the own log.
  var localHead = 0
  /// The own daemon is asked again, after it refused.
  var followAt: Int?

  // There.
  /// What the other daemon has, as far as it was ever heard.
  var remote = VersionVector()
  /// Our heads when the other daemon was asked for its own.
  var asked: [DeviceHead] = []
  /// Up to where each device's chains are the same on both sides, or will be when what is in flight is taken in.
  var agreed = VersionVector()
  var queue = FIFO<Arrived>()
  var inFlight: [InFlight] = []
  /// Our event that is compared there; the queue waits for it.
  var probe: Probe?
  /// The newest order to read events.
  var reading = 0
  /// The other daemon is asked anew from where our log stands.
  var retryAt: Int?
  /// When that was last, and how often in a row.
  var askedAt: Int?
  var attempt = 0
  /// Chains of which the other daemon has another history: nothing of them is taken from there. Both sides copy theirs
  /// (see ``WireFormat/Fork``), and the copies cross the link as any chain.
  var disputed: Set<DeviceID> = []
  /// Our chains to which nothing is added any more, since there are copies.
  var retired: Set<DeviceID> = []
  var problem = ""

  /// Whether a device id has several histories, as far as is known.
  var isForked: Bool { !disputed.isEmpty || !retired.isEmpty }

  var due: Int? { [followAt, retryAt].compactMap(\.self).min() }
}
