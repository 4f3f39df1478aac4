import NavigationModel
import WireFormat

/// Several histories under one device id (see ``WireFormat/Fork``). What the author itself brings is refused: it goes on
/// under a new id. What others bring was stored elsewhere, so both histories are kept, each as a copy.
///
/// Who finds a difference copies the history that it has. The copies go to everybody as any chain does, and whoever has
/// the other history copies that one when the first comes: so nobody has to ask for anything, and in the end all have
/// both.
extension ServerCore {
  /// Nobody's: what this daemon adds by itself.
  static let nobody = Peer(.max)

  /// What a recall is for.
  enum ForkTask: Hashable, Sendable {
    /// All of a chain, to be copied.
    case copy(slot: Int, DeviceID)
    /// A few entries, to compare a follower's history with ours.
    case compare(slot: Int, Peer, number: Int, DeviceHead)
  }

  /// A follow whose histories are compared.
  struct Comparison: Hashable, Sendable {
    var number: Int
    var heads: [DeviceHead]
    var follow: Follow
    /// How many are not yet compared.
    var open: Int
    var differing: Set<DeviceID>
  }

  /// Somebody brings another history of a chain; the two differ at that entry or before.
  mutating func forkFound(_ chain: DeviceID, differingAt entry: Int, _ slot: Int, by peer: Peer) {
    let isCopy = stacks[slot]!.chains.author(of: chain) != chain
    guard let session = sessions[peer], session.device != chain, !stacks[slot]!.chains.retired.contains(chain),
      entry > (isCopy ? StackChains.copyOffset : 0), stacks[slot]!.disputes[chain] == nil
    else { return }
    stacks[slot]!.disputes[chain] = entry
    settleForks(slot)
  }

  /// A chain that is a copy begins.
  mutating func noteCopy(_ chain: DeviceID, _ slot: Int) {
    let device = stacks[slot]!.chains.author(of: chain)
    guard device != chain else { return }
    counters.add(to: .forksKept)
    put(
      .log(
        LogRecord(
          .warning, "a device id has several histories, as of a cloned device: all are kept",
          [.init("stack", stacks[slot]!.text), .init("device", device)])))
  }

  /// Reads the chains that are to be copied, as far as all of them is stored.
  mutating func settleForks(_ slot: Int) {
    guard stacks[slot]!.chains.isForked || !stacks[slot]!.disputes.isEmpty, stacks[slot]!.isLoaded else { return }
    let stack = stacks[slot]!
    for chain in Set(stack.disputes.keys).union(stack.chains.unsettled).sorted() {
      guard let stored = stack.stored[chain]?.sequence, stored == stack.chains.vector[chain],
        !stack.settling.contains(chain),
        stack.disputes[chain] != nil || stack.settledAt[chain] != stack.chains.forkChanges
      else { continue }
      stacks[slot]!.settling.insert(chain)
      stacks[slot]!.settledAt[chain] = stack.chains.forkChanges
      let number = number()
      forkRecalls[number] = .copy(slot: slot, chain)
      put(.recall(Recall(number: number, stack: stack.name, device: chain, sequences: 1...stored)))
    }
  }

  mutating func forkRecalled(
    _ task: ForkTask, _ recall: Recall, _ answer: Result<[[UInt8]], StorageFailure>, at moment: Moment
  ) {
    var answer = answer
    if case .success(let entries) = answer, entries.count != recall.sequences.count {
      answer = .failure(StorageFailure("the log lacks events of \(recall.device); verify it"))
    }
    switch task {
    case .copy(let slot, let chain):
      guard stacks[slot]?.name == recall.stack, stacks[slot]!.settling.remove(chain) != nil else { return }
      guard case .success(let entries) = answer, stacks[slot]!.isLoaded else {
        stacks[slot]!.settledAt[chain] = nil
        return
      }
      copy(chain, entries, slot, at: moment)
    case .compare(let slot, let peer, let number, let head):
      guard var comparison = sessions[peer]?.comparing[slot], comparison.number == number else { return }
      guard stacks[slot]!.isLoaded else {
        // It is read anew, and looked at then.
        endComparison(slot, of: peer)
        startWaiting(Stack.Waiting(peer: peer, message: .follow(comparison.follow), bytes: 0), slot)
        return
      }
      switch answer {
      case .failure(let failure):
        return refuseFollow(slot, .storage, failure.detail, from: peer, at: moment)
      case .success(let entries):
        guard var digest = stacks[slot]!.chains.closedDigest(of: head.device, atOrBelow: head.sequence) else {
          preconditionFailure("what is stored is held")
        }
        for entry in entries { digest.append(entry) }
        if digest.digest != head.digest { comparison.differing.insert(head.device) }
        comparison.open -= 1
      }
      sessions[peer]!.comparing[slot] = comparison
      endComparisonIfDone(slot, of: peer, at: moment)
    }
  }

