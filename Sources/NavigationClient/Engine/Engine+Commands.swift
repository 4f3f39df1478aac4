import EventLog
import NavigationModel
import Replication
import WireFormat
import ZeroMQ

extension Engine {
  mutating func commands(_ commands: [EngineCommand], at now: Moment) {
    for command in commands {
      switch command {
      case .open(let name, let policy, let reply): open(name, policy, reply, at: now)
      case .leave(let name): leave(name)
      case .act(let name, let intent, let id, let reply): act(name, intent, id, reply, at: now)
      case .awaitAccepted(let name, let dot, let within, let reply):
        guard let stack = stacks[name], let device = replica.device else {
          reply.fail(.closed(name.description))
          continue
        }
        // A dot of a former id: its event may have been acted again, so all is waited for.
        let own = stack.replica.chains.vector[device]
        let sequence = dot?.device == device ? dot?.sequence : nil
        wait(name, .accepted(min(sequence ?? own, own)), within, reply, at: now)
      case .awaitLive(let name, let within, let reply): wait(name, .live, within, reply, at: now)
      case .list(let space, let within, let reply):
        lists.append(Request(.list(List(space: space)), reply, deadline: now.monotonic + within))
        askNext()
      case .report(let within, let reply):
        reports.append(Request(.statusRequest(StatusRequest()), reply, deadline: now.monotonic + within))
        askNext()
      case .markConflictsSeen(let name): markConflictsSeen(name)
      case .adoptPolicy(let name):
        guard stacks[name] != nil else { continue }
        stacks[name]?.adopts = true
        if stacks[name]?.problem?.code == .policyMismatch { stacks[name]?.problem = nil }
        core.follow(name, policy: nil, now: now.monotonic)
      case .resolved(let endpoint): open(endpoint, at: now)
      case .connect:
        followWaiting(at: now)
        core.start(now: now.monotonic)
        core.hurry(now: now.monotonic)
      }
    }
    carryOut(at: now)
  }

  // MARK: Stacks

  private mutating func open(_ name: StackName, _ policy: Policy?, _ reply: Reply<StackHub>, at now: Moment) {
    let replica: StackReplica
    do throws(ClientError) { replica = try self.replica.open(name, policy: policy) } catch {
      return reply.fail(error)
    }
    follow(replica, at: now)
    stacks[name]?.users += 1
    commit(at: now)
    publish(name)
    if let hub = stacks[name]?.hub { reply.succeed(hub) }
  }

  private mutating func follow(_ replica: StackReplica, at now: Moment) {
    let name = replica.name
    guard stacks[name] == nil else { return }
    var stack = OpenStack(replica: replica, hub: StackHub(name: name))
    if let device = self.replica.device {
      stack.acknowledged = min(readAcknowledged(name), replica.chains.vector[device])
      stack.savedAcknowledged = stack.acknowledged
      let noted = try? self.replica.log?.fact(RefusalFact.key(of: name))
      stack.refusal = noted.flatMap { RefusalFact(value: $0)?.reason }
    }
    stacks[name] = stack
    markConflictsSeen(name)
    core.follow(name, policy: replica.policy, now: now.monotonic)
  }

  /// What a daemon didn't take in an earlier life of this device is sent now, whoever has the stack open.
  mutating func followWaiting(at now: Moment) {
    guard let device = replica.device, let log = replica.log else { return }
    isWaitingUnknown = false
    do throws(LogError) {
      for name in try unacknowledgedStacks(of: device, log) where stacks[name] == nil {
        if let stack = try? replica.open(name, policy: nil) { follow(stack, at: now) }
      }
    } catch {
      storageProblem = ClientError(error)
      dirty.formUnion(stacks.keys)
      isWaitingUnknown = error.isRetriable
      refollowAt = refollowAt ?? now.monotonic + 1000
    }
  }

  private mutating func leave(_ name: StackName) {
    stacks[name]?.users -= 1
    leaveIfUnused(name)
  }

  /// An own event that waits keeps the stack followed.
  mutating func leaveIfUnused(_ name: StackName) {
    guard let stack = stacks[name], stack.users == 0, waiting(of: name) == 0, !stack.replica.hasPending else { return }
    saveAcknowledged(name)
    core.unfollow(name)
    stacks.removeValue(forKey: name)?.hub.end()
    failWaiters(.closed(name.description)) { $0.stack == name }
    replica.close(name)
    dirty.remove(name)
  }

