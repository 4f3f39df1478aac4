/// Everything that a daemon counts: nothing is accepted, dropped, refused or held back without one of these.
package enum ServerCounter: Int, CaseIterable, Hashable, Sendable {
  case sessionsOpened
  /// The connection went, or the peer was silent for too long.
  case sessionsLost
  /// Cut off by the daemon: more replies than are queued.
  case sessionsCut
  /// They sent far more than they were served.
  case peersMuted
  case messagesReceived
  case bytesReceived
  case messagesMalformed
  case messagesWithoutSession
  case requestsRefused
  /// Of those that were refused: the key may not.
  case requestsNotAuthorised
  case eventsAccepted
  /// Sent again, and there already.
  case eventsAcceptedAgain
  case eventsRejected
  case rejectedFork
  case rejectedSequenceGap
  case rejectedMissingContext
  case rejectedClockAhead
  case rejectedStorage
  case rejectedBusy
  /// A follower showed another digest than the daemon's under the same dot.
  case forksSeen
  /// Copies of histories under one device id that came or were made.
  case forksKept
  case commits
  case commitsFailed
  case bytesCommitted
  case batchesSent
  case eventsSent
  case bytesSent
  /// A follower had no credit, or its socket was full, when there was something for it.
  case fellBehind
  case socketFull
  case repliesQueued
  case statesLeftOut
  case presenceRelayed
  case presenceDropped
  case stacksLoaded
  case stacksFailed
  case stacksLetGo
  case reads
  case readsFailed
  case recalls
  case pings

  /// Words in lower case joined by underscores, as in a metrics exposition.
  package var name: String {
    var words = ""
    for character in "\(self)" {
      if character.isUppercase { words += "_" }
      words += character.lowercased()
    }
    return words
  }
}

extension ServerCore {
  /// What was counted since the daemon started.
  package struct Counters: Hashable, Sendable {
    private var values = [Int](repeating: 0, count: ServerCounter.allCases.count)

    package subscript(_ counter: ServerCounter) -> Int { values[counter.rawValue] }

    mutating func add(_ count: Int = 1, to counter: ServerCounter) { values[counter.rawValue] += count }

    /// Those that counted something, in the order of their declaration.
    package var nonzero: [(counter: ServerCounter, value: Int)] {
      ServerCounter.allCases.compactMap { self[$0] == 0 ? nil : ($0, self[$0]) }
    }
  }
}
