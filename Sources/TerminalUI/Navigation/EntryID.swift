import Locking

/// The identity of an entry of a path: two entries with equal values are told apart by it.
///
/// A screen's state belongs to its entry. So whoever brings an entry from elsewhere (another device) gives it the same
/// identity each time; a path that is made here gives each entry that is appended a new one.
package struct EntryID: Hashable, Sendable {
  private let number: UInt64

  private static let last = Locked<UInt64>(0)

  /// A new identity, unlike any other in this process.
  package init() {
    number = EntryID.last.withLock { last in
      last += 1
      return last
    }
  }
}

/// The identity of a screen of a stack.
enum ScreenID: Hashable, Sendable {
  case root
  /// Of a value on the path.
  case entry(EntryID)
  /// Of a view that was pushed without a value.
  case view(EntryID)
}
