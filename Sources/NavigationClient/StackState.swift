public import NavigationModel

/// How a client stands to its daemon.
public enum Connection: Hashable, Sendable {
  /// No connection is wanted.
  case offline
  /// No daemon answered yet.
  case connecting
  /// There was a connection; it is being made again.
  case reconnecting
  /// The daemon answers.
  case connected
  /// A daemon is there and won't have this client; the reason is for a person.
  case refused(reason: String, isNotAuthorised: Bool)
}

/// Another device that shows the stack.
public struct DevicePresence: Hashable, Sendable {
  /// Its id, of this incarnation.
  public var device: DeviceID
  /// Its display name, as it gave it.
  public var name: String
  /// Nothing was heard of it for half a minute.
  public var isAway: Bool
  /// The top entry that it shows, nil at the root.
  public var top: EntryID?
}

/// A stack as one replica shows it at one moment.
public struct StackState: Sendable {
  /// Which stack it is.
  public var stack: StackName
  /// How it decides between concurrent actions.
  public var policy: Policy
  /// The shown entries, bottom to top; the root is not among them.
  public var entries: [Entry]
  /// What was decided between concurrent actions, in all of the stack's history.
  public var conflicts: [Conflict]
  /// Those of `conflicts` that came since the stack was opened or ``Stack/markConflictsSeen()`` was called.
  public var newConflicts: [Conflict]
  /// How this client stands to its daemon.
  public var connection: Connection
  /// Whether all that the daemon had when the stack was followed is in here, and new events come as they happen.
  public var isLive: Bool
  /// Own actions that no daemon has accepted yet. They are safe on this device.
  public var waiting: Int
  /// What keeps them, or the stack, from going on; nil if nothing does.
  public var problem: ClientError?
  /// What nobody vouches for, by device, where the space wants everything signed: it is not in here.
  public var withheld: [WithheldEvents]
  /// The other devices that show the stack, by name.
  public var presence: [DevicePresence]
  /// The newest change; nil if there was none since the stack was opened.
  public var lastChange: StackChange?
  /// How many events are shown: all that are held, but those of other histories under a device's id, and those that need
  /// a newer version.
  public var eventCount: Int
  /// All that is shown.
  public var vector: VersionVector

  /// The values shown, bottom to top.
  public var values: [Value] { entries.map(\.value) }
  /// What is on top, nil at the root.
  public var top: Entry? { entries.last }
  /// Whether nothing is shown but the root.
  public var isAtRoot: Bool { entries.isEmpty }

  /// The whole path as one Swift type.
  ///
  /// - Throws: ``ClientError`` with the code `.badValue` for the first entry that is of another type.
  public func path<Element: Decodable>(of element: Element.Type, type: String? = nil) throws(ClientError) -> [Element] {
    var result: [Element] = []
    for entry in entries { result.append(try entry.value.decode(element, type: type)) }
    return result
  }
}

/// One event and what it came to.
public struct StackChange: Sendable {
  /// Goes up by one with every change of a stack in this process; a jump means that the reader was too slow and missed
  /// some.
  public var number: Int
  /// The event's name: its author and number.
  public var dot: Dot
  /// When its author did it.
  public var timestamp: Timestamp
  /// What its author did.
  public var action: Action
  /// The author's display name, empty if it isn't known.
  public var author: String
  /// Whether this device did it.
  public var isOwn: Bool
  /// Whether it does nothing, by the rules.
  public var isVoid: Bool
  /// The shown entries after it, bottom to top.
  public var entries: [Entry]
}
