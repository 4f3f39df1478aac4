/// One event's name: the sequence number that its author gave it. A device's events are 1, 2, 3 … without holes.
public struct Dot: Hashable, Sendable, Comparable {
  public var device: DeviceID
  /// From 1 on; at most ``maximumSequence``.
  public var sequence: Int

  /// The highest sequence number that is accepted: exact in every reader's numbers, JSON ones too.
  public static let maximumSequence = 1 << 53 - 1

  @inlinable
  public init(_ device: DeviceID, _ sequence: Int) {
    self.device = device
    self.sequence = sequence
  }

  @inlinable
  public static func < (left: Dot, right: Dot) -> Bool {
    left.device != right.device ? left.device < right.device : left.sequence < right.sequence
  }
}

extension Dot: CustomStringConvertible {
  /// `device:sequence`.
  public var description: String { "\(device):\(sequence)" }
}

/// One entry's identity: the dot of the event that pushed it and the place of its value in that event, from 0.
public struct EntryID: Hashable, Sendable, Comparable {
  public var dot: Dot
  /// From 0 on, bottom to top.
  public var index: Int

  @inlinable
  public init(_ dot: Dot, _ index: Int) {
    self.dot = dot
    self.index = index
  }

  @inlinable
  public static func < (left: EntryID, right: EntryID) -> Bool {
    left.dot != right.dot ? left.dot < right.dot : left.index < right.index
  }
}

extension EntryID: CustomStringConvertible {
  /// `device:sequence:index`.
  public var description: String { "\(dot):\(index)" }
}
