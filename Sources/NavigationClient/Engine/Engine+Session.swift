import Access
import EventLog
import KeyFiles
import NavigationModel
import Replication
import WireFormat
import ZeroMQ

extension Engine {
  /// Does what the session wants until it wants nothing more.
  mutating func carryOut(at now: Moment) {
    while true {
      let outputs = core.drain()
      if outputs.isEmpty { return }
      for output in outputs { carryOut(output, at: now) }
    }
  }

  private mutating func carryOut(_ output: ClientOutput, at now: Moment) {
    switch output {
    case .connect: connect(at: now)
    case .disconnect: disconnect()
    case .send(let message): send(message.encoded())
    case .readHeads(let name):
      guard let stack = stacks[name]?.replica else { return core.unfollow(name) }
      try? replica.settle(name)
      followForgotten(at: now)
      commit(at: now)
      guard isRead(name, at: now) else { return }
      core.headsRead(name, start: .vector(stack.chains.liveHeads), localHead: stack.localHead)
    case .checkHeads(let name, let heads): checkHeads(name, heads, at: now)
    case .readEvents(let order): readEvents(order, at: now)
    case .deliver(let name, let batch, _, let bytes):
      undelivered += bytes
      receive(batch, of: name, at: now)
      if replica.pendingBytes > Replica.commitBytes { commit(at: now) }
    case .policy(let name, let policy): learn(policy, of: name, at: now)
    case .acknowledged(let name, let device, let through):
      overcome(name)
      stacks[name]?.replica.agree(device, through: through)
      guard device == replica.device else { return }
      stacks[name]?.acknowledged = through
      endRefusal(of: name)
      dirty.insert(name)
      leaveIfUnused(name)
    case .time(let serverTime): learnClock(serverTime - now.wall)
    case .rejected(let name, let dot, let code, let detail, let isWaiting):
      // It is stamped anew if it is ours, which the exchange of heads finds out.
      if code == .clockAhead, let stack = stacks[name]?.replica, isAhead(stack, has: VersionVector(), at: now) != nil {
        core.follow(name, policy: stack.policy, now: now.monotonic)
      }
      noteRefusal(of: name, code, detail, at: now)
      stop(
        name,
        ClientError(
          code, about: name.description, reason: "the daemon doesn't take \(dot): \(detail)", isRetriable: isWaiting))
    case .refused(let name, let code, let reason, let isWaiting):
      noteRefusal(of: name, code, reason, at: now)
      stop(name, ClientError(code, about: name.description, reason: reason, isRetriable: isWaiting))
    case .forked(let name, let devices): forked(name, devices)
    case .live(let name):
      guard stacks[name]?.leavesOut == false, isRead(name, at: now) else { return }
      overcome(name)
      // All of it is there unless something was passed over, for which it is followed anew.
      if !toRefollow.contains(name) { redo(name, at: now) }
      stacks[name]?.isLive = true
      if stacks[name]?.wasLive == false {
        commit(at: now)
        stacks[name]?.wasLive = true
        markConflictsSeen(name)
      }
      dirty.insert(name)
    case .presence(let name, let peer):
      learn(peer.name, of: peer.device)
      stacks[name]?.presence[peer.device] =
        peer.state == .gone
        ? nil : DevicePresence(device: peer.device, name: peer.name, isAway: peer.state == .away, top: peer.top)
      dirty.insert(name)
    case .answer(let message): answered(message)
    case .state(let state): enter(state)
    case .opened(let serverTime, let welcome):
      if let key = PublicKey(bytes: welcome.nextKey) { trial.heard(next: key) }
      learnClock(serverTime - now.wall)
      for name in stacks.keys {
        // Nothing of a session outlives it, also if the daemon had it begin anew on the same connection.
        stacks[name]?.isLive = false
        stacks[name]?.problem = nil
        dirty.insert(name)
      }
      askAgain()
      askNames(at: now)
    }
  }

  private mutating func enter(_ state: ConnectionState) {
    connection =
      switch state {
      case .stopped: .offline
      case .connecting: .connecting
      case .reconnecting: .reconnecting
      case .connected: .connected
      case .refused(let code, let reason): .refused(reason: reason, isNotAuthorised: code == .notAuthorised)
      }
    for name in stacks.keys {
      dirty.insert(name)
      if connection != .connected { stacks[name]?.isLive = false }
    }
    guard case .refused(let code, let reason) = state else { return }
    let place = trial.endpoint.description
    let error = ClientError(code, about: reason.contains(place) ? "" : place, reason: reason, isRetriable: false)
    failWaiters(error) { _ in true }
    failRequests(error)
  }

