public import NavigationModel

/// Why an event can't be written: a reader would refuse it.
public enum EncodeError: Error, Hashable, Sendable {
  /// Not the author's next event.
  case notNext(expected: Dot)
  /// A sequence, a timestamp or an index beyond ±(2^53 − 1), or below its least value.
  case numberOutOfRange
  /// A context names its own author.
  case contextNamesAuthor
  /// A context holds less of a device than the author's previous one.
  case contextShrank(DeviceID)
  /// An author mentions more than ``AuthorState/maximumDevices``.
  case tooManyDevices
  /// A value's type has no name.
  case namelessType(place: Int)
  /// A value is over ``NavigationModel/Value/maximumSize``.
  case valueTooLarge(place: Int, size: Int)
  /// A payload is not one JSON text without line breaks and without space around it.
  case notJSON(place: Int, DecodeError)
  /// The event is over ``EventCodec/maximumSize``.
  case eventTooLarge(size: Int)
}

extension EncodeError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notNext(let expected): "the event is not its author's next one, \(expected)"
    case .numberOutOfRange: "a number of the event is out of range; the highest is \(Dot.maximumSequence)"
    case .contextNamesAuthor: "the event's context names its own author"
    case .contextShrank(let device): "the event's context holds less of \(device) than its author's previous event"
    case .tooManyDevices: "the author mentions more than \(AuthorState.maximumDevices) devices"
    case .namelessType(let place): "value \(place + 1) has no type name; name its type"
    case .valueTooLarge(let place, let size):
      "value \(place + 1) has \(size) bytes; at most \(Value.maximumSize) are allowed"
    case .notJSON(let place, let error): "the payload of value \(place + 1) can't be kept: \(error)"
    case .eventTooLarge(let size):
      "the event has \(size) bytes; at most \(EventCodec.maximumSize) are allowed: act in smaller steps"
    }
  }
}
