import EventLog
package import NavigationModel

/// A policy that stands in the place of the one that the log has a stack under, kept beside the log. The policy's own
/// fact is the one that a device keeps when it adopts a policy.
package struct PolicyFact {
  var policy: Policy
  var since: Timestamp

  package init(policy: Policy, since: Timestamp) {
    self.policy = policy
    self.since = since
  }

  /// Nil if there is none.
  init?(of stack: StackName, in log: any EventLogReader) throws(LogError) {
    guard let policy = try log.fact("policy/\(stack)").flatMap({ Policy(String(decoding: $0, as: UTF8.self)) }) else {
      return nil
    }
    self.policy = policy
    let words = try log.fact("policySince/\(stack)").map { String(decoding: $0, as: UTF8.self).split(separator: ".") }
    let numbers = words?.compactMap { Int($0) } ?? []
    since = numbers.count == 2 ? Timestamp(milliseconds: numbers[0], counter: numbers[1]) : .zero
  }

  package func facts(of stack: StackName) -> [(key: String, value: [UInt8])] {
    [
      ("policySince/\(stack)", Array("\(since.milliseconds).\(since.counter)".utf8)),
      ("policy/\(stack)", Array(policy.description.utf8)),
    ]
  }
}
