package import EventLog
package import NavigationModel
package import WireFormat

/// All stacks that one replica has open, with the log that they share: a device's, or an observer's without a log.
///
/// Belongs to one thread. Acts and received batches are taken in at once and committed together: one `fdatasync` for
/// all that arrived at the same time.
package final class Replica {
  /// Nil for an observer.
  package private(set) var device: DeviceID?
  /// Nil for an observer: everything is in memory then.
  package let log: (any EventLog)?
  private let authority: Authority
  package private(set) var stacks: [StackName: StackReplica] = [:]
  private var intents: [StackName: IntentMemory] = [:]
  /// Stacks that took something in since the last commit.
  private var changed: Set<StackName> = []
  /// Stacks that took in what wasn't committed, and could not be read from the log again yet.
  private var unread: Set<StackName> = []
  /// Stacks that took in what isn't held any more, since the log couldn't be read: it has to come again.
  private var forgotten: Set<StackName> = []

  /// How much may wait for a commit before it is made.
  package static let commitBytes = 1 << 20

  package convenience init(device: DeviceID?, log: (any EventLog)?) {
    self.init(device: device, log: log, authority: Authority())
  }

  init(device: DeviceID?, log: (any EventLog)?, authority: Authority) {
    self.device = device
    self.log = log
    self.authority = authority
  }

  /// Opens a stack, or gives it back if it is open.
  ///
  /// - Parameter policy: what a new stack is to be; nil is the stack's own, or `merge`.
  /// - Throws: `.policyMismatch` if the log says otherwise.
  package func open(_ name: StackName, policy: Policy?) throws(ClientError) -> StackReplica {
    let stack: StackReplica
    if let open = stacks[name] {
      stack = open
    } else if let log {
      stack = try StackReplica(name, policy: policy, from: log, rules: try authority.rules(of: name))
    } else {
      stack = StackReplica(name, policy: policy, rules: try authority.rules(of: name))
    }
    if let policy, let own = stack.policy, own != policy {
      throw ClientError(
        .policyMismatch, about: name.description,
        "the stack has the policy \(own), not \(policy); its first event fixed it: leave the policy out")
    }
    if let policy, stack.policy == nil { stack.learn(policy) }
    stacks[name] = stack
    return stack
  }

  /// Opens a stack that the log can't give now: it is empty, and read before anything is done with it.
  func openUnread(_ name: StackName, policy: Policy?) -> StackReplica {
    let stack = StackReplica(name, policy: policy)
    stacks[name] = stack
    unread.insert(name)
    return stack
  }

  package func close(_ name: StackName) {
    precondition(!changed.contains(name), "\(name) has something to commit")
    stacks[name] = nil
    intents[name] = nil
    unread.remove(name)
  }

  /// The bytes that wait for a commit.
  package var pendingBytes: Int { changed.reduce(0) { $0 + (stacks[$1]?.pendingBytes ?? 0) } }

  package var hasPending: Bool { !changed.isEmpty }

  /// The stacks that took something in since the last commit, by name.
  package var pending: [StackReplica] { changed.sorted().compactMap { stacks[$0] } }

  /// Takes in those events of a batch that the stack lacks; none if the stack can't be read again after a failure.
  ///
  /// - Parameter takesOwn: whether own events that aren't held are taken, too: of a stack that is begun again, which a copy
  ///   of this device's folder may have done before. Otherwise they are another's.
  /// - Throws: at the first that can't be; those before it are in.
  package func receive(_ batch: EventBatch, of name: StackName, takesOwn: Bool = false) throws(ChainFault) {
    guard let stack = stacks[name], (try? readAgain(name)) != nil else { return }
    defer { if stack.hasPending { changed.insert(name) } }
    defer { try? refold(stack) }
    try stack.receive(batch, own: device, takesOwn: takesOwn, log: log)
  }

  /// Folds a stack anew if what was taken in can't be folded as it came, and copies what is to be copied.
  ///
  /// - Throws: if the log can't be read. The stack is then what is stored, and what was received has to come again.
  private func refold(_ stack: StackReplica) throws(ClientError) {
    do throws(LogError) {
      try stack.refold(from: log)
      if let log { try stack.settle(log) }
    } catch {
      try? reload(stack.name)
      throw ClientError(error)
    }
  }

  /// The stacks that lost something that was received, since the log couldn't be read; each is told once.
  func takeForgotten() -> Set<StackName> {
    defer { forgotten = [] }
    return forgotten
  }

  /// Copies the histories that are held of forked chains and that no copy has: before a daemon is told what is held.
  ///
  /// - Throws: if the log can't be read. What the stack took in and wasn't committed is forgotten then.
  func settle(_ name: StackName) throws(ClientError) {
    guard let stack = stacks[name], !unread.contains(name), !stack.chains.unsettled.isEmpty else { return }
    try refold(stack)
    note(name)
  }

  /// Makes an intent an event of this device, if anything would change. Not done before ``commit()`` returned.
  ///
  /// - Parameter id: an action with an id that was used before is not done again; the outcome says so. Before one with an
  ///   id everything else is committed: if the id can't be noted, the stack goes back to what is on the disk.
  package func act(
    _ intent: Intent, on name: StackName, id: String?, at wall: Int
  ) throws(ClientError) -> (acted: StackReplica.Acted, isRepeated: Bool) {
    guard let stack = stacks[name], let device else {
      preconditionFailure("only a device acts, and only on a stack that it has open")
    }
    try readAgain(name)
    precondition(id == nil || !stack.hasPending, "\(name) has something to commit")
    defer { if stack.hasPending { changed.insert(name) } }
    guard let id else {
      let acted = try stack.act(intent, by: device, at: wall)
      try refold(stack)
      return (acted, false)
    }
    var memory: IntentMemory
    if let open = intents[name] { memory = open } else { memory = try IntentMemory(stack, device: device, log: log) }
    if let known = memory[id] {
      intents[name] = memory
      return (known, true)
    }
    let acted = try stack.act(intent, by: device, at: wall)
    stack.seal()
    do throws(LogError) {
      try memory.remember(id, acted, digest: stack.chains.digest(of: device), log: log)
    } catch {
      try reload(name)
      throw ClientError(error)
    }
    intents[name] = memory
    try refold(stack)
    return (acted, false)
  }

  /// Puts everything that was taken in on stable storage, or nothing: then it is as it was before.
  ///
  /// - Returns: the stacks that have something new.
  package func commit() throws(ClientError) -> [StackReplica] {
    let stacks = pending
    if stacks.isEmpty { return [] }
    guard let log else {
      changed = []
      for stack in stacks { stack.committed(firstOffset: nil) }
      return stacks
    }
    do throws(LogError) {
      let offsets = try log.append(stacks.compactMap { $0.append() })
      changed = []
      for (stack, offset) in zip(stacks, offsets) { stack.committed(firstOffset: offset) }
    } catch {
      try discard()
      throw ClientError(error)
    }
    return stacks
  }

  /// The stack took something in by itself.
  func note(_ name: StackName) {
    if stacks[name]?.hasPending == true { changed.insert(name) }
  }

  /// Forgets what a stack took in and wasn't committed.
  func reload(_ name: StackName) throws(ClientError) {
    if stacks[name]?.hasPending == true { forgotten.insert(name) }
    changed.remove(name)
    intents[name] = nil
    unread.insert(name)
    try readAgain(name)
  }

  /// Whether a stack's log has to be read again before anything can be done with it: it is empty until then.
  package func isUnread(_ name: StackName) -> Bool { unread.contains(name) }

  /// Reads a stack from the log again if what it has in memory isn't what is stored, since a commit failed.
  package func readAgain(_ name: StackName) throws(ClientError) {
    guard unread.contains(name) else { return }
    if let log { try stacks[name]?.load(from: log) }
    unread.remove(name)
  }

  /// Forgets what wasn't committed. Whether a failed commit is stored is open, so the log is asked.
  private func discard() throws(ClientError) {
    let names = changed.sorted()
    unread.formUnion(names)
    changed = []
    intents = [:]
    for name in names { try readAgain(name) }
  }
}
