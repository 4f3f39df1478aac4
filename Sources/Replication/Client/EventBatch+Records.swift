package import WireFormat

extension EventBatch {
  /// All of its events, in log order, to be gone through by a loop.
  package var records: [Record] {
    var result: [Record] = []
    result.reserveCapacity(count)
    func add(_ record: Record) { result.append(record) }
    forEach(add)
    return result
  }
}
