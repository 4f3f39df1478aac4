import EventLog
import NavigationModel

/// What a device of this machine did on a stack and the daemon doesn't have, in order.
struct WaitingEvents {
  var device: String
  var items: [HistoryItem]
  /// Why the daemon didn't take them, if it was asked and said so.
  var refusal: RefusalFact?

  /// Of all devices of this machine, as their own logs have it; also while they are in use. A damaged one is said to be
  /// so, and what is good of it is here: it is no fault of the daemon's log.
  ///
  /// - Parameter held: what the daemon has.
  static func all(of stack: StackName, notIn held: VersionVector, on console: Console) async throws -> [WaitingEvents] {
    var result: [WaitingEvents] = []
    for replica in LocalReplica.all {
      guard let device = replica.device,
        let own = try? replica.reader.heads(of: stack).first(where: { $0.device == device }),
        own.sequence > held[device]
      else { continue }
      let refusal = try? replica.reader.fact(RefusalFact.key(of: stack))
      var items: [HistoryItem] = []
      do {
        let history = try await History(stack, in: .store(replica.reader, path: replica.folder), names: DeviceNames())
        try await history.walk { item in
          if item.event.dot.device == device, item.event.dot.sequence > held[device] { items.append(item) }
          return true
        }
      } catch let error as CommandError where error.code == .damage {
        console.say("what \(replica.name) of this machine did may be lacking: \(error.message)")
      }
      if items.isEmpty { continue }
      result.append(
        WaitingEvents(device: replica.name, items: items, refusal: refusal.flatMap { RefusalFact(value: $0) }))
    }
    return result
  }

  /// Why they are not in the daemon's log.
  var standing: String {
    guard let refusal else { return "waiting: not at the daemon yet" }
    return "refused at \(rfc3339(milliseconds: refusal.time)): \(refusal.reason)"
  }
}
