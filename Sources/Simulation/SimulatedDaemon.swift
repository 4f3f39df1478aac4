import EventLog
import NavigationModel
import Replication
import SyncDaemon
import WireFormat
import ZeroMQ

/// A daemon's process, when it runs, and its store.
final class SimulatedDaemon {
  let number: Int
  let clock: Clock
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
  /// Those that it follows, and what it has for their near ends.
  var links: [SimulatedLink] = []
  /// How often it lost what it stored: its log is another one each time.
  var logs = 0
  var random: Randomness
  /// How long it is away after a crash in its disk.
  var crashLasts = 1000

  init(_ number: Int, _ seed: UInt64, _ clock: Clock) {
    self.number = number
    self.clock = clock
    random = Randomness(seed: seed, "daemon", number)
  }

  var name: String { "daemon-\(number)" }

  func moment() -> ServerCore.Moment { ServerCore.Moment(milliseconds: clock.now, wall: clock.wall) }
}

extension World {
  func makeDisk(_ clock: Clock, _ owner: Place, _ random: Randomness) -> SimulatedDisk {
    var random = random
    let epoch = random.next() | 1
    let disk = SimulatedDisk(epoch: epoch, clock: clock, random: random) { [unowned self] in
      struck("\(owner.kind): \($0)")
      note("\(owner.description) disk: \($0)")
    }
    if case .device = owner { disk.isDamaged = isSabotaged(.sound) }
    return disk
  }

  /// A new, empty disk.
  func giveDisk(_ daemon: SimulatedDaemon) {
    daemon.logs += 1
    daemon.disk = makeDisk(
      daemon.clock, .daemon(daemon.number),
      Randomness(seed: scenario.seed, "daemon disk", daemon.number, daemon.logs))
  }

  func startDaemon(_ daemon: SimulatedDaemon, after wait: Int) {
    after(wait) { [self] in startDaemon(daemon) }
  }

