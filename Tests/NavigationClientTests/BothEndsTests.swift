import EventLog
import NavigationClient
import NavigationModel
import Replication
import TestSupport
import Testing
import WireFormat

/// A daemon's machine and its clients' machines on logs in memory, with everything that happens between them: connections
/// that end, sockets that are full, commits that fail or are stored all the same, a daemon that begins again or loses its
/// store. Afterwards everybody has everything.
@Suite struct BothEndsTests {
  @Test(arguments: 0..<60) func everybodyHasEverythingInTheEnd(_ seed: UInt64) throws {
    let run = try BothEnds(seed: seed)
    for _ in 0..<500 { try run.step() }
    try run.end()
  }
}

private final class BothEnds {
  final class Client {
    var core: ClientCore
    let replica: Replica
    var peer: ServerCore.Peer?
    var toDaemon: [[UInt8]] = []
    var fromDaemon: [[UInt8]] = []
    var isFull = false
    var acknowledged: [StackName: Int] = [:]

    init(_ number: UInt64) {
      let device = DeviceID(high: 0, low: number)
      var settings = ClientCore.Settings(device: device, name: "d\(number)", seed: number)
      settings.credit = 2000
      core = ClientCore(settings)
      replica = Replica(device: device, log: MemoryLog(epoch: number))
    }
  }

