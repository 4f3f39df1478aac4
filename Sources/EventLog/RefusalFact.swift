public import NavigationModel

/// How a device's log keeps that a daemon didn't take its events of a stack: one fact a stack, the newest refusal, until
/// the events are taken.
public struct RefusalFact: Hashable, Sendable {
  /// When it was refused, in milliseconds since 1970, by the device's clock.
  public var time: Int
  /// Why, in words for people.
  public var reason: String

  public init(time: Int, reason: String) {
    self.time = time
    self.reason = reason
  }

  /// What the keys begin with.
  public static let prefix = "refused/"

  /// The key of a stack's.
  public static func key(of stack: StackName) -> String { prefix + stack.description }

  /// The fact's value: the time and the reason, with a space between.
  public var value: [UInt8] { Array("\(time) \(reason)".utf8) }

  /// Nil for what is no such fact.
  public init?(value: [UInt8]) {
    let parts = String(decoding: value, as: UTF8.self).split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let time = Int(parts[0]) else { return nil }
    self.init(time: time, reason: String(parts[1]))
  }
}