  func startDaemon(_ daemon: SimulatedDaemon) {
    guard daemon.core == nil, let disk = daemon.disk else { return }
    let process = SimulatedProcess()
    let log = SimulatedLog(disk, process)
    let core: ServerCore
    do throws(LogError) { core = try makeCore(log, daemon) } catch {
      note("\(daemon.name) can't start: \(error)")
      return startDaemon(daemon, after: 1000)
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
    note("\(daemon.name) starts, epoch \(String(core.configuration.epoch, radix: 16))")
    openLinks(of: daemon)
  }

  private func makeCore(_ log: SimulatedLog, _ daemon: SimulatedDaemon) throws(LogError) -> ServerCore {
    let known = try log.fact("daemon").flatMap { DeviceID(String(decoding: $0, as: UTF8.self)) }
    let id = known ?? DeviceID(high: daemon.random.next(), low: daemon.random.next())
    if known == nil { try log.setFact("daemon", Array(id.description.utf8)) }
    var names: [DeviceID: String] = [:]
    for (key, value) in try log.facts(prefixed: "name/") {
      if let device = DeviceID(key.dropFirst(5)) { names[device] = String(decoding: value, as: UTF8.self) }
    }
    var configuration = ServerCore.Configuration(daemon: id, epoch: log.epoch)
    let time = try log.fact("newest-time").flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
    configuration.newestTime = try log.stacks(in: nil).map(\.lastStored).reduce(time, max)
    configuration.limits = setting.limits
    configuration.batchBytes = setting.batchBytes
    configuration.commitBytes = setting.commitBytes
    configuration.maximumBacklog = setting.maximumBacklog
    configuration.idleStacks = setting.idleStacks
    configuration.startedAt = daemon.clock.wall
    configuration.feedEndpoint = "ipc:///feed"
    return ServerCore(configuration, names: names)
  }

  /// The process ends.
  func endDaemon(_ daemon: SimulatedDaemon) {
    guard let core = daemon.core else { return }
    for (counter, value) in core.counters.nonzero { count("daemon: \(counter.name)", value) }
    daemon.process.hasCrashed = true
    daemon.core = nil
    daemon.log = nil
    daemon.life += 1
    closeLinks(of: daemon)
    for connection in network.ordered where connection.daemon == daemon.number { cut(connection, tellsClient: true) }
  }

  // MARK: The loop's turn

  func daemonInput(_ daemon: SimulatedDaemon, _ body: (inout ServerCore, ServerCore.Moment) -> Void) {
    guard daemon.core != nil else { return }
    body(&daemon.core!, daemon.moment())
    turnSoon(daemon)
  }

  /// The turn is when all of this millisecond is in.
  func turnSoon(_ daemon: SimulatedDaemon) {
    guard daemon.core != nil, !daemon.isTurnDue else { return }
    daemon.isTurnDue = true
    let life = daemon.life
    after(0) { [self] in
      guard daemon.life == life else { return }
      daemon.isTurnDue = false
      daemonTurn(daemon)
    }
  }

  private func daemonTurn(_ daemon: SimulatedDaemon) {
    guard daemon.core != nil else { return }
    if let deadline = daemon.core?.deadline, deadline <= now {
      daemon.core?.timerFired(at: daemon.moment())
      if isSabotaged(.timers) || daemon.core?.deadline.map({ $0 <= now }) == true {
        violated(.timers, "\(daemon.name)'s is due again at once")
      }
    }
    linkTimers(of: daemon)
    carryOutAll(of: daemon)
    checkBounds(daemon)
    let deadlines = [daemon.core?.deadline] + daemon.links.map(\.core.deadline)
    guard let deadline = deadlines.compactMap(\.self).min(), daemon.wakesAt.map({ deadline < $0 }) ?? true else {
      return
    }
    daemon.wakesAt = deadline
    let life = daemon.life
    after(max(deadline, daemon.stuckUntil) - now) { [self] in
      guard daemon.life == life else { return }
      daemon.wakesAt = nil
      daemonTurn(daemon)
    }
  }

  func carryOutAll(of daemon: SimulatedDaemon) {
    while daemon.core != nil {
      let didAnything = carryOutLinks(of: daemon)
      let actions = daemon.core?.drain() ?? []
      keepAdoptedPolicies(of: daemon)
      guard !actions.isEmpty || didAnything else { return }
      daemon.full = []
      for action in actions { carryOut(action, of: daemon) }
    }
  }

  private func carryOut(_ action: ServerCore.Action, of daemon: SimulatedDaemon) {
    switch action {
    case .send(let peers, let bytes, let kind):
      for peer in peers {
        if let place = peer.link {
          daemon.links[place].inbox.append(bytes)
          continue
        }
        switch daemon.full.contains(peer) ? .full : send(bytes, to: peer) {
        case .sent: break
        case .full:
          daemon.full.insert(peer)
          daemon.core?.socketFull(peer, for: bytes, kind, at: daemon.moment())
        case .gone: daemon.core?.peerGone(peer, at: daemon.moment())
        case .tooLarge: violated(.bounds, "\(daemon.name) sends \(bytes.count) bytes at once")
        }
      }
    case .commit(let commit): onDisk(daemon, writes: true) { [self] log in append(commit, log) }
    case .keepName(let device, let name):
      onDisk(daemon, writes: true) { log in
        try? log.setFact("name/\(device)", Array(name.utf8))
        return { _, _ in }
      }
    case .load(let stack): read(.load(stack), of: daemon)
    case .read(let read): self.read(.read(read), of: daemon)
    case .recall(let recall): read(.recall(recall), of: daemon)
    case .list(let space, let peer): read(.list(space, peer), of: daemon)
    case .publish: count("batches published")
    case .forget: break
    case .log(let record): if record.level == .error { count("daemon errors: \(record.text)") }
    }
  }

  // MARK: The log's threads

  typealias Answer = (inout ServerCore, ServerCore.Moment) -> Void

  /// Does a job after those before it, and tells the machine later.
  func onDisk(_ daemon: SimulatedDaemon, writes: Bool, _ job: @escaping (SimulatedLog) -> Answer) {
    let free = max(now, writes ? daemon.writesFreeAt : daemon.readsFreeAt) + daemon.random.int(0...setting.slowestJob)
    if writes { daemon.writesFreeAt = free } else { daemon.readsFreeAt = free }
    let life = daemon.life
    after(free - now) { [self] in
      guard daemon.life == life, let log = daemon.log else { return }
      let answer = job(log)
      if daemon.process.hasCrashed {
        note("\(daemon.name) crashes in its disk")
        endDaemon(daemon)
        return startDaemon(daemon, after: daemon.crashLasts)
      }
      after(max(daemon.random.int(0...min(1, setting.slowestJob)), daemon.stuckUntil - now)) { [self] in
        guard daemon.life == life else { return }
        daemonInput(daemon, answer)
      }
    }
  }

  private func append(_ commit: ServerCore.Commit, _ log: SimulatedLog) -> Answer {
    do throws(LogError) {
      let offsets = try log.append(commit.parts.map(LogAppend.init))
      count("commits")
      return { core, moment in core.appendsDurable(commit.number, firstOffsets: offsets, at: moment) }
    } catch {
      if error.code == .notNext { violated(.sound, "a daemon appends what doesn't follow: \(error)") }
      let failure = ServerCore.StorageFailure("\(error)")
      return { core, moment in core.appendsFailed(commit.number, failure, at: moment) }
    }
  }

  /// The real reader's answer to a job.
  func read(_ job: StoreThreads.ReadJob, of daemon: SimulatedDaemon) {
    onDisk(daemon, writes: false) { [self] log in
      guard let found = StoreReader(log, DaemonLog(level: .error)).answer(job) else { return { _, _ in } }
      return { [self] core, moment in
        switch found {
        case .loaded(let loader): core.stackLoaded(loader, at: moment)
        case .notLoaded(let stack, let failure):
          if failure.detail.contains("damaged") { violated(.sound, failure.detail) }
          core.stackNotLoaded(stack, failure, at: moment)
        case .read(let read, let start, let batches): core.batchesRead(read, after: start, batches, at: moment)
        case .readFailed(let read, let failure): core.readFailed(read, failure, at: moment)
        case .recalled(let recall, let recalled): core.recalled(recall, recalled, at: moment)
        case .recallFailed(let recall, let failure): core.recallFailed(recall, failure, at: moment)
        case .listed(let stacks, let peer): core.listed(stacks, for: peer, at: moment)
        case .listFailed(let peer, let failure): core.listFailed(for: peer, failure, at: moment)
        case .found(let wish, let found): self.found(found, for: wish, of: daemon)
        case .appended, .appendFailed, .reloadAccess, .stop: preconditionFailure("not what a reader finds")
        }
      }
    }
  }
}
