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
  public var unknown: UnknownFields = []

  /// Before the author's first event.
  public init(device: DeviceID) {
    self.device = device
    sequence = 0
    timestamp = .zero
    context = VersionVector()
    table = [device]
  }
}
