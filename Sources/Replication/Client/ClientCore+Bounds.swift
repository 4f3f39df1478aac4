/// What is on its way or held back, for who checks that it stays within its bounds.
extension ClientCore {
  /// The most bytes of events of one stack that are sent and not answered.
  package var mostBytesInFlight: Int {
    stacks.values.map { $0.inFlight.reduce(0) { $0 + $1.bytes } }.max() ?? 0
  }

  /// What ``mostBytesInFlight`` may come to: the window, and one read over it.
  package static var bytesInFlightAllowed: Int { Followed.windowBytes + (128 << 10) }

  /// The most bytes that are held back for one stack since something before them lacks.
  package var mostBytesHeld: Int { stacks.values.map { $0.gap?.heldBytes ?? 0 }.max() ?? 0 }

  package static var bytesHeldAllowed: Int { Followed.heldBytesAllowed }
}

/// What a session can be in the middle of, for who looks whether all of it was reached.
package enum ClientSituation: String, CaseIterable, Sendable {
  case connecting
  case waitingToConnect = "waiting to connect"
  case greeting
  case refused = "refused by the daemon"
  case asked = "heads are asked for"
  case following
  case live
  case followRefused = "a follow was refused"
  case forked = "another history was found"
  case gap = "a gap in what came"
  case held = "events held back behind a gap"
  case inFlight = "appends in flight"
  case windowFull = "the window is full"
  case givenUp = "appends given up and not answered"
  case waitingToSend = "waiting to send again"
  case blocked = "nothing more is taken"
}

extension ClientCore {
  /// Where the session is now.
  package var situations: Set<ClientSituation> {
    var result: Set<ClientSituation> = []
    switch phase {
    case .stopped, .open: break
    case .waiting: result.insert(.waitingToConnect)
    case .connecting: result.insert(.connecting)
    case .greeting: result.insert(.greeting)
    }
    if case .refused = state { result.insert(.refused) }
    for followed in stacks.values {
      switch followed.stage {
      case .idle: break
      case .asked: result.insert(.asked)
      case .following: result.insert(.following)
      case .refused: result.insert(.followRefused)
      case .forked: result.insert(.forked)
      }
      if followed.isLive { result.insert(.live) }
      if let gap = followed.gap {
        result.insert(.gap)
        if !gap.held.isEmpty { result.insert(.held) }
      }
      if !followed.inFlight.isEmpty { result.insert(.inFlight) }
      if followed.inFlight.count >= Followed.window { result.insert(.windowFull) }
      if followed.inFlight.contains(where: \.isGivenUp) { result.insert(.givenUp) }
      if followed.retryAt != nil { result.insert(.waitingToSend) }
      if followed.isBlocked { result.insert(.blocked) }
    }
    return result
  }
}