  private mutating func act(
    _ name: StackName, _ intent: Intent, _ id: String?, _ reply: Reply<Outcome>, at now: Moment
  ) {
    guard let stack = stacks[name] else { return reply.fail(.closed(name.description)) }
    guard redos[name] == nil else {
      return reply.fail(
        ClientError(
          .fork, about: name.description,
          "the daemon had another history of this device; it is being joined with this one: try again when a daemon "
            + "is connected", isRetriable: true))
    }
    stack.replica.notesEvents = stack.hub.hasChangeReaders
    if id != nil { commit(at: now) }
    do throws(ClientError) {
      let (acted, isRepeated) = try replica.act(intent, on: name, id: id, at: stampTime(at: now))
      let outcome = Outcome(
        dot: acted.dot, action: acted.action, reason: acted.reason, isRepeated: isRepeated,
        entries: stack.replica.entries())
      // Also what changed nothing waits for the commit: it may rest on an act that isn't stored yet.
      uncommitted.append((name, outcome, reply))
      if !replica.hasPending { committed += takeUncommitted() }
      if replica.pendingBytes > Replica.commitBytes { commit(at: now) }
    } catch {
      followForgotten(at: now)
      if replica.isUnread(name) { refollow([name], at: now) }
      reply.fail(error)
    }
  }

  private mutating func takeUncommitted() -> [(stack: StackName, outcome: Outcome, reply: Reply<Outcome>)] {
    defer { uncommitted = [] }
    return uncommitted
  }

  // MARK: What is acknowledged

  func waiting(of name: StackName) -> Int {
    guard let device = replica.device, let stack = stacks[name] else { return 0 }
    return max(0, stack.replica.chains.vector[device] - stack.acknowledged)
  }

  private func key(_ name: StackName) -> String { "acknowledged/\(name)" }

  /// From the last time; only for what is shown before a daemon is there, so an unreadable one is none.
  private func readAcknowledged(_ name: StackName) -> Int {
    guard let log = replica.log, let bytes = try? log.fact(key(name)) else { return 0 }
    return Int(String(decoding: bytes, as: UTF8.self)) ?? 0
  }

  /// Own events up to this one are at a daemon, whether the stack is open or not.
  func acknowledged(of name: StackName) -> Int { stacks[name]?.acknowledged ?? readAcknowledged(name) }

  mutating func saveAcknowledged(_ name: StackName) {
    guard let stack = stacks[name], stack.acknowledged != stack.savedAcknowledged else { return }
    stacks[name]?.savedAcknowledged = stack.acknowledged
    try? replica.log?.setFact(key(name), Array(String(stack.acknowledged).utf8))
  }

  // MARK: Waiting

  private mutating func wait(
    _ name: StackName, _ wish: Waiter.Wish, _ within: Int, _ reply: Reply<Void>, at now: Moment
  ) {
    guard let stack = stacks[name] else { return reply.fail(.closed(name.description)) }
    if let problem = stack.problem, !problem.isRetriable { return reply.fail(problem) }
    if case .refused(let reason, let isNotAuthorised) = connection {
      return reply.fail(ClientError(isNotAuthorised ? .notAuthorised : .refused, about: name.description, reason))
    }
    waiters.append(Waiter(stack: name, wish: wish, deadline: now.monotonic + within, reply: reply))
  }

  mutating func failWaiters(_ error: ClientError, _ fails: (Waiter) -> Bool) {
    let failing = waiters.filter(fails)
    waiters.removeAll(where: fails)
    answers += failing.map { ($0.reply, .failure(error)) }
  }

  func isMet(_ waiter: Waiter) -> Bool {
    switch waiter.wish {
    case .accepted(let sequence): (stacks[waiter.stack]?.acknowledged ?? 0) >= sequence
    case .live: stacks[waiter.stack]?.isLive == true
    }
  }

  /// Answers those whose wish came true or whose time is over.
  mutating func expire(at now: Moment) {
    var left: [Waiter] = []
    for waiter in waiters {
      if isMet(waiter) {
        answers.append((waiter.reply, .success(())))
      } else if now.monotonic >= waiter.deadline {
        answers.append((waiter.reply, .failure(timedOut(waiter))))
      } else {
        left.append(waiter)
      }
    }
    waiters = left
    let isOpen = core.welcome != nil
    if let due = lists.dueNext(), now.monotonic >= due { lists.expire(at: now.monotonic, isOpen: isOpen, noAnswer()) }
    if let due = reports.dueNext(), now.monotonic >= due {
      reports.expire(at: now.monotonic, isOpen: isOpen, noAnswer())
    }
  }

