public import NavigationModel

/// A run of one device's events, to be stored. An empty one is nothing.
public struct Append: Hashable, Sendable {
  public var stack: String
  /// Fixes the policy of a stack that doesn't exist; nil is the stack's own, or `merge` for a new one.
  public var policy: Policy?
  public var device: DeviceID
  /// The sequence of the first event; the rest follow without holes.
  public var firstSequence: Int
  /// The device's digest before the first event.
  public var previous: Digest
  /// Canonical events.
  public var events: [[UInt8]]
  public var unknown: UnknownFields = []

  public init(
    stack: String, policy: Policy? = nil, device: DeviceID, firstSequence: Int, previous: Digest, events: [[UInt8]]
  ) {
    self.stack = stack
    self.policy = policy
    self.device = device
    self.firstSequence = firstSequence
    self.previous = previous
    self.events = events
  }
}

/// Everything of a device up to a sequence is on stable storage. Cumulative.
public struct Accepted: Hashable, Sendable {
  public var stack: String
  public var device: DeviceID
  public var throughSequence: Int
  /// The offset of the newest of them.
  public var offset: Int
  public var unknown: UnknownFields = []

  public init(stack: String, device: DeviceID, throughSequence: Int, offset: Int) {
    self.stack = stack
    self.device = device
    self.throughSequence = throughSequence
    self.offset = offset
  }
}

/// The first event of an ``Append`` that is not admissible; what follows it is not stored either.
public struct Rejected: Hashable, Sendable {
  public var stack: String
  public var dot: Dot
  public var code: RefusalCode
  /// For a person: what happened, to what, what to do.
  public var detail: String
  /// Of `sequenceGap`: the sequence that was expected. Otherwise 0.
  public var expectedSequence: Int
  /// Of `missingContext`: what is lacking, the first and last of each device being above what is held.
  public var missing: VersionVector
  /// The daemon's time, in milliseconds since 1970.
  public var serverTime: Int
  public var unknown: UnknownFields = []

  public init(
    stack: String, dot: Dot, code: RefusalCode, detail: String, expectedSequence: Int = 0,
    missing: VersionVector = VersionVector(), serverTime: Int = 0
  ) {
    self.stack = stack
    self.dot = dot
    self.code = code
    self.detail = detail
    self.expectedSequence = expectedSequence
    self.missing = missing
    self.serverTime = serverTime
  }
}
