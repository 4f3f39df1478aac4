import EventLog
import NavigationModel
import Replication
import WireFormat

/// What a disk holds of a stack, where a device id may have several histories.
struct Holding {
  let chains: StackChains
  /// What is folded, in log order; where a device id has several histories, in the order of folding.
  let events: [Event]
  /// All that is there, also what isn't folded.
  let all: [Event]
  let forks: [Dot]

  /// - Parameter fault: told of what doesn't follow or comes before what its author held.
  init(of stack: StackName, on disk: SimulatedDisk, _ fault: (String) -> Void = { _ in }) {
    var claims = StackClaims(stack: stack)
    var inOrder: [Event] = []
    var held = VersionVector()
    for stored in disk.contents.read(stack, after: 0, maximumBytes: .max) {
      for record in stored.batch.records {
        do {
          guard let event = try claims.receive(record.dot, Array(stored.batch.bytes[record.range])) else { continue }
          inOrder.append(event)
          // A copy is whole by itself.
          guard claims.chains.author(of: record.dot.device) == record.dot.device else { continue }
          if held[event.dot.device] != event.dot.sequence - 1 || !claims.chains.reach.covers(event.context) {
            fault("\(event.dot) came before what its author held")
          }
          held[event.dot.device] = event.dot.sequence
        } catch { fault("\(record.dot) doesn't follow: \(error)") }
      }
    }
    chains = claims.chains
    guard chains.isForked || chains.hasUnreadable else {
      (events, all, forks) = (inOrder, inOrder, [])
      return
    }
    let admission = claims.admission
    (events, all, forks) = (admission.events, claims.all.map(\.event), admission.forks)
  }

  /// What is folded.
  var vector: VersionVector {
    var vector = VersionVector()
    for event in events { vector[event.dot.device] = max(vector[event.dot.device], event.dot.sequence) }
    return vector
  }

  /// What replicas that hold the same have the same.
  var heads: [StoredHead] {
    chains.liveHeads.map { StoredHead(device: $0.device, sequence: $0.sequence, digest: $0.digest) }
  }
}
