public import NavigationModel

/// What became of an action.
public struct Outcome: Hashable, Sendable {
  /// Why nothing changed.
  public enum Reason: String, Hashable, Sendable, CustomStringConvertible {
    /// There is nothing to close at the root.
    case atRoot
    /// The path is already this one, or no values were given.
    case noChange
    /// What was to be closed is not on top any more: a second "back" before the screen changed.
    case alreadyClosed

    public var description: String {
      switch self {
      case .atRoot: "the stack is at its root"
      case .noChange: "the stack shows that already"
      case .alreadyClosed: "what was to be closed is not on top any more"
      }
    }
  }

  /// The event that the action became, on stable storage; nil if nothing changed.
  public var dot: Dot?
  /// The action as it stands in the log; nil if nothing changed.
  public var action: Action?
  /// Why nothing changed; nil if something did.
  public var reason: Reason?
  /// Whether the intent id had been used before: this is what it came to then, and nothing more was done.
  public var isRepeated: Bool
  /// The shown entries after the action, bottom to top.
  public var entries: [Entry]

  /// Whether the action was made an event.
  public var isChange: Bool { dot != nil }
}
