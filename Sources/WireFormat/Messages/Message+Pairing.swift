/// Asks for a rule, from a key that no rule knows: what a person's one-time code is redeemed by. The only message that a
/// stranger may send, and only while a code is open.
public struct Pair: Hashable, Sendable {
  /// The code's secret.
  public var secret: [UInt8]
  /// What the other side would like to be called.
  public var name: String
  public var unknown: UnknownFields = []

  public init(secret: [UInt8], name: String) {
    self.secret = secret
    self.name = name
  }
}

/// The daemon's answer to ``Pair``: the rule that there is now.
public struct Paired: Hashable, Sendable {
  /// What the other side is called.
  public var name: String
  /// A space's name, or `*`.
  public var space: String
  /// Verbs with commas between them.
  public var may: String
  public var unknown: UnknownFields = []

  public init(name: String, space: String, may: String) {
    self.name = name
    self.space = space
    self.may = may
  }
}
