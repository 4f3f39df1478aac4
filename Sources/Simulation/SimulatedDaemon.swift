import EventLog
import NavigationModel
import Replication
import WireFormat
import ZeroMQ

/// The daemon's process, when it runs, and its store.
final class SimulatedDaemon {
  let clock = Clock()
  /// Nil when it doesn't run.
  var core: ServerCore?
  /// Goes up with every start and end.
  var life = 0
  var process = SimulatedProcess()
  var log: SimulatedLog?
  var disk: SimulatedDisk?
  var stuckUntil = 0
  /// When the threads that write and read are free.
  var writesFreeAt = 0
  var readsFreeAt = 0
  var isTurnDue = false
  var wakesAt: Int?
  var full: Set<ServerCore.Peer> = []
  /// How long a job of the disk takes at most, in milliseconds.
  let slowestJob: Int

  init(_ plan: Plan) { slowestJob = plan.latency.upperBound > 10 ? 60 : 3 }

  func moment() -> ServerCore.Moment { ServerCore.Moment(milliseconds: clock.now, wall: clock.wall) }
}

extension World {
  func makeDisk(_ clock: Clock, _ owner: String) -> SimulatedDisk {
    SimulatedDisk(epoch: random.next() | 1, clock: clock, random: random.split()) { [unowned self] in
      struck("\(owner): \($0)")
      note("\(owner) disk: \($0)")
    }
  }

  func setUpDaemon() {
    daemon.disk = makeDisk(daemon.clock, "daemon")
    startDaemon()
  }

  func startDaemon() {
    guard daemon.core == nil, let disk = daemon.disk else { return }
    let process = SimulatedProcess()
    let log = SimulatedLog(disk, process)
    let core: ServerCore
    do throws(LogError) { core = try makeCore(log) } catch {
      note("the daemon can't start: \(error)")
      after(1000) { [self] in startDaemon() }
      return
    }
    daemon.life += 1
    daemon.process = process
    daemon.log = log
    daemon.core = core
    daemon.writesFreeAt = now
    daemon.readsFreeAt = now
    daemon.isTurnDue = false
    daemon.wakesAt = nil
    count("daemon starts")
    note("the daemon starts, epoch \(String(core.configuration.epoch, radix: 16))")
  }

  private func makeCore(_ log: SimulatedLog) throws(LogError) -> ServerCore {
    let known = try log.fact("daemon").flatMap { DeviceID(String(decoding: $0, as: UTF8.self)) }
    let id = known ?? DeviceID(high: random.next(), low: random.next())
    if known == nil { try log.setFact("daemon", Array(id.description.utf8)) }
    var names: [DeviceID: String] = [:]
    for (key, value) in try log.facts(prefixed: "name/") {
      if let device = DeviceID(key.dropFirst(5)) { names[device] = String(decoding: value, as: UTF8.self) }
    }
    var configuration = ServerCore.Configuration(daemon: id, epoch: log.epoch)
    let time = try log.fact("newest-time").flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
    configuration.newestTime = try log.stacks(in: nil).map(\.lastStored).reduce(time, max)
    configuration.limits = plan.limits
    configuration.batchBytes = plan.batchBytes
    configuration.commitBytes = plan.commitBytes
    configuration.maximumBacklog = plan.maximumBacklog
    configuration.idleStacks = plan.idleStacks
    configuration.startedAt = daemon.clock.wall
    configuration.feedEndpoint = "ipc:///feed"
    return ServerCore(configuration, names: names)
  }

  /// The process ends.
  func endDaemon() {
    guard let core = daemon.core else { return }
    for (counter, value) in core.counters.nonzero { count("daemon: \(counter.name)", value) }
    daemon.process.hasCrashed = true
    daemon.core = nil
    daemon.log = nil
    daemon.life += 1
    for connection in network.connections.values.sorted(by: { $0.number < $1.number }) {
      cut(connection, tellsDevice: true)
    }
  }

  // MARK: The loop's turn

  func daemonInput(_ body: (inout ServerCore, ServerCore.Moment) -> Void) {
    guard daemon.core != nil else { return }
    body(&daemon.core!, daemon.moment())
    guard !daemon.isTurnDue else { return }
    daemon.isTurnDue = true
    let life = daemon.life
    after(0) { [self] in
      guard daemon.life == life else { return }
      daemon.isTurnDue = false
      daemonTurn()
    }
  }

  private func daemonTurn() {
    guard daemon.core != nil else { return }
    if let deadline = daemon.core?.deadline, deadline <= now {
      daemon.core?.timerFired(at: daemon.moment())
      if let again = daemon.core?.deadline, again <= now { violated(.timers, "the daemon's is due again at once") }
    }
    while let actions = daemon.core?.drain(), !actions.isEmpty {
      daemon.full = []
      for action in actions { carryOut(action) }
    }
    checkDaemonBounds()
    guard let deadline = daemon.core?.deadline, daemon.wakesAt.map({ deadline < $0 }) ?? true else { return }
    daemon.wakesAt = deadline
    let life = daemon.life
    after(max(deadline, daemon.stuckUntil) - now) { [self] in
      guard daemon.life == life else { return }
      daemon.wakesAt = nil
      daemonTurn()
    }
  }