  /// Keeps that own events aren't taken, for who asks later; what soon passes is no refusal.
  private mutating func noteRefusal(of name: StackName, _ code: RefusalCode, _ reason: String, at now: Moment) {
    guard let stack = stacks[name], code != .busy, code != .storage, stack.refusal != reason else { return }
    stacks[name]?.refusal = reason
    try? replica.log?.setFact(RefusalFact.key(of: name), RefusalFact(time: now.wall, reason: reason).value)
  }

  /// Own events were taken.
  private mutating func endRefusal(of name: StackName) {
    guard stacks[name]?.refusal != nil else { return }
    stacks[name]?.refusal = nil
    try? replica.log?.setFact(RefusalFact.key(of: name), nil)
  }

  /// Something keeps the stack from going on.
  mutating func stop(_ name: StackName, _ problem: ClientError) {
    guard stacks[name] != nil else { return }
    stacks[name]?.problem = problem
    dirty.insert(name)
    if !problem.isRetriable { failWaiters(problem) { $0.stack == name } }
  }

  /// It goes on, so what passes is over.
  private mutating func overcome(_ name: StackName) {
    guard stacks[name]?.problem?.isRetriable == true else { return }
    stacks[name]?.problem = nil
    dirty.insert(name)
  }

  private mutating func learn(_ policy: Policy, of name: StackName, at now: Moment) {
    guard let stack = stacks[name]?.replica, stack.policy != policy else { return }
    if stack.fold.count == 0 {
      stack.learn(policy)
      dirty.insert(name)
    } else if stacks[name]?.adopts == true, let log = replica.log {
      commit(at: now)
      do throws(ClientError) { try stack.adopt(policy, log: log) } catch { return stop(name, error) }
      stacks[name]?.adopts = false
      stacks[name]?.problem = nil
      endRefusal(of: name)
      stacks[name]?.conflictsMayDiffer = true
      dirty.insert(name)
    } else {
      core.unfollow(name)
      let reason = "the daemon has the stack under the policy \(policy), this device under \(stack.fold.policy)"
      noteRefusal(of: name, .policyMismatch, reason, at: now)
      stop(name, ClientError(.policyMismatch, about: name.description, reason))
    }
  }

  private mutating func checkHeads(_ name: StackName, _ heads: [DeviceHead], at now: Moment) {
    commit(at: now)
    guard let stack = stacks[name]?.replica else { return core.unfollow(name) }
    guard isRead(name, at: now) else { return }
    do throws(LogError) {
      // Of a stack that is begun again the daemon has more under the former ids, of course.
      let own = redos[name] == nil ? formerIDs.union([replica.device].compactMap(\.self)) : []
      let compared = try stack.compare(heads, own: own, log: replica.log)
      var forked = compared.forked
      if let device = replica.device, redos[name] == nil, stack.chains.retired.contains(device) {
        forked.append(device)
      }
      if replica.log == nil, stack.isElsewhere(heads) {
        // An observer has only what daemons send; what this one doesn't have is another's history.
        core.headsChecked(name, forked: [], isBehind: false, now: now.monotonic)
        return beginAgain(name, at: now)
      }
      var has = VersionVector()
      // The session checked that they can be counted.
      for head in heads where head.sequence > has[head.device] { has[head.device] = head.sequence }
      if forked.isEmpty, let id = isAhead(stack, has: has, at: now) {
        core.headsChecked(name, forked: [id], isBehind: false, now: now.monotonic)
        return
      }
      core.headsChecked(
        name, forked: forked, disputed: compared.disputed, isBehind: !has.covers(stack.liveVector), now: now.monotonic)
    } catch {
      core.headsChecked(name, forked: [], isBehind: false, now: now.monotonic)
      failedToRead(name, ClientError(error), at: now)
    }
  }

  private mutating func readEvents(_ order: ReadOrder, at now: Moment) {
    guard let stack = stacks[order.stack]?.replica, let log = replica.log else { return core.unfollow(order.stack) }
    guard isRead(order.stack, at: now) else { return }
    do throws(LogError) {
      let (runs, through) = try stack.runs(
        after: order.after, lackedBy: order.lackedBy, maximumEvents: order.maximumEvents,
        maximumBytes: order.maximumBytes, log: log)
      core.eventsRead(order.stack, runs: runs, through: through)
    } catch {
      failedToRead(order.stack, ClientError(error), at: now)
    }
  }

