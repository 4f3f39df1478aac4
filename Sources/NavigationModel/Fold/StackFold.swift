/// From events to a stack: a pure, incremental fold.
///
/// Events are applied in any order that causality allows; replicas that applied the same events show the same entries
/// and report the same conflicts. Applying is O(1) in the size of the history for an event whose author held all that
/// this replica holds, and for the others reads what concerns the entries that they name.
///
/// A value of its own, not copyable, since a copy would be a second arena of all entries: keep it in one actor or thread
/// and enter it once a batch. The rules are those of the semantics document; the tests compare with its vectors.
public struct StackFold: ~Copyable {
  /// Raised whenever the same events would fold to another result or snapshots are written otherwise.
  public static let version = 2

  public let policy: Policy
  var index = CausalIndex()
  var merge: MergeFold
  var register: RegisterFold
  /// Of the newest void event: whether its key is not above all of its causal past. Else it names what its author
  /// could not name.
  package private(set) var newestVoidIsLate = false

  public init(policy: Policy) {
    self.init(
      policy: policy, index: CausalIndex(), merge: MergeFold(), register: RegisterFold(leader: policy.leader))
  }

  init(policy: Policy, index: CausalIndex, merge: MergeFold, register: RegisterFold) {
    self.policy = policy
    self.index = index
    self.merge = merge
    self.register = register
  }

  /// Folds one event. Everything in its context and its author's events before it must have been applied: the caller
  /// admits events first, so anything else is its fault and traps.
  ///
  /// - Returns: whether the event is void: it keeps its dot and does nothing.
  @discardableResult
  public mutating func apply(_ event: Event) -> Bool {
    let past = index.begin(event)
    let isVoid =
      policy == .merge ? merge.apply(event, past, &index) : register.apply(event, past, &index)
    if isVoid { newestVoidIsLate = event.key <= past.highest }
    index.end(past, key: event.key, isVoid: isVoid)
    return isVoid
  }

  /// Whether a context has what the authors of the events that it names held, as far as these are applied.
  public func isClosed(_ context: VersionVector) -> Bool { index.isClosed(context) }

  /// How many events were applied.
  public var count: Int { index.total }

  /// All that was applied.
  public var vector: VersionVector { index.vector }

  /// The highest timestamp of all events: the next event of a device here must be above it.
  public var newestTimestamp: Timestamp { index.newestTimestamp }

  /// The shown entries, bottom to top. O(entries) and, after a change that was not on top, O(open entries).
  public mutating func entries() -> [Entry] {
    if policy == .merge {
      merge.refreshRows(index)
      return merge.rows.map { Entry(id: merge.id(of: $0, index), value: merge.values[Int($0)]) }
    }
    return register.rows.map { Entry(id: register.id(of: $0, index), value: register.values[Int($0)]) }
  }

  /// The identities of the shown entries, bottom to top.
  public mutating func entryIDs() -> [EntryID] {
    if policy == .merge {
      merge.refreshRows(index)
      return merge.rows.map { merge.id(of: $0, index) }
    }
    return register.rows.map { register.id(of: $0, index) }
  }

  /// What the fold had to decide, in the order of ``Conflict``. Of all of history, so it may be long; forks are not
  /// among them, since the fold sees one chain of a device.
  public mutating func conflicts() -> [Conflict] {
    if policy == .merge {
      merge.refreshRows(index)
      return merge.conflicts(index).sorted()
    }
    return register.conflicts(index).sorted()
  }

  /// Lets go of what no later event can name, given what every device is known to hold.
  ///
  /// Under `merge` these are the entries closed by removals in `stable`; the view, the conflicts and the fold of every
  /// later event of a device that holds `stable` stay as they are. The other policies keep what they have.
  public mutating func forget(stable: VersionVector) {
    if policy == .merge { merge.forget(stable: stable, index) }
  }

  /// How many entries, open and closed, are kept to fold later events.
  public var rememberedEntries: Int {
    policy == .merge ? merge.nodes.count - 1 - merge.forgotten : register.nodes.count - 1
  }

  /// How many questions about an author's view needed more than the live tags: a figure for benchmarks.
  public var slowChecks: Int { merge.slowChecks }
}
