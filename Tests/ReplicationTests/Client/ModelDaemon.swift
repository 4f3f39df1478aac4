import NavigationModel
import WireFormat

/// A daemon as simple as can be: what it must do by the protocol, without speed, credit or disk.
struct ModelDaemon {
  struct Session {
    var follows: [StackName: Int] = [:]
    var isGreeted = false
  }

  var epoch: UInt64 = 1
  var logs: [StackName: FakeReplica.StackLog] = [:]
  var sessions: [Int: Session] = [:]
  /// Refuses appends for lack of room.
  var isFull = false

  /// Answers, each to a peer, in order.
  mutating func received(_ message: Message, from peer: Int) -> [(peer: Int, message: Message)] {
    guard case .hello = message else {
      guard sessions[peer]?.isGreeted == true else {
        return [(peer, .refused(Refused(about: .message, code: .helloNeeded, reason: "say hello")))]
      }
      return answer(message, peer)
    }
    sessions[peer] = Session(isGreeted: true)
    return [(peer, .welcome(Welcome(daemon: device("d"), epoch: epoch, serverTime: 0)))]
  }

  private mutating func answer(_ message: Message, _ peer: Int) -> [(peer: Int, message: Message)] {
    switch message {
    case .follow(let follow):
      guard let stack = try? StackName(follow.stack), case .vector(let heads) = follow.start else { return [] }
      let log = logs[stack] ?? FakeReplica.StackLog()
      var held = VersionVector()
      for head in heads { held[head.device] = head.sequence }
      let from = log.events.firstIndex { !held.contains($0.dot) } ?? log.events.count
      sessions[peer]?.follows[stack] = log.events.count
      var result: [(Int, Message)] = [
        (
          peer,
          .following(
            Following(
              stack: follow.stack, exists: !log.events.isEmpty, policy: log.events.isEmpty ? nil : .merge,
              head: log.events.count, heads: log.heads))
        )
      ]
      for start in stride(from: from, to: log.events.count, by: 3) {
        result.append((peer, events(of: stack, start..<min(start + 3, log.events.count))))
      }
      result.append((peer, .live(Live(stack: follow.stack, offset: log.events.count))))
      return result
    case .append(let append): return store(append, peer)
    case .range(let range):
      guard let stack = try? StackName(range.stack), let count = logs[stack]?.events.count, range.to <= count else {
        return [
          (peer, .refused(Refused(about: .range, stack: range.stack, code: .epochChanged, reason: "not this log")))
        ]
      }
      return [(peer, events(of: stack, range.from - 1..<range.to))]
    case .unfollow(let unfollow):
      if let stack = try? StackName(unfollow.stack) { sessions[peer]?.follows[stack] = nil }
      return []
    case .ping(let ping):
      let heads = ping.heads.compactMap { head -> StackHead? in
        let count = (try? StackName(head.stack)).flatMap { logs[$0]?.events.count } ?? 0
        return count == head.offset ? nil : StackHead(stack: head.stack, offset: count)
      }
      return [(peer, .pong(Pong(serverTime: 0, heads: heads)))]
    case _: return []
    }
  }

  private func events(of stack: StackName, _ places: Range<Int>) -> Message {
    .events(
      EventsMessage(
        stack: stack.description, epoch: epoch, previousOffset: places.lowerBound, firstOffset: places.lowerBound + 1,
        batch: EventBatch(logs[stack]?.events[places].map { (dot: $0.dot, bytes: $0.bytes) } ?? []).bytes))
  }

  private mutating func store(_ append: Append, _ peer: Int) -> [(peer: Int, message: Message)] {
    guard let stack = try? StackName(append.stack) else { return [] }
    var log = logs[stack] ?? FakeReplica.StackLog()
    let before = log.events.count
    var rejection: Message?
    for (step, bytes) in append.events.enumerated() {
      let dot = Dot(append.device, append.firstSequence + step)
      func reject(_ code: RefusalCode, expected: Int = 0, missing: VersionVector = VersionVector()) {
        rejection = .rejected(
          Rejected(
            stack: append.stack, dot: dot, code: code, detail: "why", expectedSequence: expected, missing: missing))
      }
      if log.vector.contains(dot) {
        if log.digest(of: dot.device, at: dot.sequence)
          != fakeDigest(after: log.digest(of: dot.device, at: dot.sequence - 1), bytes)
        {
          reject(.fork)
        }
      } else if isFull {
        reject(.storage)
      } else if log.vector[dot.device] + 1 != dot.sequence {
        reject(.sequenceGap, expected: log.vector[dot.device] + 1)
      } else if let missing = FakeReplica.context(in: bytes).elements.first(where: {
        log.vector[$0.device] < $0.sequence
      }) {
        reject(.missingContext, missing: [missing.device: missing.sequence])
      } else {
        log.add(dot, bytes)
      }
      if rejection != nil { break }
    }
    logs[stack] = log
    var result: [(Int, Message)] = []
    let through = min(log.vector[append.device], append.firstSequence + append.events.count - 1)
    if through >= append.firstSequence {
      result.append(
        (
          peer,
          .accepted(
            Accepted(
              stack: append.stack, device: append.device, throughSequence: through, offset: log.events.count))
        ))
    }
    if let rejection { result.append((peer, rejection)) }
    guard log.events.count > before else { return result }
    for other in sessions.keys.sorted() where sessions[other]?.follows[stack] != nil {
      sessions[other]?.follows[stack] = log.events.count
      result.append((other, events(of: stack, before..<log.events.count)))
    }
    return result
  }
}
