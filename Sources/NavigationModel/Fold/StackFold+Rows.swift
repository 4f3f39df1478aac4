/// What is shown by number, for readers that look at the stack after every event of a long history.
extension StackFold {
  /// The shown entries, bottom to top. A number stands for the same entry as long as the fold lives and forgets nothing.
  package mutating func rows() -> [Int32] {
    guard policy == .merge else { return register.rows }
    merge.refreshRows(index)
    return merge.rows
  }

  /// The entry of a number that ``rows()`` gave, shown or not.
  package func entry(_ row: Int32) -> Entry {
    policy == .merge
      ? Entry(id: merge.id(of: row, index), value: merge.values[Int(row)])
      : Entry(id: register.id(of: row, index), value: register.values[Int(row)])
  }

  /// The conflicts about entries that are shown: `branches` and `kept`. O(shown entries); none under `latest` and
  /// `lead`, whose conflicts are about events.
  package mutating func shownConflicts() -> [Conflict] {
    guard policy == .merge else { return [] }
    merge.refreshRows(index)
    return merge.rowConflicts(index)
  }

  /// Numbers that change whenever ``shownConflicts()`` do, and are quicker to get.
  package mutating func conflictSignature() -> [Int32] {
    guard policy == .merge else { return [] }
    merge.refreshRows(index)
    return merge.conflictSignature
  }
}