  private func timedOut(_ waiter: Waiter) -> ClientError {
    if let problem = stacks[waiter.stack]?.problem { return problem }
    let isConnected = connection == .connected
    let message =
      switch waiter.wish {
      case .accepted:
        isConnected
          ? "the daemon has not accepted it yet; it stays on this device and is sent until it has"
          : "no daemon is connected; it stays on this device and is sent when one is"
      case .live: isConnected ? "the daemon has not sent all yet" : "no daemon is connected"
      }
    return ClientError(
      isConnected ? .timedOut : .unreachable, about: waiter.stack.description, message, isRetriable: true)
  }

  private func noAnswer() -> ClientError {
    ClientError(
      connection == .connected ? .timedOut : .unreachable,
      about: configuration.daemon?.description ?? (try? IPCPath.forClient())?.description ?? "daemon",
      connection == .connected ? "the daemon has not answered in time" : "no daemon is connected; start navsyncd",
      isRetriable: true)
  }

  // MARK: Requests

  /// Asks the next question of each kind. The daemon's answers don't say to which they are, and not all come in order,
  /// so one is under way at a time.
  mutating func askNext() {
    guard core.welcome != nil else { return }
    if let request = lists.first, !request.isSent {
      lists[0].isSent = true
      core.request(request.message)
    }
    if let request = reports.first, !request.isSent {
      reports[0].isSent = true
      core.request(request.message)
    }
  }

  /// A session began: what was asked in the one before is asked again.
  mutating func askAgain() {
    lists.sessionBegan()
    reports.sessionBegan()
    askNext()
  }

  mutating func answered(_ message: Message) {
    defer { askNext() }
    switch message {
    case .listing(let listing):
      for device in listing.devices { learn(device.name, of: device.device) }
      guard !lists.isEmpty else { return }
      lists[0].parts.append(listing)
      guard listing.last else { return }
      let request = lists.removeFirst()
      var whole = listing
      whole.stacks = request.parts.flatMap(\.stacks)
      whole.devices = request.parts.flatMap(\.devices)
      request.reply?.succeed(whole)
      dirty.formUnion(stacks.keys)
    case .statusReport(let report):
      if !reports.isEmpty { reports.removeFirst().reply?.succeed(report) }
    case .refused(let refused):
      let error = ClientError(
        refused.code, about: refused.stack, reason: refused.reason, isRetriable: refused.code == .busy)
      if refused.about == .list, !lists.isEmpty { lists.removeFirst().reply?.fail(error) }
      if refused.about == .status, !reports.isEmpty { reports.removeFirst().reply?.fail(error) }
    case _: break
    }
  }

  /// What a device is called. Kept beside the events of a stack that it acted on, so that the replica can be read by
  /// names without a daemon. It is for people only, so a disk that won't take it is no matter.
  mutating func learn(_ name: String, of device: DeviceID) {
    guard !name.isEmpty, names[device] != name || !keptNames.contains(device) else { return }
    names[device] = name
    guard stacks.values.contains(where: { $0.replica.chains.vector[device] > 0 }) else { return }
    keptNames.insert(device)
    try? replica.log?.setFact(DeviceNameFact.key(of: device), Array(name.utf8))
  }

  mutating func failRequests(_ error: ClientError) {
    for request in lists { request.reply?.fail(error) }
    for request in reports { request.reply?.fail(error) }
    lists = []
    reports = []
  }

  /// Asks for the devices' names, at most every five seconds.
  mutating func askNames(at now: Moment) {
    guard connection == .connected, now.monotonic >= asksNamesAt else { return }
    asksNamesAt = now.monotonic + 5000
    lists.append(Request(.list(List(devicesOnly: true)), nil, deadline: now.monotonic + 5000))
    askNext()
  }
}

extension Array {
  /// When one of the requests has waited long enough, nil for never.
  func dueNext<Answer>() -> Int? where Element == Engine.Request<Answer> {
    lazy.filter { !$0.isGivenUp }.map(\.deadline).min()
  }

  /// Fails those whose time is over. The answer to one that was sent may still come, so it keeps its place until then.
  mutating func expire<Answer>(
    at now: Int, isOpen: Bool, _ error: ClientError
  ) where Element == Engine.Request<Answer> {
    for place in indices where now >= self[place].deadline && !self[place].isGivenUp {
      self[place].reply?.fail(error)
      self[place].reply = nil
      self[place].isGivenUp = true
    }
    removeAll { $0.isGivenUp && !($0.isSent && isOpen) }
  }

  mutating func sessionBegan<Answer>() where Element == Engine.Request<Answer> {
    removeAll(where: \.isGivenUp)
    for place in indices {
      self[place].isSent = false
      self[place].parts = []
    }
  }
}