  /// Whether what the stack holds is what is stored; after a commit that failed it is read again first. Otherwise the
  /// stack is followed anew later: what is not known can't be told, and least of all taken for a fork.
  private mutating func isRead(_ name: StackName, at now: Moment) -> Bool {
    do throws(ClientError) { try replica.readAgain(name) } catch {
      failedToRead(name, error, at: now)
      return false
    }
    return true
  }

  mutating func failedToRead(_ name: StackName, _ error: ClientError, at now: Moment) {
    stop(name, error)
    guard error.isRetriable else { return core.unfollow(name) }
    refollow([name], leavingOut: true, at: now)
  }

  /// Stacks are followed anew in a while, with all others that wait for it.
  ///
  /// - Parameter leavingOut: what comes until then rests on what isn't held, and is left out.
  mutating func refollow(
    _ names: Set<StackName>, after milliseconds: Int = 1000, leavingOut: Bool = false, at now: Moment
  ) {
    toRefollow.formUnion(names)
    refollowAt = refollowAt ?? now.monotonic + milliseconds
    if leavingOut { for name in names { stacks[name]?.leavesOut = true } }
  }

  /// What was received and couldn't be kept has to come again; what was done in the same turn wasn't.
  mutating func followForgotten(at now: Moment) {
    for name in replica.takeForgotten() {
      for act in uncommitted where act.stack == name {
        act.reply.fail(
          ClientError(.storage, about: name.description, "the log can't be read, so nothing was done: try again"))
      }
      uncommitted.removeAll { $0.stack == name }
      dirty.insert(name)
      refollow([name], leavingOut: true, at: now)
    }
  }

  // MARK: Events

  private mutating func receive(_ batch: EventBatch, of name: StackName, at now: Moment) {
    guard let stack = stacks[name], !stack.leavesOut else { return }
    stack.replica.notesEvents = stack.wasLive && stack.hub.hasChangeReaders
    do throws(ChainFault) {
      try replica.receive(batch, of: name, takesOwn: redos[name] != nil)
      stacks[name]?.faults = 0
    } catch {
      if stack.faults < 3 {
        // Something got lost on the way: the exchange of heads finds out what.
        stacks[name]?.faults += 1
        core.follow(name, policy: stack.replica.policy, now: now.monotonic)
      } else {
        core.unfollow(name)
        stop(name, ClientError(error, about: name))
      }
    }
    followForgotten(at: now)
    lookForForks(name, at: now)
    stacks[name]?.conflictsMayDiffer = true
    dirty.insert(name)
    for author in batch.authors where !keptNames.contains(author.device) {
      if let name = names[author.device] { learn(name, of: author.device) }
    }
    if stack.replica.last.map({ names[$0.event.dot.device] == nil }) == true { askNames(at: now) }
  }

  /// Puts on the disk what was taken in, tells the session, and lets those know who acted.
  ///
  /// - Returns: false if something could not be put there.
  @discardableResult
  mutating func commit(at now: Moment) -> Bool {
    guard undelivered > 0 || replica.hasPending || !uncommitted.isEmpty else { return true }
    let pending = replica.pending
    let own = Set(pending.filter(\.hasOwnPending).map(\.name))
    let acts = uncommitted
    uncommitted = []
    do throws(ClientError) {
      for stack in try replica.commit() {
        core.persisted(
          stack.name, localHead: stack.localHead, own: own.contains(stack.name), policy: stack.fold.policy)
        dirty.insert(stack.name)
      }
      core.consumed(undelivered)
      undelivered = 0
      if !pending.isEmpty { storageWorks() }
      committed += acts
      return true
    } catch {
      core.consumed(undelivered)
      undelivered = 0
      storageProblem = error
      for act in acts { act.reply.fail(error) }
      for name in stacks.keys {
        stacks[name]?.conflictsMayDiffer = true
        dirty.insert(name)
      }
      // What was received has to come again, and what is sent has to be what is stored.
      refollow(Set(pending.map(\.name)), leavingOut: true, at: now)
      return false
    }
  }

  /// What the disk didn't take was shown with every stack, so each is shown without it.
  private mutating func storageWorks() {
    guard storageProblem != nil else { return }
    storageProblem = nil
    dirty.formUnion(stacks.keys)
  }

  /// Whether the disk takes something again, if the last commit failed: otherwise it would seem broken until the next.
  mutating func proveStorage(at now: Moment) {
    guard storageProblem != nil, let log = replica.log else { return }
    do throws(LogError) {
      try log.setFact("writable", Array(String(now.wall).utf8))
      storageWorks()
    } catch {
      refollowAt = refollowAt ?? now.monotonic + 5000
    }
  }
}
