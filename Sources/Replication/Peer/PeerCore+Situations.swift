import NavigationModel

/// What a link between daemons can be in the middle of, for who looks whether all of it was reached.
package enum PeerSituation: String, CaseIterable, Sendable {
  case connected
  case queued = "events wait to be appended"
  case inFlight = "events are appended"
  case comparing = "a place of a chain is compared"
  case retrying = "asked again later"
  case waitingForOwn = "the own daemon refused"
  case forked = "another history was found"
  case stopped = "a stack stands still"
  case behind
  case ahead
}

extension PeerCore {
  /// Where the link is now.
  package var situations: Set<PeerSituation> {
    var result: Set<PeerSituation> = []
    if isConnected { result.insert(.connected) }
    for stack in stacks.values {
      if !stack.queue.isEmpty { result.insert(.queued) }
      if !stack.inFlight.isEmpty { result.insert(.inFlight) }
      if stack.probe != nil { result.insert(.comparing) }
      if stack.retryAt != nil { result.insert(.retrying) }
      if stack.followAt != nil { result.insert(.waitingForOwn) }
      if stack.isForked { result.insert(.forked) }
      if !stack.isForked, !stack.problem.isEmpty { result.insert(.stopped) }
      if !stack.local.covers(stack.remote) { result.insert(.behind) }
      if !stack.remote.covers(stack.local) { result.insert(.ahead) }
    }
    return result
  }
}
