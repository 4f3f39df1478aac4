package import NavigationModel
import WireFormat

/// The stacks in use: loaded from the log at the first request, let go when out of use.
extension ServerCore {
  /// The stack's slot, and its load if it has none yet; nil for what is no stack's name.
  mutating func slot(of text: String, at moment: Moment) -> Int? {
    if let slot = slots[text] { return slot }
    guard let name = try? StackName(text) else { return nil }
    let slot: Int
    if let free = freeSlots.popLast() {
      slot = free
      stacks[slot] = Stack(name, now: moment.milliseconds)
    } else {
      slot = stacks.count
      stacks.append(Stack(name, now: moment.milliseconds))
    }
    slots[text] = slot
    put(.load(name))
    if sweepAt == nil { sweepAt = moment.milliseconds + Self.sweepMilliseconds }
    return slot
  }

  /// What `.load` asked for: the stack as it is in the log.
  package mutating func stackLoaded(_ loader: StackLoader, at moment: Moment) {
    guard let slot = slots[loader.stack.description], !stacks[slot]!.isLoaded else { return }
    counters.add(to: .stacksLoaded)
    stacks[slot]!.isLoaded = true
    stacks[slot]!.chains = loader.chains
    stacks[slot]!.policy = loader.policy
    stacks[slot]!.policySince = loader.policySince
    stacks[slot]!.head = loader.head
    stacks[slot]!.stored = Dictionary(
      uniqueKeysWithValues: loader.chains.heads.map {
        ($0.device, Stack.Stored(sequence: $0.sequence, digest: $0.digest, offset: loader.offsets[$0.device] ?? 0))
      })
    stacks[slot]!.lastUsed = moment.milliseconds
    newestTime = max(newestTime, loader.newestTime)
    settleForks(slot)
    // A commit that failed may have been stored all the same.
    for peer in stacks[slot]!.followers { advance(Errand(slot: slot), of: peer, at: moment) }
    tellOfLoadedStack(slot, at: moment)
    let waiting = stacks[slot]!.waiting
    stacks[slot]!.waiting = []
    for request in waiting {
      endWaiting(request)
      // The rules may have changed since it was asked.
      guard mayHave(request.message, carriedOutFor: request.peer, at: moment) else { continue }
      carryOut(request.message, request.bytes, slot, from: request.peer, at: moment)
    }
  }

  /// The stack can't be read: who waits for it is refused, who follows it has to follow again.
  package mutating func stackNotLoaded(_ stack: StackName, _ failure: StorageFailure, at moment: Moment) {
    let text = stack.description
    guard let slot = slots[text], !stacks[slot]!.isLoaded else { return }
    counters.add(to: .stacksFailed)
    put(
      .log(LogRecord(.error, "a stack can't be read", [.init("stack", text), .init("problem", failure.detail)])))
    for request in stacks[slot]!.waiting {
      endWaiting(request)
      guard sessions[request.peer] != nil else { continue }
      switch request.message {
      case .append(let append):
        reply(
          .rejected(
            Rejected(
              stack: text, dot: Dot(append.device, append.firstSequence), code: .storage, detail: failure.detail,
              serverTime: serverTime(moment))), to: request.peer, at: moment)
      case .follow: refuse(.follow, stack: text, .storage, failure.detail, to: request.peer, at: moment)
      case _: refuse(.range, stack: text, .storage, failure.detail, to: request.peer, at: moment)
      }
    }
    for peer in stacks[slot]!.followers {
      sessions[peer]?.follows[slot] = nil
      sessions[peer]?.shown[slot] = nil
      refuse(.follow, stack: text, .storage, failure.detail, to: peer, at: moment)
    }
    for peer in sessions.keys {
      sessions[peer]!.ranges[slot] = nil
      sessions[peer]!.comparing[slot] = nil
    }
    letGo(slot)
  }

  /// Lets go of stacks that have been out of use the longest, over the number that is kept.
  mutating func letGoOfIdleStacks() {
    guard slots.count > configuration.idleStacks else { return }
    let idle = slots.values.filter { stacks[$0]!.isIdle }.sorted { stacks[$0]!.lastUsed < stacks[$1]!.lastUsed }
    for slot in idle.prefix(slots.count - configuration.idleStacks) {
      counters.add(to: .stacksLetGo)
      letGo(slot)
    }
  }

  private mutating func letGo(_ slot: Int) {
    slots[stacks[slot]!.text] = nil
    stacks[slot] = nil
    freeSlots.append(slot)
  }
}
