import NavigationModel
import WireFormat

extension ServerCore {
  /// Admitted events that go to stable storage together.
  struct Group: Sendable {
    /// Whom to tell when a batch is stored: a peer that sent events of a device.
    struct Thanks: Hashable, Sendable {
      var peer: Peer
      var device: DeviceID
      /// Where its appends begin.
      var firsts: [Int]
      /// Where the rest of an append begins whose first part is in the batch before.
      var rest: Int?
      var throughSequence: Int
      /// The place of the last of them in the batch, from 0.
      var place: Int
    }

    /// A batch, and what follows from its being stored.
    struct Part: Sendable {
      var slot: Int
      var commit: CommitPart
      var thanks: [Thanks]
      /// The place in the batch of each author's last event.
      var lastPlaces: [Int]
      /// Of the events that were sent, by whom: what it counts for in the backlog. The daemon's own copies are no more than
      /// is held.
      var bytes: [Peer: Int]
    }

    /// A batch that still grows.
    struct Open: Sendable {
      var runs: [EventBatch.Run] = []
      var count = 0
      var bytes = 0
      /// Of those that were sent and not copied by the daemon itself.
      var sentBytes: [Peer: Int] = [:]
      /// What it takes in a message, at most.
      var weight = 0
      var newestTime = 0
      /// The authors' states before the batch, in the order of their first event.
      var states: [AuthorState] = []
      var lastPlaces: [Int] = []
      /// An author's place in `states`.
      var authors: [DeviceID: Int] = [:]
      var thanks: [Thanks] = []

      /// Takes in a run of events that were admitted.
      ///
      /// - Parameter isFirst: whether an append begins with it.
      mutating func add(
        _ run: EventBatch.Run, _ taken: StackChains.TakenRun, _ size: Int, isFirst: Bool, from peer: Peer
      ) {
        newestTime = max(newestTime, taken.newestTime)
        bytes += size
        if peer != ServerCore.nobody { sentBytes[peer, default: 0] += size }
        weight += Group.weight(of: run.events.count, size)
        count += run.events.count
        let place = count - 1
        let last = run.firstSequence + run.events.count - 1
        if !runs.isEmpty, runs[runs.count - 1].device == run.device {
          runs[runs.count - 1].events += run.events
        } else {
          runs.append(run)
        }
        if let author = authors[run.device] {
          lastPlaces[author] = place
        } else {
          authors[run.device] = states.count
          states.append(taken.before)
          lastPlaces.append(place)
        }
        if let newest = thanks.last, newest.peer == peer, newest.device == run.device {
          thanks[thanks.count - 1].throughSequence = last
          thanks[thanks.count - 1].place = place
          if isFirst { thanks[thanks.count - 1].firsts.append(run.firstSequence) }
        } else {
          thanks.append(
            Thanks(
              peer: peer, device: run.device, firsts: isFirst ? [run.firstSequence] : [],
              rest: isFirst ? nil : run.firstSequence, throughSequence: last, place: place))
        }
      }

      func closed(_ slot: Int, of stack: borrowing Stack) -> Part {
        let batch = EventBatch(runs: runs)
        let heads = batch.authors.map {
          DeviceHead(device: $0.device, sequence: $0.lastSequence, digest: stack.chains.digest(of: $0.device))
        }
        return Part(
          slot: slot,
          commit: CommitPart(
            stack: stack.name, policy: stack.policy ?? .merge, batch: batch, heads: heads, newestTime: newestTime,
            authorStates: states),
          thanks: thanks, lastPlaces: lastPlaces, bytes: sentBytes)
      }
    }

    /// What so many events of one author with so many bytes take in a batch, at most: their author's line, and the
    /// place of the author and the length before each.
    static func weight(of count: Int, _ bytes: Int) -> Int { 16 + 8 + 3 + count * (2 + 3) + bytes }

    var parts: [Part] = []
    /// By the stack's slot.
    var open: [Int: Open] = [:]
    var bytes = 0
  }
}
