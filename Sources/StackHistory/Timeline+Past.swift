package import NavigationModel

/// The stack of some of the events: what causality, and not the log's order, makes a past.
extension Timeline {
  /// After so many events in log order.
  package mutating func fold(through moment: Int) -> StackFold { fold { number, _ in number <= moment } }

  /// Of all events that were made at a time or before. What a device did after an event of a later time is left out
  /// with it: a chain has no holes.
  package mutating func fold(madeBy milliseconds: Int) -> StackFold {
    var leftOut: Set<DeviceID> = []
    return fold { _, event in
      guard event.timestamp.milliseconds <= milliseconds, !leftOut.contains(event.dot.device) else {
        leftOut.insert(event.dot.device)
        return false
      }
      return true
    }
  }

  /// As the author of an event saw it right after: the event and all that its author held. nil if there is no such event.
  package mutating func fold(seenBy dot: Dot) -> StackFold? {
    guard let number = number(of: dot) else { return nil }
    var seen = event(number).context
    seen[dot.device] = dot.sequence
    return fold { _, event in seen.contains(event.dot) }
  }

  private mutating func fold(where isWanted: (Int, Event) -> Bool) -> StackFold {
    var fold = StackFold(policy: policy)
    for number in 1..<(count + 1) {
      let event = event(number)
      if isWanted(number, event) { fold.apply(event) }
    }
    return fold
  }
}
