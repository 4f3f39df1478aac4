/// What a person or program asks of the stack that it sees, before it is an event.
public enum Intent: Hashable, Sendable {
  /// Put values on top, one above the other.
  case push([Value])
  /// Take so many entries off the top: what `removeLast(_:)` does. More than there are is all of them.
  case pop(Int)
  /// Close just these entries, which must be what is on top, bottom to top: a "back" that knows what it closes.
  case close([EntryID])
  case popToRoot
  /// Make the path these values: an assignment, a deep link.
  case set([Value])
  /// Put a value in place of the top one; at the root this is a push.
  case replace(Value)
}

extension StackFold {
  /// The action that an intent comes to on what is shown now, nil if nothing would change.
  ///
  /// An assignment keeps the longest common prefix: it is a push when values were only added, a pop when they were only
  /// removed, else a set, which puts what stands above a change again as new entries. The action is never void in this
  /// replica. An intent to close entries that are not on top any more, as a second "back" before the screen changed is,
  /// comes to nothing.
  public mutating func action(for intent: Intent) -> Action? {
    let entries = entries()
    switch intent {
    case .push(let values): return values.isEmpty ? nil : .push(on: entries.last?.id, values: values)
    case .pop(let count):
      let top = entries.suffix(max(0, count)).map(\.id)
      return top.isEmpty ? nil : .pop(entries: top)
    case .close(let named):
      return named.isEmpty || entries.suffix(named.count).map(\.id) != named ? nil : .pop(entries: named)
    case .popToRoot: return entries.isEmpty ? nil : .popToRoot
    case .set(let values):
      let kept = zip(entries, values).prefix { $0.value == $1 }.count
      let added = Array(values[kept...])
      let keep = entries[..<kept].map(\.id)
      return switch (kept < entries.count, added.isEmpty) {
      case (false, true): nil
      case (false, false): .push(on: keep.last, values: added)
      case (true, true): kept == 0 ? .popToRoot : .pop(entries: entries[kept...].map(\.id))
      case (true, false): .set(keep: keep, values: added)
      }
    case .replace(let value):
      guard let top = entries.last else { return .push(on: nil, values: [value]) }
      return .replace(entry: top.id, value: value)
    }
  }
}
