package import NavigationModel
import WireFormat

/// What is held in memory for others, for who checks that it stays within its bounds.
extension ServerCore {
  /// Bytes of events that wait, for a commit or for their stack.
  package var backlogBytes: Int { backlog }

  /// The most replies that wait for one peer.
  package var mostReplies: Int { sessions.values.map { $0.replies.count }.max() ?? 0 }

  /// The most replies that may wait for one peer.
  package static var repliesAllowed: Int { maximumReplies }

  /// The least and the most credit that a session has, in bytes; nil without sessions.
  package var credits: ClosedRange<Int>? {
    guard let least = sessions.values.map(\.credit).min(), let most = sessions.values.map(\.credit).max() else {
      return nil
    }
    return least...most
  }

  /// What is on stable storage of a stack, as far as the machine was told; nil if it isn't loaded.
  package func stored(_ stack: StackName) -> VersionVector? {
    guard let slot = slots[stack.description], let loaded = stacks[slot], loaded.isLoaded else { return nil }
    var result = VersionVector()
    for (device, stored) in loaded.stored { result[device] = stored.sequence }
    return result
  }
}
