/// A hybrid logical clock's reading (Kulkarni et al., "Logical Physical Clocks", 2014): wall time as far as the clocks
/// agree, and never behind anything that the author had seen.
public struct Timestamp: Hashable, Sendable, Comparable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  public var milliseconds: Int
  /// Tells apart events of one millisecond.
  public var counter: Int

  /// The largest magnitude of either number that is accepted: exact in every reader's numbers, JSON ones too.
  public static let maximumMagnitude = 1 << 53 - 1

  public static let zero = Timestamp(milliseconds: 0, counter: 0)

  @inlinable
  public init(milliseconds: Int, counter: Int) {
    self.milliseconds = milliseconds
    self.counter = counter
  }

  @inlinable
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds != right.milliseconds
      ? left.milliseconds < right.milliseconds : left.counter < right.counter
  }

  /// The stamp of an event that is made now by a device whose highest seen timestamp is `self`.
  ///
  /// - Parameter now: the device's wall clock, in milliseconds since 1970. It may be behind; the stamp never is.
  @inlinable
  public func next(at now: Int) -> Timestamp {
    now > milliseconds
      ? Timestamp(milliseconds: now, counter: 0) : Timestamp(milliseconds: milliseconds, counter: counter + 1)
  }
}

/// The order of events: by timestamp, then by author. Total over all events, whatever their causality; it extends
/// causality for events that are not void.
public struct EventKey: Hashable, Sendable, Comparable {
  public var timestamp: Timestamp
  public var device: DeviceID

  @inlinable
  public init(_ timestamp: Timestamp, _ device: DeviceID) {
    self.timestamp = timestamp
    self.device = device
  }

  @inlinable
  public static func < (left: EventKey, right: EventKey) -> Bool {
    left.timestamp != right.timestamp ? left.timestamp < right.timestamp : left.device < right.device
  }
}
