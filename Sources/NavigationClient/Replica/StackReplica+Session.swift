package import EventLog
package import NavigationModel
package import Replication
import WireFormat

extension StackReplica {
  /// A device's digest at a sequence that is held; nil if it can't be known, without a log.
  package func digest(
    of device: DeviceID, at sequence: Int, log: (any EventLogReader)?
  ) throws(LogError) -> Digest? {
    if sequence == chains.vector[device] { return chains.digest(of: device) }
    if sequence == 0 { return .empty }
    guard let log, var digest = chains.closedDigest(of: device, atOrBelow: sequence) else { return nil }
    if digest.sequence < sequence {
      let events = try log.events(of: device, in: name, sequences: digest.sequence + 1...sequence)
      guard events.count == sequence - digest.sequence else { return nil }
      for event in events { digest.append(event) }
    }
    return digest.digest
  }

  /// The events that an order asks for, in log order, and the offset up to which they are all.
  package func runs(
    after: Int?, lackedBy vector: VersionVector, maximumEvents: Int, maximumBytes: Int, log: any EventLogReader
  ) throws(LogError) -> (runs: [EventRun], through: Int) {
    var runs: [EventRun] = []
    var at: Int
    if let after {
      at = after
    } else {
      at = try log.offset(in: name, lackedBy: vector)
      runs = try copies(lackedBy: vector, maximumEvents, maximumBytes, log)
    }
    var events = 0
    var bytes = 0
    var isFull = false
    while !isFull, at < localHead {
      let batches: [(firstOffset: Int, batch: EventBatch)] =
        if let newest, newest.firstOffset <= at + 1 { [newest] } else {
          try log.read(name, after: at, maximumBytes: maximumBytes).map { ($0.firstOffset, $0.batch) }
        }
      if batches.isEmpty { break }
      for stored in batches {
        var offset = stored.firstOffset - 1
        for record in stored.batch.records {
          offset += 1
          if offset <= at { continue }
          if vector.contains(record.dot) || chains.retired.contains(record.dot.device) {
            at = offset
            continue
          }
          if events > 0, events == maximumEvents || bytes + record.range.count > maximumBytes {
            isFull = true
            break
          }
          events += 1
          bytes += record.range.count
          at = offset
          let event = Array(stored.batch.bytes[record.range])
          if let last = runs.last, last.device == record.dot.device, last.lastSequence + 1 == record.dot.sequence {
            runs[runs.count - 1].events.append(event)
          } else {
            runs.append(
              EventRun(
                device: record.dot.device, firstSequence: record.dot.sequence,
                previous: try digestBefore(record.dot, log: log), events: [event]))
          }
        }
        if isFull { break }
      }
    }
    return (runs, at)
  }

  func digestBefore(_ dot: Dot, log: any EventLogReader) throws(LogError) -> Digest {
    if let digest = digestsBefore[dot] { return digest }
    guard let digest = try digest(of: dot.device, at: dot.sequence - 1, log: log) else {
      throw LogError(.damaged, about: name.description, "events before \(dot) are not in the local store")
    }
    return digest
  }
}
