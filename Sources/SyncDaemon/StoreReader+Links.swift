import EventLog
import NavigationModel
import Replication
import WireFormat

/// What links to other daemons read of the log.
extension StoreReader {
  func find(_ wish: PeerLink.Wish) -> DaemonHandler.Command {
    do {
      switch wish.what {
      case .events(let order): return .found(wish, try events(order, wish.chains))
      case .event(let dot):
        let stored = try log.events(of: dot.device, in: wish.stack, sequences: dot.sequence...dot.sequence)
        guard let event = stored.first else { return .found(wish, nil) }
        let previous = try digest(before: dot, wish.chains)
        return .found(
          wish,
          .event(
            EventRun(device: dot.device, firstSequence: dot.sequence, previous: previous, events: [event])))
      }
    } catch {
      lines.write(.warning, "a link can't read", [("stack", "\(wish.stack)"), ("problem", "\(error)")])
      return .found(wish, nil)
    }
  }

  /// The events that an order asks for, in log order, and the offset up to which they are all.
  private func events(_ order: ReadOrder, _ chains: StackChains) throws -> PeerLink.Found {
    var runs: [EventRun] = []
    var through: Int
    if let after = order.after {
      through = after
    } else {
      through = try log.offset(in: order.stack, lackedBy: order.lackedBy)
      runs = try copies(order, chains)
    }
    var count = 0
    var bytes = 0
    while true {
      let page = try log.read(order.stack, after: through, maximumBytes: order.maximumBytes)
      if page.isEmpty { return .events(runs: runs, through: through) }
      for stored in page {
        var offset = stored.firstOffset - 1
        for record in stored.batch.records {
          offset += 1
          if offset <= through { continue }
          if !order.lackedBy.contains(record.dot), !chains.retired.contains(record.dot.device) {
            let size = record.range.count
            if count > 0, count == order.maximumEvents || bytes + size > order.maximumBytes {
              return .events(runs: runs, through: through)
            }
            count += 1
            bytes += size
            let event = Array(stored.batch.bytes[record.range])
            if let last = runs.last, last.device == record.dot.device, last.lastSequence + 1 == record.dot.sequence {
              runs[runs.count - 1].events.append(event)
            } else {
              runs.append(
                EventRun(
                  device: record.dot.device, firstSequence: record.dot.sequence,
                  previous: try digest(before: record.dot, chains), events: [event]))
            }
          }
          through = offset
        }
      }
    }
  }

  /// What the copies of forked histories have that is lacked.
  private func copies(_ order: ReadOrder, _ chains: StackChains) throws -> [EventRun] {
    var runs: [EventRun] = []
    for chain in chains.copies(lackedBy: order.lackedBy) {
      let first = order.lackedBy[chain] + 1
      let events = try log.events(of: chain, in: order.stack, sequences: first...max(first, chains.vector[chain]))
      for part in EventRun.parts(of: events, order.maximumEvents, order.maximumBytes) {
        let sequence = first + part.lowerBound
        runs.append(
          EventRun(
            device: chain, firstSequence: sequence, previous: try digest(before: Dot(chain, sequence), chains),
            events: Array(events[part])))
      }
    }
    return runs
  }

  private func digest(before dot: Dot, _ chains: StackChains) throws -> Digest {
    let sequence = dot.sequence - 1
    guard var digest = chains.closedDigest(of: dot.device, atOrBelow: sequence) else {
      throw ServerCore.StorageFailure("events before \(dot) are not in the log; verify it")
    }
    if digest.sequence < sequence {
      let events = try log.events(of: dot.device, in: chains.stack, sequences: digest.sequence + 1...sequence)
      guard events.count == sequence - digest.sequence else {
        throw ServerCore.StorageFailure("events before \(dot) are not in the log; verify it")
      }
      for event in events { digest.append(event) }
    }
    return digest.digest
  }
}
