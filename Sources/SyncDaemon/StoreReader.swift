package import EventLog
import NavigationModel
import Replication
import WireFormat

/// The thread that reads the log: loads stacks, and reads for followers. A simulation calls ``answer(_:)`` itself.
package final class StoreReader {
  let log: any EventLogReader
  let lines: DaemonLog
  private var outbox = Outbox()
  /// Where the last reads with authors' states ended, newest last.
  private var walks: [AuthorWalk] = []
  private var jobs: JobQueue<StoreThreads.ReadJob>?

  static let pageBytes = 1 << 20
  static let keptWalks = 8

  package init(_ log: any EventLogReader, _ lines: DaemonLog) {
    self.log = log
    self.lines = lines
  }

  /// Does one job; nil if there is nothing to tell.
  package func answer(_ job: StoreThreads.ReadJob) -> DaemonHandler.Command? {
    switch job {
    case .attach: nil
    case .load(let stack): load(stack)
    case .read(let read): self.read(read)
    case .recall(let recall): self.recall(recall)
    case .list(let space, let peer): list(space, peer)
    case .wish(let wish): find(wish)
    }
  }

  func run(_ jobs: JobQueue<StoreThreads.ReadJob>) {
    self.jobs = jobs
    while let batch = jobs.next() {
      for job in batch where !jobs.isDropped {
        if case .attach(let mailbox) = job {
          outbox.attach(mailbox)
        } else if let command = answer(job) {
          outbox.post(command)
        }
      }
    }
  }

  // MARK: Stacks

  private func load(_ stack: StackName) -> DaemonHandler.Command {
    do {
      let adopted = try PolicyFact(of: stack, in: log)
      var loader = StackLoader(
        stack, policy: try adopted?.policy ?? log.info(of: stack)?.policy, since: adopted?.since)
      while true {
        let page = try log.read(stack, after: loader.head, maximumBytes: Self.pageBytes)
        guard !page.isEmpty else { return .loaded(loader) }
        if jobs?.isDropped == true { return .notLoaded(stack, ServerCore.StorageFailure("the daemon is stopping")) }
        for stored in page {
          guard stored.firstOffset == loader.head + 1 else {
            throw LogError(
              .damaged, about: stack.description, "there is no event at offset \(loader.head + 1); verify the log")
          }
          try loader.add(stored.batch)
        }
      }
    } catch {
      return .notLoaded(stack, failure(error))
    }
  }

  private func list(_ space: Name?, _ peer: ServerCore.Peer) -> DaemonHandler.Command {
    do {
      let adopted = Dictionary(try log.facts(prefixed: "policy/").map { ($0.key, $0.value) }) { $1 }
      let stacks = try log.stacks(in: space).map {
        let policy = adopted["policy/\($0.stack)"].flatMap { Policy(String(decoding: $0, as: UTF8.self)) }
        return Listing.Stack(
          stack: $0.stack.description, policy: policy ?? $0.policy, head: $0.head, devices: $0.devices,
          lastStored: $0.lastStored)
      }
      return .listed(stacks, peer)
    } catch {
      return .listFailed(peer, failure(error))
    }
  }

  // MARK: Events

  private func read(_ read: ServerCore.Read) -> DaemonHandler.Command {
    do {
      let start =
        switch read.start {
        case .offset(let offset): offset
        case .vector(let vector): try log.offset(in: read.stack, lackedBy: vector)
        }
      let stored = try log.read(read.stack, after: start, maximumBytes: read.maximumBytes).flatMap(Self.sendable)
      guard read.wantsAuthorStates else {
        return .read(read, after: start, stored.map { .init(firstOffset: $0.firstOffset, batch: $0.batch) })
      }
      return .read(read, after: start, try withStates(stored, of: read.stack))
    } catch {
      return .readFailed(read, failure(error))
    }
  }

  /// What a message has room for: a store that wasn't written by a daemon may have larger batches.
  private static func sendable(_ stored: StoredBatch) -> [StoredBatch] {
    var first = stored.firstOffset
    return stored.batch.pieces(ofAtMost: Limits().message - 1024).map { piece in
      defer { first += piece.count }
      return StoredBatch(firstOffset: first, batch: piece, storedAt: stored.storedAt)
    }
  }

  /// Batches with each author's state before them, which takes walking over all events before them once.
  private func withStates(_ stored: [StoredBatch], of stack: StackName) throws -> [ServerCore.ReadBatch] {
    guard let first = stored.first else { return [] }
    var walk = AuthorWalk(stack: stack)
    if let place = walks.lastIndex(where: { $0.stack == stack && $0.offset < first.firstOffset }) {
      walk = walks.remove(at: place)
    }
    while walk.offset + 1 < first.firstOffset {
      let page = try log.read(stack, after: walk.offset, maximumBytes: Self.pageBytes)
      guard !page.isEmpty else { break }
      for batch in page where batch.firstOffset < first.firstOffset { _ = try walk.pass(batch) }
    }
    var result: [ServerCore.ReadBatch] = []
    for batch in stored {
      result.append(
        .init(firstOffset: batch.firstOffset, batch: batch.batch, authorStates: try walk.pass(batch)))
    }
    walks.append(walk)
    if walks.count > Self.keptWalks { walks.removeFirst() }
    return result
  }

  private func recall(_ recall: ServerCore.Recall) -> DaemonHandler.Command {
    do {
      let events = try log.events(of: recall.device, in: recall.stack, sequences: recall.sequences)
      let offset = try offset(of: Dot(recall.device, recall.sequences.upperBound), in: recall.stack)
      return .recalled(recall, .init(events: events, offset: offset))
    } catch {
      return .recallFailed(recall, failure(error))
    }
  }

  /// 0 if the event isn't stored.
  private func offset(of dot: Dot, in stack: StackName) throws -> Int {
    // All but this device's events from the wanted one on.
    var vector = VersionVector()
    for head in try log.heads(of: stack) { vector[head.device] = head.sequence }
    vector[dot.device] = dot.sequence - 1
    let start = try log.offset(in: stack, lackedBy: vector)
    for stored in try log.read(stack, after: start, maximumBytes: 1) {
      var offset = stored.firstOffset
      var found = 0
      stored.batch.forEach { record in
        if record.dot == dot { found = offset }
        offset += 1
      }
      if found > 0 { return found }
    }
    return 0
  }

  private func failure(_ error: any Error) -> ServerCore.StorageFailure {
    error as? ServerCore.StorageFailure ?? ServerCore.StorageFailure("\(error)")
  }
}

/// The authors' states at an offset of a stack.
private struct AuthorWalk {
  let stack: StackName
  var offset = 0
  private var chains: StackChains

  init(stack: StackName) {
    self.stack = stack
    chains = StackChains(stack: stack)
  }

  /// Passes over the next batch.
  ///
  /// - Returns: its authors' states before it.
  mutating func pass(_ stored: StoredBatch) throws(ChainFault) -> [AuthorState] {
    let before = stored.batch.authors.map { chains.authorState(of: $0.device) }
    try stored.batch.forEach { (record) throws(ChainFault) in
      try chains.receive(record.dot.device, record.dot.sequence, stored.batch.bytes, in: record.range)
    }
    offset = stored.firstOffset + stored.batch.count - 1
    return before
  }
}
