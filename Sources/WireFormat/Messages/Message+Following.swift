public import NavigationModel

/// How far one device's chain is held, and its digest there.
public struct DeviceHead: Hashable, Sendable {
  public var device: DeviceID
  public var sequence: Int
  public var digest: Digest
  public var unknown: UnknownFields = []

  public init(device: DeviceID, sequence: Int, digest: Digest) {
    self.device = device
    self.sequence = sequence
    self.digest = digest
  }
}

/// Where a follower stands.
public enum FollowStart: Hashable, Sendable {
  /// It holds these events; empty is the beginning.
  case vector([DeviceHead])
  /// It holds all up to this offset of the log of this epoch.
  case offset(Int, epoch: UInt64)
}

/// Asks for a stack's events from there on, and for what comes. Never makes a stack.
public struct Follow: Hashable, Sendable {
  public var stack: String
  /// Nil: the stack's own. Another than the stack's is refused.
  public var policy: Policy?
  public var start: FollowStart
  /// Whether ``EventsMessage`` is to carry the authors' states, for a reader without the history before.
  public var wantsAuthorStates: Bool
  /// Between daemons: since when the follower's own log has the stack under ``policy``. The lower (since when, policy)
  /// of both stands.
  public var policySince: Timestamp
  public var unknown: UnknownFields = []

  public init(
    stack: String, policy: Policy? = nil, start: FollowStart = .vector([]), wantsAuthorStates: Bool = false,
    policySince: Timestamp = .zero
  ) {
    self.stack = stack
    self.policy = policy
    self.start = start
    self.wantsAuthorStates = wantsAuthorStates
    self.policySince = policySince
  }
}

/// The answer to ``Follow``; events follow, then ``Live``.
public struct Following: Hashable, Sendable {
  public var stack: String
  /// Whether the stack has any event; if not it goes live with the first append.
  public var exists: Bool
  /// Nil if the stack doesn't exist.
  public var policy: Policy?
  /// The offset of the newest event, 0 if none.
  public var head: Int
  /// All that the daemon holds.
  public var heads: [DeviceHead]
  /// Since when the stack has its policy: the timestamp of the first event, here or at another daemon.
  public var policySince: Timestamp
  public var unknown: UnknownFields = []

  public init(
    stack: String, exists: Bool, policy: Policy?, head: Int, heads: [DeviceHead], policySince: Timestamp = .zero
  ) {
    self.stack = stack
    self.exists = exists
    self.policy = policy
    self.head = head
    self.heads = heads
    self.policySince = policySince
  }
}

/// A stored batch of a stack's events. Always whole; the follower drops by dot what it has.
public struct EventsMessage: Hashable, Sendable {
  public var stack: String
  public var epoch: UInt64
  /// The offset of the event before the batch, as sent to this reader; a gap shows when it isn't the last one seen.
  public var previousOffset: Int
  /// The offset of the batch's first event; offsets begin at 1.
  public var firstOffset: Int
  /// An ``EventBatch``'s bytes.
  public var batch: [UInt8]
  /// Each author's state before its first event of the batch, if asked for and on the feed.
  public var authorStates: [AuthorState]
  public var unknown: UnknownFields = []

  public init(
    stack: String, epoch: UInt64, previousOffset: Int, firstOffset: Int, batch: [UInt8],
    authorStates: [AuthorState] = []
  ) {
    self.stack = stack
    self.epoch = epoch
    self.previousOffset = previousOffset
    self.firstOffset = firstOffset
    self.batch = batch
    self.authorStates = authorStates
  }
}

/// All up to this offset was sent; what comes now is new.
public struct Live: Hashable, Sendable {
  public var stack: String
  public var offset: Int
  public var unknown: UnknownFields = []

  public init(stack: String, offset: Int) {
    self.stack = stack
    self.offset = offset
  }
}

public struct Unfollow: Hashable, Sendable {
  public var stack: String
  public var unknown: UnknownFields = []

  public init(stack: String) { self.stack = stack }
}

/// Asks again for the events of offsets `from ... to` after a gap.
public struct RangeRequest: Hashable, Sendable {
  public var stack: String
  public var epoch: UInt64
  public var from: Int
  public var to: Int
  public var unknown: UnknownFields = []

  public init(stack: String, epoch: UInt64, from: Int, to: Int) {
    self.stack = stack
    self.epoch = epoch
    self.from = from
    self.to = to
  }
}
