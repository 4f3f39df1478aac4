import NavigationModel
import WireFormat

extension LogAppend {
  /// Throws `.notNext` unless each device's run continues its head. Traps if a head is missing or isn't the end of the
  /// run: the caller made both.
  func check(against sequence: (DeviceID) -> Int) throws(LogError) {
    precondition(heads.count == batch.authors.count, "an append needs one head for each device of its batch")
    for author in batch.authors {
      let head = sequence(author.device)
      guard author.firstSequence == head + 1 else {
        throw LogError(
          .notNext, about: "\(stack)",
          "events of device \(author.device) begin at \(author.firstSequence), but \(head + 1) is next; "
            + "read the stack's heads and append what follows them")
      }
      precondition(
        self.head(of: author.device)?.sequence == author.lastSequence,
        "the head of \(author.device) isn't its run's end")
    }
  }

  func head(of device: DeviceID) -> StoredHead? { heads.first { $0.device == device } }
}
