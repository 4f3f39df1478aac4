import EventLog
import Locking
import NavigationModel
import Replication
import WireFormat
import ZeroMQ

extension Engine {
  /// The daemon holds another history of these stacks under an id of ours: the device becomes a new incarnation.
  mutating func heal(at now: Moment) {
    let stacks = toHeal
    toHeal = [:]
    guard let former = stacks.values.first, let device = replica.device, let log = replica.log,
      let store
    else { return }
    var names = Set(stacks.filter { $0.value == former }.keys)
    commit(at: now)
    let kept: String
    do throws(LogError) {
      // Another device may have used their numbers, as it did where that was seen, so these are begun again too: sent
      // under a former id they would pass for another's, and which history is folded would be left to the fork rule, with
      // the other device away.
      if former == device { names.formUnion(try unacknowledgedStacks(of: device, log).filter { redos[$0] == nil }) }
      kept = try Incarnation.prepare(log, in: store, without: names, former: former)
    } catch {
      // The old store is as it was; no room, perhaps. It shows again when the daemon is asked anew.
      for name in names { stop(name, ClientError(error)) }
      refollow(names, after: 30_000, at: now)
      return
    }
    disconnect()
    do throws(LogError) {
      let log = try Incarnation.swap(log, in: store, keeping: kept)
      let id = try Device.deviceID(of: log)
      replica = Replica(
        device: id, log: log, authority: try Self.authority(configuration, device: id, store: store))
      try takeUp(log)
      identity.withLock { $0 = id }
      self.names[id] = configuration.name
    } catch {
      // Neither store is open: nothing more can be done in this process. Opening the device again ends the swap.
      storageProblem = ClientError(error)
      replica = Replica(device: device, log: nil)
      loop.stop()
      return
    }
    core = ClientCore(Self.settings(configuration, device: replica.device))
    for name in self.stacks.keys.sorted() {
      guard let old = self.stacks[name] else { continue }
      let opened: StackReplica
      var problem: ClientError?
      do throws(ClientError) { opened = try replica.open(name, policy: old.replica.policy) } catch {
        opened = replica.openUnread(name, policy: old.replica.policy)
        problem = error
      }
      var stack = OpenStack(replica: opened, hub: old.hub)
      stack.problem = problem
      stack.users = old.users
      stack.changeNumber = old.changeNumber
      stack.lastChange = old.lastChange
      stack.seenConflicts = old.seenConflicts
      stack.wasLive = old.wasLive
      self.stacks[name] = stack
      core.follow(name, policy: opened.policy, now: now.monotonic)
      toRefollow.remove(name)
      dirty.insert(name)
    }
    core.start(now: now.monotonic)
    carryOut(at: now)
  }

  /// The stacks with events under an id that no daemon said to have, by name.
  func unacknowledgedStacks(of device: DeviceID, _ log: any EventLogReader) throws(LogError) -> [StackName] {
    var names: [StackName] = []
    for info in try log.stacks(in: nil) {
      let own = try log.heads(of: info.stack).first { $0.device == device }?.sequence ?? 0
      if own > acknowledged(of: info.stack) { names.append(info.stack) }
    }
    return names
  }

  /// What is to be acted again when all of a stack is there, also from an earlier life of the process.
  mutating func takeUp(_ log: any EventLogReader) throws(LogError) {
    guard store != nil else { return }
    formerIDs = try Incarnation.formerIDs(log)
    for fact in try log.facts(prefixed: "redo/") {
      guard let name = try? StackName(fact.key.dropFirst(5)) else { continue }
      redos[name] = try Incarnation.redo(of: name, log)
    }
  }

  /// Whether own events that the daemon lacks are stamped too far ahead for it: the device's clock was wrong. Not if
  /// another's events are, too, for ours may rest on them and can't be stamped before them: then all wait until the
  /// daemon's clock, which was set back, is there again.
  func isAhead(_ stack: StackReplica, has: VersionVector, at now: Moment) -> DeviceID? {
    guard let device = replica.device, store != nil, redos[stack.name] == nil else { return nil }
    let ahead = stack.chains.vector.elements.map(\.device).filter {
      Redo.isAhead(stack.chains.authorState(of: $0).timestamp, of: daemonTime(at: now))
    }
    guard ahead.allSatisfy({ $0 == device || formerIDs.contains($0) }) else { return nil }
    return ahead.first { stack.chains.vector[$0] > has[$0] }
  }

  /// The daemon's time, as far as it is known.
  func daemonTime(at now: Moment) -> Int { now.wall + (clockOffset ?? 0) }

  /// All of the stack is there: what only the replaced store has is taken over.
  mutating func redo(_ name: StackName, at now: Moment) {
    guard let redo = redos[name], let stack = stacks[name]?.replica, let device = replica.device,
      let log = replica.log, let store
    else { return }
    commit(at: now)
    do throws(ClientError) {
      do throws(ClientError) {
        try redo.apply(to: stack, in: store, log: log, as: device, former: formerIDs, at: daemonTime(at: now))
      } catch {
        // Nothing of it is kept: it is tried again the next time.
        try replica.reload(name)
        throw error
      }
      replica.note(name)
      try replica.settle(name)
      guard commit(at: now) else { throw storageProblem ?? .closed(name.description) }
      do throws(LogError) { try Incarnation.endRedo(of: name, log) } catch { throw ClientError(error) }
      redos[name] = nil
      stacks[name]?.problem = nil
    } catch {
      followForgotten(at: now)
      stacks[name]?.problem = error
      if error.isRetriable { refollow([name], at: now) }
    }
    stacks[name]?.conflictsMayDiffer = true
    dirty.insert(name)
  }

  static func settings(_ configuration: Configuration, device: DeviceID?) -> ClientCore.Settings {
    var settings = ClientCore.Settings(
      device: device, name: configuration.name, software: configuration.software,
      seed: configuration.seed ?? .random(in: 0...UInt64.max))
    // A daemon on the same machine costs nothing to look for, and the person is waiting.
    if configuration.daemon == nil || configuration.daemon?.path != nil { settings.reconnectCapMilliseconds = 1000 }
    return settings
  }
}