  private func carryOut(_ action: ServerCore.Action) {
    switch action {
    case .send(let peers, let bytes, let kind):
      for peer in peers {
        switch daemon.full.contains(peer) ? .full : send(bytes, to: peer) {
        case .sent: break
        case .full:
          daemon.full.insert(peer)
          daemon.core?.socketFull(peer, for: bytes, kind, at: daemon.moment())
        case .gone: daemon.core?.peerGone(peer, at: daemon.moment())
        case .tooLarge: violated(.bounds, "the daemon sends \(bytes.count) bytes at once")
        }
      }
    case .commit(let commit): onDisk(writes: true) { [self] log in append(commit, log) }
    case .keepName(let device, let name):
      onDisk(writes: true) { log in
        try? log.setFact("name/\(device)", Array(name.utf8))
        return { _, _ in }
      }
    case .load(let stack): onDisk(writes: false) { [self] log in load(stack, log) }
    case .read(let read): onDisk(writes: false) { [self] log in self.read(read, log) }
    case .recall(let recall): onDisk(writes: false) { [self] log in self.recall(recall, log) }
    case .list(_, let peer): onDisk(writes: false) { _ in { core, moment in core.listed([], for: peer, at: moment) } }
    case .publish: count("batches published")
    case .forget: break
    case .log(let record): if record.level == .error { count("daemon errors: \(record.text)") }
    }
  }

  // MARK: The log's threads

  private typealias Answer = (inout ServerCore, ServerCore.Moment) -> Void

  /// Does a job after those before it, and tells the machine later.
  private func onDisk(writes: Bool, _ job: @escaping (SimulatedLog) -> Answer) {
    let free = max(now, writes ? daemon.writesFreeAt : daemon.readsFreeAt) + random.int(0...daemon.slowestJob)
    if writes { daemon.writesFreeAt = free } else { daemon.readsFreeAt = free }
    let life = daemon.life
    after(free - now) { [self] in
      guard daemon.life == life, let log = daemon.log else { return }
      let answer = job(log)
      if daemon.process.hasCrashed {
        note("the daemon crashes in its disk")
        endDaemon()
        return after(random.int(100...5000)) { [self] in startDaemon() }
      }
      after(max(random.int(0...1), daemon.stuckUntil - now)) { [self] in
        guard daemon.life == life else { return }
        daemonInput(answer)
      }
    }
  }

  private func append(_ commit: ServerCore.Commit, _ log: SimulatedLog) -> Answer {
    let appends = commit.parts.map { part in
      LogAppend(
        stack: part.stack, policy: part.policy, batch: part.batch,
        heads: part.heads.map { StoredHead(device: $0.device, sequence: $0.sequence, digest: $0.digest) },
        newestTime: part.newestTime)
    }
    do throws(LogError) {
      let offsets = try log.append(appends)
      count("commits")
      return { core, moment in core.appendsDurable(commit.number, firstOffsets: offsets, at: moment) }
    } catch {
      if error.code == .notNext { violated(.sound, "the daemon appends what doesn't follow: \(error)") }
      let failure = ServerCore.StorageFailure("\(error)")
      return { core, moment in core.appendsFailed(commit.number, failure, at: moment) }
    }
  }

  private func load(_ stack: StackName, _ log: SimulatedLog) -> Answer {
    do {
      var loader = StackLoader(stack, policy: try log.info(of: stack)?.policy)
      while case let page = try log.read(stack, after: loader.head, maximumBytes: 4096), !page.isEmpty {
        for stored in page { try loader.add(stored.batch) }
      }
      let loaded = loader
      return { core, moment in core.stackLoaded(loaded, at: moment) }
    } catch {
      if !(error is LogError) { violated(.sound, "\(error)") }
      let failure = ServerCore.StorageFailure("\(error)")
      return { core, moment in core.stackNotLoaded(stack, failure, at: moment) }
    }
  }

  private func read(_ read: ServerCore.Read, _ log: SimulatedLog) -> Answer {
    do throws(LogError) {
      let start =
        switch read.start {
        case .offset(let offset): offset
        case .vector(let vector): try log.offset(in: read.stack, lackedBy: vector)
        }
      let batches = try log.read(read.stack, after: start, maximumBytes: read.maximumBytes).map {
        ServerCore.ReadBatch(firstOffset: $0.firstOffset, batch: $0.batch)
      }
      return { core, moment in core.batchesRead(read, after: start, batches, at: moment) }
    } catch {
      let failure = ServerCore.StorageFailure("\(error)")
      return { core, moment in core.readFailed(read, failure, at: moment) }
    }
  }

  private func recall(_ recall: ServerCore.Recall, _ log: SimulatedLog) -> Answer {
    do throws(LogError) {
      let events = try log.events(of: recall.device, in: recall.stack, sequences: recall.sequences)
      let last = Dot(recall.device, recall.sequences.upperBound)
      var offset = 0
      var found = 0
      for stored in try log.read(recall.stack, after: 0, maximumBytes: .max) {
        offset = stored.firstOffset
        stored.batch.forEach { record in
          if record.dot == last { found = offset }
          offset += 1
        }
      }
      let answer = ServerCore.Recalled(events: events, offset: found)
      return { core, moment in core.recalled(recall, answer, at: moment) }
    } catch {
      let failure = ServerCore.StorageFailure("\(error)")
      return { core, moment in core.recallFailed(recall, failure, at: moment) }
    }
  }
}
