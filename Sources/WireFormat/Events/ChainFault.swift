public import NavigationModel

/// Why an event can't be taken into a stack's chains.
public enum ChainFault: Error, Hashable, Sendable {
  /// An event of this dot is there; whether it is the same one shows by its bytes and the digest before it.
  case duplicate
  /// Events before it are lacking; the sequence that comes next is named.
  case gap(expected: Int)
  /// The author's digest before the event is another one: this is another history under the same id.
  case fork(Dot)
  /// The events of the context that are not held: of each device lacking, the number that the context wants.
  case missingContext(VersionVector)
  /// Not a canonical event, or one of a newer format (its code is then `unsupported`).
  case malformed(DecodeError)
  /// An own event that no reader would take.
  case unwritable(EncodeError)
}

extension ChainFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .duplicate: "an event with this number is already held"
    case .gap(let expected): "events are lacking before it; the next one expected is \(expected)"
    case .fork(let dot): "the history before \(dot) differs from the one that is held under the same device id"
    case .missingContext(let lacking): "the event knows of events that are not held: \(lacking)"
    case .malformed(let error): error.description
    case .unwritable(let error): error.description
    }
  }
}
