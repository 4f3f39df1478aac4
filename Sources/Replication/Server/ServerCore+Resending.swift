import NavigationModel
import WireFormat

/// Events that are sent again: after a session that broke, or by two devices that bring along a third one's.
extension ServerCore {
  /// Looks at the first parked run of a device: what of it is stored is compared, what is only admitted waits for its
  /// commit, what is new goes on.
  mutating func compareNext(of device: DeviceID, _ slot: Int) {
    guard let run = stacks[slot]!.parked[device]?.first, run.recall == nil else { return }
    let held = stacks[slot]!.chains.vector[device]
    let last = min(run.firstSequence + run.events.count - 1, held)
    guard last <= stacks[slot]!.stored[device]?.sequence ?? 0 else { return }
    let number = number()
    // With the events since the last closed digest, which give the digest before the run.
    let from = run.previous == nil ? run.firstSequence : (run.firstSequence - 1) / Self.interval * Self.interval + 1
    stacks[slot]!.parked[device]!.changeFirst { $0.recall = number }
    recalls[number] = (slot, device)
    counters.add(to: .recalls)
    put(.recall(Recall(number: number, stack: stacks[slot]!.name, device: device, sequences: from...max(from, last))))
  }

  package mutating func recalled(_ recall: Recall, _ recalled: Recalled, at moment: Moment) {
    if let task = forkRecalls.removeValue(forKey: recall.number) {
      return forkRecalled(task, recall, .success(recalled.events), at: moment)
    }
    guard let (slot, device, run) = endRecall(recall) else { return }
    let count = recall.sequences.upperBound - run.firstSequence + 1
    let before = run.firstSequence - recall.sequences.lowerBound
    guard recalled.events.count == before + count else {
      return answer(run, slot, .storage, "the log lacks events of \(device); verify it", at: moment)
    }
    if let previous = run.previous {
      guard var digest = stacks[slot]!.chains.closedDigest(of: device, atOrBelow: run.firstSequence - 1) else {
        preconditionFailure("what is stored is held")
      }
      for event in recalled.events.prefix(before) { digest.append(event) }
      guard digest.digest == previous else {
        let detail = ChainFault.fork(Dot(device, run.firstSequence)).description
        forkFound(device, differingAt: run.firstSequence - 1, slot, by: run.peer)
        return answer(run, slot, .fork, detail, at: moment)
      }
    }
    for place in 0..<count where recalled.events[before + place] != run.events[place] {
      let detail =
        "another event is stored as \(Dot(device, run.firstSequence + place)): this is another history under the "
        + "same device id; go on under a new one"
      forkFound(device, differingAt: run.firstSequence + place, slot, by: run.peer)
      return answer(run, slot, place: place, .fork, detail, at: moment)
    }
    counters.add(count, to: .eventsAcceptedAgain)
    guard count < run.events.count else {
      accept(run, count, slot, recalled.offset, at: moment)
      return finish(device, slot, at: moment)
    }
    stacks[slot]!.parked[device]!.changeFirst { rest in
      rest.events.removeFirst(count)
      rest.firstSequence += count
      rest.previous = nil
      rest.recall = nil
    }
    accept(run, count, slot, recalled.offset, at: moment)
    resume(device, slot, at: moment)
  }

  package mutating func recallFailed(_ recall: Recall, _ failure: StorageFailure, at moment: Moment) {
    if let task = forkRecalls.removeValue(forKey: recall.number) {
      counters.add(to: .readsFailed)
      return forkRecalled(task, recall, .failure(failure), at: moment)
    }
    guard let (slot, _, run) = endRecall(recall) else { return }
    counters.add(to: .readsFailed)
    answer(run, slot, .storage, failure.detail, at: moment)
  }

  private mutating func endRecall(_ recall: Recall) -> (slot: Int, device: DeviceID, run: Parked)? {
    guard let (slot, device) = recalls.removeValue(forKey: recall.number),
      let run = stacks[slot]?.parked[device]?.first, run.recall == recall.number
    else { return nil }
    return (slot, device, run)
  }

  private mutating func accept(_ run: Parked, _ count: Int, _ slot: Int, _ offset: Int, at moment: Moment) {
    guard sessions[run.peer] != nil else { return }
    let through = run.firstSequence + count - 1
    let text = stacks[slot]!.text
    reply(
      .accepted(Accepted(stack: text, device: run.device, throughSequence: through, offset: offset)), to: run.peer,
      at: moment)
  }

  private mutating func answer(
    _ run: Parked, _ slot: Int, place: Int = 0, _ code: RefusalCode, _ detail: String, at moment: Moment
  ) {
    reject(Dot(run.device, run.firstSequence + place), slot, code, detail, to: run.peer, at: moment)
    finish(run.device, slot, at: moment)
  }

  /// The first parked run of a device is answered.
  private mutating func finish(_ device: DeviceID, _ slot: Int, at moment: Moment) {
    removeFirst(of: device, slot)
    resume(device, slot, at: moment)
  }

  private mutating func removeFirst(of device: DeviceID, _ slot: Int) {
    guard let run = stacks[slot]!.parked[device]?.popFirst() else { preconditionFailure("what is answered is parked") }
    letGo(run.bytes, of: run.peer)
    if stacks[slot]!.parked[device]!.isEmpty { stacks[slot]!.parked[device] = nil }
  }

  /// Takes in what was parked, up to a run that has to be compared first.
  private mutating func resume(_ device: DeviceID, _ slot: Int, at moment: Moment) {
    while let run = stacks[slot]!.parked[device]?.first {
      guard admit(run, policy: nil, slot, at: moment) else { return compareNext(of: device, slot) }
      removeFirst(of: device, slot)
    }
  }

  private static let interval = ChainDigest.interval
}
