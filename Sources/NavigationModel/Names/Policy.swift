/// How a stack decides between concurrent actions. Belongs to the stack, fixed by its first stored event.
public enum Policy: Hashable, Sendable {
  /// Nothing that a device opened, and that nobody saw and closed, disappears. The default.
  case merge
  /// The stack is what the author of the newest event saw after it: mirrored screens of one person.
  case latest
  /// As `latest`, but events that know more of the leader's come first: a presenter.
  case lead(DeviceID)

  /// The device that leads, under `lead`.
  public var leader: DeviceID? {
    switch self {
    case .merge, .latest: nil
    case .lead(let leader): leader
    }
  }
}

extension Policy: CustomStringConvertible {
  /// `merge`, `latest` or `lead:<device id>`.
  public var description: String {
    switch self {
    case .merge: "merge"
    case .latest: "latest"
    case .lead(let leader): "lead:\(leader)"
    }
  }

  /// Reads the text form, or nil for anything else.
  public init?(_ text: some StringProtocol) {
    switch text {
    case "merge": self = .merge
    case "latest": self = .latest
    case _:
      guard text.hasPrefix("lead:"), let leader = DeviceID(text.dropFirst(5)) else { return nil }
      self = .lead(leader)
    }
  }
}
