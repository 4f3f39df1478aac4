/// What went wrong, in terms of what an app can do about it.
public struct ClientError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure. More may come, so a `switch` needs a `default`.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A name that isn't one; the message has the rule.
    public static let badName = Code(rawValue: "badName")
    /// A value that isn't JSON, isn't of the type asked for, or is over its limit.
    public static let badValue = Code(rawValue: "badValue")
    /// Another process uses this device; the message names it.
    public static let deviceInUse = Code(rawValue: "deviceInUse")
    /// The local store can't be read or written: disk full, read-only, damaged, made by a newer version. What was done
    /// before is safe; the action that failed was not done.
    public static let storage = Code(rawValue: "storage")
    /// Nothing came of it in the time that was given. It may still happen.
    public static let timedOut = Code(rawValue: "timedOut")
    /// The daemon doesn't know this client's key, or doesn't let it do that.
    public static let notAuthorised = Code(rawValue: "notAuthorised")
    /// The stack has another policy than the one asked for.
    public static let policyMismatch = Code(rawValue: "policyMismatch")
    /// The daemon refuses for another reason; the message has it.
    public static let refused = Code(rawValue: "refused")
    /// The stack has events that only a newer version can read.
    public static let needsNewerVersion = Code(rawValue: "needsNewerVersion")
    /// The daemon holds another history under this device's id, as after a backup was restored.
    public static let fork = Code(rawValue: "fork")
    /// More entries than a stack may show, or more than a limit otherwise.
    public static let tooLarge = Code(rawValue: "tooLarge")
    /// The device or observer was closed.
    public static let closed = Code(rawValue: "closed")
    /// No daemon can be asked: there is no connection.
    public static let unreachable = Code(rawValue: "unreachable")
  }

  /// What kind of failure it is, for programs.
  public var code: Code
  /// What it happened to: a stack, a folder, a type, an endpoint.
  public var about: String
  /// What happened and what to do, for a person.
  public var message: String
  /// What it came from, nil if it began here.
  public var underlying: (any Error)?
  /// Whether the same call may work later without anything being repaired.
  public var isRetriable: Bool

  /// An error of a program's own that is to look like the library's.
  public init(
    _ code: Code, about: String, _ message: String, _ underlying: (any Error)? = nil, isRetriable: Bool = false
  ) {
    self.code = code
    self.about = about
    self.message = message
    self.underlying = underlying
    self.isRetriable = isRetriable
  }

  public var description: String {
    about.isEmpty || message.hasPrefix(about + " ") ? message : "\(about): \(message)"
  }
}
