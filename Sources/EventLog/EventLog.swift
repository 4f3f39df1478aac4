public import NavigationModel
public import WireFormat

/// How far a device's chain is stored, with what is needed to go on hashing it after a restart.
public struct StoredHead: Hashable, Sendable {
  public var device: DeviceID
  public var sequence: Int
  /// The chain's digest at `sequence`.
  public var digest: Digest

  public init(device: DeviceID, sequence: Int, digest: Digest) {
    self.device = device
    self.sequence = sequence
    self.digest = digest
  }
}

/// What one commit adds to one stack.
public struct LogAppend: Hashable, Sendable {
  public var stack: StackName
  /// Kept if this makes the stack; otherwise ignored.
  public var policy: Policy
  public var batch: EventBatch
  /// The head after the batch of every device that has an event in it.
  public var heads: [StoredHead]
  /// The highest timestamp of the batch, in milliseconds since 1970.
  public var newestTime: Int

  public init(stack: StackName, policy: Policy, batch: EventBatch, heads: [StoredHead], newestTime: Int) {
    self.stack = stack
    self.policy = policy
    self.batch = batch
    self.heads = heads
    self.newestTime = newestTime
  }
}

/// A stored batch with its place.
public struct StoredBatch: Hashable, Sendable {
  /// The offset of the batch's first event; offsets of a stack begin at 1 and have no holes.
  public var firstOffset: Int
  public var batch: EventBatch
  /// When it was stored, in milliseconds since 1970.
  public var storedAt: Int

  public init(firstOffset: Int, batch: EventBatch, storedAt: Int) {
    self.firstOffset = firstOffset
    self.batch = batch
    self.storedAt = storedAt
  }
}

/// What the log has of a stack.
public struct StackInfo: Hashable, Sendable {
  public var stack: StackName
  public var policy: Policy
  /// The offset of the newest event; at least 1.
  public var head: Int
  /// When the newest event was stored, in milliseconds since 1970.
  public var lastStored: Int
  /// How many devices acted on it.
  public var devices: Int

  public init(stack: StackName, policy: Policy, head: Int, lastStored: Int, devices: Int) {
    self.stack = stack
    self.policy = policy
    self.head = head
    self.lastStored = lastStored
    self.devices = devices
  }
}

/// A snapshot as it is stored: opaque to the log.
public struct StoredSnapshot: Hashable, Sendable {
  /// Of the fold that made it; another version's is of no use.
  public var foldVersion: Int
  /// It holds all events up to this offset.
  public var offset: Int
  public var bytes: [UInt8]

  public init(foldVersion: Int, offset: Int, bytes: [UInt8]) {
    self.foldVersion = foldVersion
    self.offset = offset
    self.bytes = bytes
  }
}

/// Reading a log. Calls block on the disk, so a reader belongs to one thread of its own and is not `Sendable`; it never
/// blocks a writer and holds no transaction between calls.
public protocol EventLogReader: AnyObject {
  /// The life of this log: it changes when a log is replaced or went backwards.
  var epoch: UInt64 { get }

  /// What is stored of a stack, nil if nothing.
  func info(of stack: StackName) throws(LogError) -> StackInfo?

  /// The stacks of a space, nil for all, by name.
  func stacks(in space: Name?) throws(LogError) -> [StackInfo]

  /// The heads of a stack's devices, by device; empty if there is no stack.
  func heads(of stack: StackName) throws(LogError) -> [StoredHead]

  /// The batches from the one that holds offset `after + 1` on, as many as fit into `maximumBytes`, but at least one if
  /// there is any. The first batch may begin at or below `after`.
  func read(_ stack: StackName, after offset: Int, maximumBytes: Int) throws(LogError) -> [StoredBatch]

  /// The offset after which everything that `vector` lacks stands: read after it, and filter by dot.
  func offset(in stack: StackName, lackedBy vector: VersionVector) throws(LogError) -> Int

  /// The offset after which every event that was stored at that time or later stands.
  func offset(in stack: StackName, storedSince milliseconds: Int) throws(LogError) -> Int

  /// The canonical bytes of one device's events of these sequences, in order; those not stored are left out.
  func events(of device: DeviceID, in stack: StackName, sequences: ClosedRange<Int>) throws(LogError) -> [[UInt8]]

  /// The newest snapshot of a stack, nil if there is none.
  func snapshot(of stack: StackName) throws(LogError) -> StoredSnapshot?

  /// A small fact kept beside the events, such as a device's id.
  func fact(_ key: String) throws(LogError) -> [UInt8]?

  /// All facts whose key begins so, by key.
  func facts(prefixed prefix: String) throws(LogError) -> [(key: String, value: [UInt8])]
}

/// The durable, append-only sequence of events of one replica: the one writer.
public protocol EventLog: EventLogReader {
  /// Puts all of it on stable storage, or nothing: returns only after `fdatasync`. The result has, for each element, the
  /// offset of its batch's first event.
  ///
  /// The caller has admitted the events; the log checks that each device's run continues its head and throws
  /// `.notNext` otherwise. An empty batch is nothing.
  func append(_ appends: [LogAppend]) throws(LogError) -> [Int]

  /// Keeps a snapshot in place of an older one. Not synced: it can always be made again.
  func keep(_ snapshot: StoredSnapshot, of stack: StackName) throws(LogError)

  /// Keeps a fact, durably; nil removes it.
  func setFact(_ key: String, _ value: [UInt8]?) throws(LogError)

  /// Keeps several facts together, durably.
  func setFacts(_ facts: [(key: String, value: [UInt8])]) throws(LogError)

  /// Another reader of the same log, to be handed to another thread before its first use.
  func makeReader() throws(LogError) -> sending any EventLogReader

  /// Ends the log, with all that belongs to it on stable storage. The log can't be used after it.
  func close() throws(LogError)
}

extension EventLog {
  public func setFacts(_ facts: [(key: String, value: [UInt8])]) throws(LogError) {
    for (key, value) in facts { try setFact(key, value) }
  }
}