  private var random: SeededGenerator
  private let seed: UInt64
  private var now = 0
  private var core = ServerCore(BothEnds.configuration(1))
  private var log = MemoryLog(epoch: 1)
  private var epoch: UInt64 = 1
  private var pending: [ServerCore.Action] = []
  private var lastPeer: UInt64 = 0
  private let clients: [Client]
  private let stacks: [StackName]
  private var isCalm = false

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    self.seed = seed
    clients = (1...3).map { Client($0) }
    stacks = [try StackName("s/one"), try StackName("s/two")]
    for client in clients {
      for stack in stacks {
        _ = try client.replica.open(stack, policy: nil)
        client.core.follow(stack, policy: nil, now: now)
      }
      client.core.start(now: now)
      try settle(client)
    }
  }

  private static func configuration(_ epoch: UInt64) -> ServerCore.Configuration {
    var configuration = ServerCore.Configuration(daemon: DeviceID(high: 9, low: 9), epoch: epoch)
    configuration.commitBytes = 90
    configuration.batchBytes = 60
    configuration.maximumBacklog = 900
    configuration.limits.credit = 1500
    configuration.idleStacks = 1
    return configuration
  }

  private var moment: ServerCore.Moment { ServerCore.Moment(milliseconds: now, wall: 1_000_000 + now) }

  // MARK: What happens

  func step() throws {
    let client = clients.randomElement(using: &random)!
    switch Int.random(in: 0..<40, using: &random) {
    case 0..<6: try act(client)
    case 6..<16: try toDaemon(client, Int.random(in: 1...4, using: &random))
    case 16..<26: try fromDaemon(client, Int.random(in: 1...4, using: &random))
    case 26..<34:
      if !pending.isEmpty { try complete(Int.random(in: 0..<pending.count, using: &random)) }
    case 34..<36: try pass(Int.random(in: 1...1500, using: &random))
    case 36: client.isFull.toggle()
    case 37: try cut(client)
    case 38: if Int.random(in: 0..<4, using: &random) == 0 { try restart(losesStore: false) }
    case _: if Int.random(in: 0..<8, using: &random) == 0 { try restart(losesStore: true) }
    }
  }

  private func act(_ client: Client) throws {
    let stack = stacks.randomElement(using: &random)!
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let intent: Intent =
        Int.random(in: 0..<3, using: &random) == 0
        ? .pop(1) : .push([Value(type: "String", json: "\"\(Int.random(in: 0...9999, using: &random))\"")])
      _ = try client.replica.act(intent, on: stack, id: nil, at: 1_000_000 + now)
    }
    try commit(client, own: true)
    try settle(client)
  }

  private func commit(_ client: Client, own: Bool) throws {
    for stack in try client.replica.commit() {
      client.core.persisted(stack.name, localHead: stack.localHead, own: own, policy: stack.fold.policy)
    }
  }

  private func toDaemon(_ client: Client, _ count: Int) throws {
    for _ in 0..<count {
      guard let peer = client.peer, !client.toDaemon.isEmpty else { return }
      core.received(client.toDaemon.removeFirst(), from: peer, at: moment)
      try settleDaemon()
    }
  }

  private func fromDaemon(_ client: Client, _ count: Int) throws {
    for _ in 0..<count {
      guard client.peer != nil, !client.fromDaemon.isEmpty else { return }
      let bytes = client.fromDaemon.removeFirst()
      client.core.received(try Message(decoding: bytes), bytes: bytes.count, now: now)
      try settle(client)
    }
  }

  private func pass(_ milliseconds: Int) throws {
    now += milliseconds
    core.timerFired(at: moment)
    try settleDaemon()
    for client in clients {
      if let due = client.core.deadline, due <= now { client.core.timerFired(now: now) }
      try settle(client)
    }
  }

  private func cut(_ client: Client) throws {
    guard let peer = client.peer else { return }
    drop(client)
    if Bool.random(using: &random) { core.peerGone(peer, at: moment) }
    try settleDaemon()
    client.core.disconnected(now: now)
    try settle(client)
  }

  private func drop(_ client: Client) {
    client.peer = nil
    client.toDaemon = []
    client.fromDaemon = []
    client.isFull = false
  }

  private func restart(losesStore: Bool) throws {
    pending = []
    if losesStore {
      epoch += 1
      log = MemoryLog(epoch: epoch)
    }
    core = ServerCore(Self.configuration(epoch))
    for client in clients where client.peer != nil {
      drop(client)
      client.core.disconnected(now: now)
      try settle(client)
    }
  }

  // MARK: A client's side

  private func settle(_ client: Client) throws {
    while true {
      let outputs = client.core.drain()
      if outputs.isEmpty { return }
      for output in outputs { try carryOut(output, client) }
    }
  }

  private func carryOut(_ output: ClientOutput, _ client: Client) throws {
    switch output {
    case .connect:
      lastPeer += 1
      client.peer = ServerCore.Peer(lastPeer)
      client.core.connected(now: now)
    case .disconnect:
      let peer = client.peer
      drop(client)
      if let peer { core.peerGone(peer, at: moment) }
      try settleDaemon()
    case .send(let message): if client.peer != nil { client.toDaemon.append(message.encoded()) }
    case .readHeads(let name):
      let stack = try #require(client.replica.stacks[name])
      client.core.headsRead(name, start: .vector(stack.chains.heads), localHead: stack.localHead)
    case .checkHeads(let name, let heads):
      let stack = try #require(client.replica.stacks[name])
      let compared = try stack.compare(
        heads, own: Set([client.replica.device].compactMap(\.self)), log: client.replica.log)
      var has = VersionVector()
      for head in heads { has[head.device] = head.sequence }
      client.core.headsChecked(
        name, forked: compared.forked, disputed: compared.disputed, isBehind: !has.covers(stack.chains.vector), now: now
      )
    case .readEvents(let order):
      let stack = try #require(client.replica.stacks[order.stack])
      let (runs, through) = try stack.runs(
        after: order.after, lackedBy: order.lackedBy, maximumEvents: min(order.maximumEvents, 4),
        maximumBytes: order.maximumBytes, log: try #require(client.replica.log))
      client.core.eventsRead(order.stack, runs: runs, through: through)
    case .deliver(let name, let batch, _, let bytes):
      try client.replica.receive(batch, of: name)
      if let stack = client.replica.stacks[name], stack.takePassedOver() {
        client.core.follow(name, policy: stack.policy, now: now)
      }
      try commit(client, own: false)
      client.core.consumed(bytes)
    case .policy(_, let policy): #expect(policy == .merge)
    case .acknowledged(let name, let device, let through):
      client.replica.stacks[name]?.agree(device, through: through)
      guard device == client.replica.device else { return }
      client.acknowledged[name] = through
      let stored = log.heads(of: name).first { $0.device == device }?.sequence ?? 0
      #expect(stored >= through, "seed \(seed): what is acknowledged is stored")
    case .rejected(_, let dot, let code, let detail, let isWaiting):
      if !isWaiting { Issue.record("seed \(seed): \(dot) rejected: \(code) \(detail)") }
    case .refused(let name, let code, let reason, let isWaiting):
      if !isWaiting { Issue.record("seed \(seed): \(name) refused: \(code) \(reason)") }
    case .forked(let name, let devices): Issue.record("seed \(seed): \(name) forked: \(devices)")
    case .live, .presence, .answer, .state, .opened, .time: break
    }
  }

  // MARK: The daemon's side

  private func settleDaemon() throws {
    while true {
      let actions = core.drain()
      if actions.isEmpty { return }
      for action in actions {
        switch action {
        case .send(let peers, let bytes, let kind):
          for peer in peers {
            guard let client = clients.first(where: { $0.peer == peer }) else {
              core.peerGone(peer, at: moment)
              continue
            }
            if client.isFull {
              core.socketFull(peer, for: bytes, kind, at: moment)
            } else {
              client.fromDaemon.append(bytes)
            }
          }
        case .load, .commit, .read, .recall: pending.append(action)
        case .list, .keepName, .publish, .forget, .log: break
        }
      }
    }
  }

  private func complete(_ place: Int) throws {
    let failure = ServerCore.StorageFailure("a fault")
    let fails = !isCalm && Int.random(in: 0..<20, using: &random) == 0
    switch pending.remove(at: place) {
    case .load(let stack):
      if fails { core.stackNotLoaded(stack, failure, at: moment) } else { try load(stack) }
    case .commit(let commit):
      let isStored = !fails || Bool.random(using: &random)
      let offsets = isStored ? try log.append(commit.parts.map(append)) : []
      if fails {
        core.appendsFailed(commit.number, failure, at: moment)
      } else {
        core.appendsDurable(commit.number, firstOffsets: offsets, at: moment)
      }
    case .read(let read):
      if fails { core.readFailed(read, failure, at: moment) } else { self.read(read) }
    case .recall(let recall):
      if fails { core.recallFailed(recall, failure, at: moment) } else { self.recall(recall) }
    case _: break
    }
    try settleDaemon()
  }

  private func append(_ part: ServerCore.CommitPart) -> LogAppend {
    LogAppend(
      stack: part.stack, policy: part.policy, batch: part.batch,
      heads: part.heads.map { StoredHead(device: $0.device, sequence: $0.sequence, digest: $0.digest) },
      newestTime: part.newestTime)
  }

  private func load(_ stack: StackName) throws {
    var loader = StackLoader(stack, policy: log.info(of: stack)?.policy)
    for stored in log.read(stack, after: 0, maximumBytes: .max) { try loader.add(stored.batch) }
    core.stackLoaded(loader, at: moment)
  }

  private func read(_ read: ServerCore.Read) {
    let start =
      switch read.start {
      case .offset(let offset): offset
      case .vector(let vector): log.offset(in: read.stack, lackedBy: vector)
      }
    let batches = log.read(read.stack, after: start, maximumBytes: read.maximumBytes)
    core.batchesRead(
      read, after: start, batches.map { .init(firstOffset: $0.firstOffset, batch: $0.batch) }, at: moment)
  }

  private func recall(_ recall: ServerCore.Recall) {
    let events = log.events(of: recall.device, in: recall.stack, sequences: recall.sequences)
    core.recalled(recall, .init(events: events, offset: 1), at: moment)
  }

  // MARK: What holds in the end

  func end() throws {
    isCalm = true
    for client in clients { client.isFull = false }
    for _ in 0..<400 {
      for _ in 0..<20 {
        while !pending.isEmpty { try complete(0) }
        for client in clients {
          try toDaemon(client, .max)
          try fromDaemon(client, .max)
        }
      }
      if isEven { break }
      try pass(500)
    }
    #expect(isEven, "seed \(seed): somebody lacks something")
    for stack in stacks {
      let shown = clients.map { $0.replica.stacks[stack]?.entries() }
      #expect(Set(shown).count == 1, "seed \(seed)")
    }
  }

  private var isEven: Bool {
    stacks.allSatisfy { stack in
      var daemon = StackChains(stack: stack)
      for stored in log.read(stack, after: 0, maximumBytes: .max) {
        for record in stored.batch.records {
          _ = try? daemon.receive(record.dot, Array(stored.batch.bytes[record.range]))
        }
      }
      return clients.allSatisfy { client in
        guard let chains = client.replica.stacks[stack]?.chains, let device = client.replica.device else {
          return false
        }
        let held = chains.vector
        return chains.liveHeads == daemon.liveHeads && client.acknowledged[stack, default: 0] == held[device]
      }
    }
  }
}
