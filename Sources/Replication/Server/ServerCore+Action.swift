package import NavigationModel
package import WireFormat

extension ServerCore {
  /// What the I/O side is to do, in order.
  package enum Action: Hashable, Sendable {
    /// Send one frame to each of these peers, without waiting. What the socket says of it comes back as
    /// ``ServerCore/socketFull(_:for:at:)`` or ``ServerCore/peerGone(_:at:)``. Once a peer was full, everything else
    /// for it in the same list of actions is full too, unsent.
    case send(to: [Peer], bytes: [UInt8], kind: SendKind)
    /// Read a stack from the log, through a ``StackLoader``: answered by `stackLoaded` or `stackNotLoaded`.
    case load(StackName)
    /// Put it on stable storage, whole or not at all: answered by `appendsDurable` or `appendsFailed`. There is never
    /// more than one under way.
    case commit(Commit)
    /// Read batches for a follower: answered by `batchesRead` or `readFailed`.
    case read(Read)
    /// Read stored events to compare them with: answered by `recalled` or `recallFailed`.
    case recall(Recall)
    /// List the stacks of a space, nil for all: answered by `listed`.
    case list(Name?, for: Peer)
    /// Keep a device's display name beside the log.
    case keepName(DeviceID, String)
    /// Broadcast what is now on stable storage.
    case publish(EventsMessage)
    /// The peer has no session any more; drop what the I/O side knows of it.
    case forget(Peer)
    case log(LogRecord)
  }

  /// What a frame is, so that the core knows what to do when it could not be sent.
  package enum SendKind: Hashable, Sendable {
    /// Must arrive: queued in the core when the socket is full.
    case reply
    /// Events of a stack: the follower's cursor goes back to that offset, unless it was made after that number, and the
    /// follower has seen no more than to the other.
    case events(StackName, after: Int, seen: Int, isRange: Bool, number: Int)
    /// The cursor is at the head: said again when there is room, unless events went back meanwhile. Until then the
    /// follower has seen no more than to that offset.
    case live(StackName, seen: Int, number: Int)
    /// May be lost.
    case presence
    /// Only shows whether the peer is there still. May be lost.
    case probe
  }

  /// What one group commit puts into the log.
  package struct Commit: Hashable, Sendable {
    /// Counts up from 1.
    package var number: Int
    package var parts: [CommitPart]
  }

  /// A batch of one stack. A stack may have several in one commit; their order counts.
  package struct CommitPart: Hashable, Sendable {
    package var stack: StackName
    /// Kept if this makes the stack.
    package var policy: Policy
    package var batch: EventBatch
    /// The head after the batch of every device that has an event in it, in the order of the batch's authors.
    package var heads: [DeviceHead]
    /// The highest timestamp of the batch, in milliseconds since 1970.
    package var newestTime: Int
    /// Each author's state before the batch, in the order of the batch's authors.
    package var authorStates: [AuthorState]
  }

  /// Where a read begins.
  package enum ReadStart: Hashable, Sendable {
    case offset(Int)
    /// After the offset that holds all before what this vector lacks.
    case vector(VersionVector)
  }

  /// Batches of a stack wanted for a peer.
  package struct Read: Hashable, Sendable {
    package var number: Int
    package var stack: StackName
    package var start: ReadStart
    package var maximumBytes: Int
    /// Whether each author's state before its first event of each batch is wanted too.
    package var wantsAuthorStates: Bool
    package var peer: Peer
  }

  /// A batch as it was read.
  package struct ReadBatch: Hashable, Sendable {
    package var firstOffset: Int
    package var batch: EventBatch
    /// Empty unless asked for.
    package var authorStates: [AuthorState]

    package init(firstOffset: Int, batch: EventBatch, authorStates: [AuthorState] = []) {
      self.firstOffset = firstOffset
      self.batch = batch
      self.authorStates = authorStates
    }
  }

  /// Stored events wanted to compare a resend with.
  package struct Recall: Hashable, Sendable {
    package var number: Int
    package var stack: StackName
    package var device: DeviceID
    package var sequences: ClosedRange<Int>
  }

  /// The answer to ``Recall``.
  package struct Recalled: Hashable, Sendable {
    /// The canonical events, in order.
    package var events: [[UInt8]]
    /// The offset of the last of them.
    package var offset: Int

    package init(events: [[UInt8]], offset: Int) {
      self.events = events
      self.offset = offset
    }
  }
}
