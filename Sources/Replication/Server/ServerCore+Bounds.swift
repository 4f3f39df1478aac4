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

/// What a daemon can be in the middle of, for who looks whether all of it was reached.
package enum ServerSituation: String, CaseIterable, Sendable {
  case committing
  case waitingGroups = "commits wait for the one under way"
  case loading = "a stack is loaded"
  case requestsWait = "requests wait for a stack"
  case parked = "events wait to be compared"
  case comparing = "events are compared"
  case behind = "a follower is behind"
  case noCredit = "a follower has no credit"
  case full = "a follower's socket is full"
  case repliesWait = "replies wait for room"
  case reading = "the log is read for a follower"
  case range = "a range is read"
  case away = "a device is away"
  case probing = "who is gone is looked for"
}

extension ServerCore {
  /// Where the machine is now.
  package var situations: Set<ServerSituation> {
    var result: Set<ServerSituation> = []
    if committing != nil { result.insert(.committing) }
    if !formed.isEmpty { result.insert(.waitingGroups) }
    if probeAt != nil { result.insert(.probing) }
    for slot in slots.values {
      guard let stack = stacks[slot] else { continue }
      if !stack.isLoaded { result.insert(.loading) }
      if !stack.waiting.isEmpty { result.insert(.requestsWait) }
      if !stack.parked.isEmpty { result.insert(.parked) }
      if stack.parked.values.contains(where: { $0.first?.recall != nil }) { result.insert(.comparing) }
    }
    for session in sessions.values {
      if session.isFull { result.insert(.full) }
      if session.credit <= 0 { result.insert(.noCredit) }
      if !session.replies.isEmpty { result.insert(.repliesWait) }
      if session.reading != nil { result.insert(.reading) }
      if !session.ranges.isEmpty { result.insert(.range) }
      if session.isAway { result.insert(.away) }
      if session.follows.values.contains(where: { !$0.isAnnounced }) { result.insert(.behind) }
    }
    return result
  }
}
