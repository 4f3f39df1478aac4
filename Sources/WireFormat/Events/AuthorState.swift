public import NavigationModel

/// What a canonical event is written against: its author's previous event. The author's chain, and nothing else,
/// decides the state, so every reader of the chain has the same.
public struct AuthorState: Hashable, Sendable {
  public var device: DeviceID
  /// The sequence of the last event, 0 before the first.
  public var sequence: Int
  public var timestamp: Timestamp
  /// Of the last event, the author left out.
  public var context: VersionVector
  /// Devices in the order of their first mention by the author; an event names a device by its place here. The author
  /// is always at place 0.
  public var table: [DeviceID]
  /// The entry of the last value that the last event put on the stack, nil if it put none. An event that acts on it
  /// doesn't spell it.
  public var top: EntryID?
  public var unknown: UnknownFields = []

  /// The most devices that one author can mention: twice what a stack can have, so that naming devices that never were
  /// can't make look-ups slow.
  public static let maximumDevices = 8192

  /// Before the author's first event.
  public init(device: DeviceID) {
    self.device = device
    sequence = 0
    timestamp = .zero
    context = VersionVector()
    table = [device]
  }
}
