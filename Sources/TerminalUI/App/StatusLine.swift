/// What is shown on the last line about the other devices of a shared stack.
public struct StatusContent: Hashable, Sendable {
  /// A device that is present.
  public struct Device: Hashable, Sendable {
    /// The name that people know it by.
    public var name: String
    /// What it shows; nil if that isn't known.
    public var shows: String?

    public init(name: String, shows: String? = nil) {
      self.name = name
      self.shows = shows
    }
  }

  /// Whether the daemon can be reached.
  public enum Connection: Hashable, Sendable {
    case connected
    case reconnecting
    case offline
  }

  /// The stack, such as `alice/main`.
  public var stack: String
  /// The other devices that are present.
  public var devices: [Device]
  /// Whether the daemon can be reached.
  public var connection: Connection
  /// How many actions of this device aren't with the daemon yet.
  public var waiting: Int
  /// How many conflicts nobody has looked at.
  public var conflicts: Int
  /// What keeps the stack from going on; nil if nothing does.
  public var problem: String?

  public init(
    stack: String, devices: [Device] = [], connection: Connection = .connected, waiting: Int = 0, conflicts: Int = 0,
    problem: String? = nil
  ) {
    self.stack = stack
    self.devices = devices
    self.connection = connection
    self.waiting = waiting
    self.conflicts = conflicts
    self.problem = problem
  }

  /// The content as one line.
  public var text: String {
    var parts = [stack]
    parts += devices.map { device in device.shows.map { "\(device.name): \($0)" } ?? device.name }
    var state = "\(connection)"
    if waiting > 0 { state += ", \(waiting) waiting" }
    parts.append(state)
    if conflicts > 0 { parts.append(conflicts == 1 ? "1 conflict" : "\(conflicts) conflicts") }
    if let problem { parts.append(problem) }
    return parts.joined(separator: " · ")
  }
}

/// The last line of the screen: what the other devices of shared stacks do, and what is to be announced.
///
/// A property of a view reaches it by `@Environment(\.statusLine)`.
@MainActor
public final class StatusLine {
  private let invalidation: Invalidation
  private var contents: [(key: AnyHashable, content: StatusContent)] = []
  private(set) var announcements: [String] = []
  /// Whether what is announced is told in another way than on the line, as where there is no screen.
  var announcesAside = false
  /// Everything that was announced since it was taken last: for the linear output.
  private var unread: [String] = []

  nonisolated init(_ invalidation: Invalidation) { self.invalidation = invalidation }

  /// Shows something about a stack, in place of what was shown for the same key; nil shows nothing more.
  public func set(_ content: StatusContent?, for key: AnyHashable) {
    let index = contents.firstIndex { $0.key == key }
    if let index, let content {
      guard contents[index].content != content else { return }
      contents[index].content = content
    } else if let index {
      contents.remove(at: index)
    } else if let content {
      contents.append((key, content))
    } else {
      return
    }
    invalidation.set()
  }

  /// Tells the person something, such as what another device did. It is shown until the next key.
  public func announce(_ text: String) {
    // No more than can be shown: a screen that is only looked at has no key pressed for days.
    if !announcesAside { announcements = announcements.suffix(1) + [text] }
    unread.append(text)
    invalidation.set()
  }

  /// What is shown, from top to bottom.
  func lines(width: Int) -> [String] {
    // Two, since one may come on the heels of another: what a device did, and that it isn't shown yet.
    let announced = announcements.suffix(2).flatMap { $0.wrapped(toWidth: width, atMost: 3) }
    return announced + contents.map { $0.content.text.truncated(toWidth: width) }
  }

  func clearAnnouncements() {
    guard !announcements.isEmpty else { return }
    announcements = []
    invalidation.set()
  }

  func takeUnread() -> [String] {
    defer { unread = [] }
    return unread
  }
}