  private mutating func copy(_ chain: DeviceID, _ entries: [[UInt8]], _ slot: Int, at moment: Moment) {
    var runs: [EventBatch.Run]?
    if let entry = stacks[slot]!.disputes.removeValue(forKey: chain) {
      let isCopy = stacks[slot]!.chains.author(of: chain) != chain
      let sequence = entry - (isCopy ? StackChains.copyOffset : 0)
      runs = stacks[slot]!.chains.copy(of: chain, entries: entries, differingAt: sequence)
    } else {
      runs = stacks[slot]!.chains.additions(for: chain, entries: entries)
      if runs?.isEmpty == true { stacks[slot]!.chains.settled(chain) }
    }
    for run in runs ?? [] {
      let parked = Parked(
        peer: Self.nobody, device: run.device, firstSequence: run.firstSequence, previous: nil, events: run.events,
        bytes: 0)
      // What came of it meanwhile is looked at the next time.
      _ = admit(parked, policy: nil, slot, at: moment)
    }
    settleForks(slot)
  }

  // MARK: Followers

  /// Compares a follower's heads with the chains here, and goes on with its follow then. Numbers alone don't show that
  /// two histories are the same, and events carry no digests.
  mutating func compare(_ heads: [DeviceHead], _ follow: Follow, _ slot: Int, from peer: Peer, at moment: Moment) {
    var comparison = Comparison(number: number(), heads: heads, follow: follow, open: 0, differing: [])
    var recalls: [(Recall, DeviceHead)] = []
    for head in heads {
      guard let stored = stacks[slot]!.stored[head.device], (1...stored.sequence).contains(head.sequence) else {
        continue
      }
      if stored.sequence == head.sequence {
        guard stored.digest != head.digest else { continue }
        forkSeen(head, slot, by: peer)
        comparison.differing.insert(head.device)
      } else if head.device == sessions[peer]!.device {
        // It sees that there is more of its own than it has.
      } else if let closed = stacks[slot]!.chains.closedDigest(of: head.device, atOrBelow: head.sequence) {
        if closed.sequence == head.sequence {
          if closed.digest != head.digest { comparison.differing.insert(head.device) }
        } else {
          recalls.append(
            (
              Recall(
                number: number(), stack: stacks[slot]!.name, device: head.device,
                sequences: closed.sequence + 1...head.sequence), head
            ))
        }
      }
    }
    comparison.open = recalls.count
    sessions[peer]!.comparing[slot] = comparison
    stacks[slot]!.comparisons += 1
    for (recall, head) in recalls {
      forkRecalls[recall.number] = .compare(slot: slot, peer, number: comparison.number, head)
      put(.recall(recall))
    }
    endComparisonIfDone(slot, of: peer, at: moment)
  }

  private mutating func endComparisonIfDone(_ slot: Int, of peer: Peer, at moment: Moment) {
    guard let comparison = sessions[peer]?.comparing[slot], comparison.open == 0 else { return }
    endComparison(slot, of: peer)
    follow(
      comparison.heads, differing: comparison.differing, comparison.follow, slot, from: peer, at: moment)
  }

  private mutating func forkSeen(_ head: DeviceHead, _ slot: Int, by peer: Peer) {
    counters.add(to: .forksSeen)
    put(
      .log(
        LogRecord(
          .warning, "a follower holds another event under a dot of ours",
          [
            .init("stack", stacks[slot]!.text), .init("device", head.device), .init("sequence", head.sequence),
            .init("follower", sessions[peer]!.name),
          ])))
  }

  mutating func endComparison(_ slot: Int, of peer: Peer) {
    if sessions[peer]?.comparing.removeValue(forKey: slot) != nil { stacks[slot]!.comparisons -= 1 }
  }
}
