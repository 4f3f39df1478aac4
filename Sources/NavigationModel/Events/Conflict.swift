/// What the fold had to decide between concurrent actions, or found wrong. Part of the fold's result: the same on every
/// replica that holds the same events. Nothing is lost by any of them; the log has every event.
public enum Conflict: Hashable, Sendable {
  /// More than one child of an entry (nil: of the root) is open; the children by id.
  case branches(on: EntryID?, entries: [EntryID])
  /// An open entry was named by a removal that had not seen what was put above it.
  case kept(entry: EntryID, removedBy: Dot)
  /// Under `latest` and `lead`: an event that the shown stack is not built on, and that would show otherwise.
  case overridden(Dot)
  /// A void event: it keeps its dot and does nothing.
  case noop(Dot)
  /// Two events with one dot; the one that is folded is the earlier by (timestamp, digest).
  case fork(Dot)
}

/// By kind (branches, fork, kept, noop, overridden), then by what it names.
extension Conflict: Comparable {
  public static func < (left: Conflict, right: Conflict) -> Bool {
    switch (left, right) {
    case (.branches(let leftOn, let leftEntries), .branches(let rightOn, let rightEntries)):
      if leftOn == rightOn { return leftEntries.lexicographicallyPrecedes(rightEntries) }
      guard let leftOn, let rightOn else { return leftOn == nil }
      return leftOn < rightOn
    case (.kept(let leftEntry, let leftDot), .kept(let rightEntry, let rightDot)):
      return leftEntry != rightEntry ? leftEntry < rightEntry : leftDot < rightDot
    case (.fork(let left), .fork(let right)), (.noop(let left), .noop(let right)),
      (.overridden(let left), .overridden(let right)):
      return left < right
    case _: return left.kind < right.kind
    }
  }

  private var kind: Int {
    switch self {
    case .branches: 0
    case .fork: 1
    case .kept: 2
    case .noop: 3
    case .overridden: 4
    }
  }
}

/// One shown entry.
public struct Entry: Hashable, Sendable {
  public var id: EntryID
  public var value: Value

  @inlinable
  public init(id: EntryID, value: Value) {
    self.id = id
    self.value = value
  }
}
