import NavigationModel
import TestSupport
import WireFormat

@testable import Replication

/// Daemons without disks or sockets that follow each other: a ``ServerWorld`` each, and links whose frames are on their
/// way until the test lets them arrive.
struct PeerWorld {
  /// One link: who follows whom, and what is between them.
  struct Link {
    let from: Int
    let to: Int
    var core: PeerCore
    /// The connection's number at the other daemon; nil without one.
    var peer: ServerCore.Peer?
    var wantsConnection = false
    var toOther: [Message] = []
    var toUs: [[UInt8]] = []
    /// What it wants to read of the log.
    var wishes: [PeerOutput] = []
    var logged: [String] = []
  }

  var worlds: [ServerWorld]
  var links: [Link] = []
  var lastPeer: UInt64 = 0
  var checked: [Int]
  /// Frames with events that crossed each link, towards us and the other.
  var crossed = 0

  init(_ count: Int, _ pairs: [(Int, Int)], seed: UInt64 = 1) {
    worlds = (0..<count).map { place in
      var world = ServerWorld { $0.batchBytes = 200 }
      var configuration = world.core.configuration
      configuration.daemon = DeviceID(high: 9, low: UInt64(place))
      world.core = ServerCore(configuration)
      return world
    }
    checked = Array(repeating: 0, count: count)
    for (place, (from, to)) in pairs.enumerated() {
      var settings = PeerCore.Settings(
        daemon: DeviceID(high: 9, low: UInt64(from)), epoch: ServerWorld.epoch, endpoint: "\(from)>\(to)", name: "d")
      settings.seed = seed &+ UInt64(place)
      var core = PeerCore(settings, at: worlds[from].moment)
      worlds[from].core.linkOpened(Self.near(place), name: "link", at: worlds[from].moment)
      core.start(at: worlds[from].moment)
      links.append(Link(from: from, to: to, core: core))
    }
    settle()
  }

  static func near(_ link: Int) -> ServerCore.Peer { ServerCore.Peer(1 << 40 | UInt64(link)) }

  func moment(_ place: Int) -> ServerCore.Moment { worlds[place].moment }

  // MARK: What happens

  /// Connects a link that wants to be connected.
  mutating func connect(_ place: Int) {
    guard links[place].wantsConnection, links[place].peer == nil else { return }
    lastPeer += 1
    links[place].peer = ServerCore.Peer(lastPeer)
    links[place].core.connected(at: moment(links[place].from))
    settle()
  }

  /// The connection breaks, and what was on its way is lost.
  mutating func cut(_ place: Int) {
    guard let peer = links[place].peer else { return }
    drop(place)
    worlds[links[place].to].core.peerGone(peer, at: moment(links[place].to))
    links[place].core.disconnected(at: moment(links[place].from))
    settle()
  }

  private mutating func drop(_ place: Int) {
    links[place].peer = nil
    links[place].toOther = []
    links[place].toUs = []
  }

  /// The next frame of a link arrives.
  mutating func arrive(_ place: Int, atOther: Bool) {
    guard let peer = links[place].peer else { return }
    if atOther {
      guard !links[place].toOther.isEmpty else { return }
      worlds[links[place].to].receive(links[place].toOther.removeFirst(), from: peer)
    } else {
      guard !links[place].toUs.isEmpty else { return }
      links[place].core.received(links[place].toUs.removeFirst(), at: moment(links[place].from))
    }
    settle()
  }

  mutating func pass(_ milliseconds: Int) {
    for place in worlds.indices {
      worlds[place].now += milliseconds
      worlds[place].wall += milliseconds
      if let due = worlds[place].core.deadline, due <= worlds[place].now {
        worlds[place].core.timerFired(at: moment(place))
      }
    }
    for place in links.indices {
      if let due = links[place].core.deadline, due <= worlds[links[place].from].now {
        links[place].core.timerFired(at: moment(links[place].from))
      }
    }
    settle()
  }

  /// A log does one thing that was asked of it, or a link's wish to read is met.
  mutating func work(_ place: Int, _ random: inout SeededGenerator) {
    let asked = worlds[place].pending.count
    let wishing = links.indices.filter { links[$0].from == place && !links[$0].wishes.isEmpty }
    if asked > 0, wishing.isEmpty || Bool.random(using: &random) {
      worlds[place].complete(0)
    } else if let link = wishing.randomElement(using: &random) {
      meet(links[link].wishes.removeFirst(), of: link)
    }
    settle()
  }

  /// Connects everything and lets all arrive, and time pass, until nothing is on its way for so long.
  mutating func level(milliseconds: Int = 40_000) {
    var random = SeededGenerator(seed: 1)
    var calm = 0
    while calm < milliseconds {
      var isQuiet = true
      for place in links.indices {
        connect(place)
        for atOther in [true, false] where links[place].peer != nil {
          while !(atOther ? links[place].toOther.isEmpty : links[place].toUs.isEmpty) {
            arrive(place, atOther: atOther)
            isQuiet = false
            if links[place].peer == nil { break }
          }
        }
      }
      for place in worlds.indices {
        while !worlds[place].pending.isEmpty || links.contains(where: { $0.from == place && !$0.wishes.isEmpty }) {
          work(place, &random)
          isQuiet = false
        }
      }
      if isQuiet {
        calm += 500
        pass(500)
      }
    }
  }

  // MARK: What is wanted

  /// Carries out what cores and links want at once; what takes time waits.
  mutating func settle() {
    var isBusy = true
    while isBusy {
      isBusy = false
      for place in worlds.indices {
        if !worlds[place].drain().isEmpty { isBusy = true }
        for adopted in worlds[place].core.takeAdoptedPolicies() {
          worlds[place].log[adopted.stack]?.policy = adopted.policy
        }
        for frame in worlds[place].frames[checked[place]...] { deliver(frame, of: place) }
        checked[place] = worlds[place].frames.count
      }
      for place in links.indices {
        let outputs = links[place].core.drain()
        if !outputs.isEmpty { isBusy = true }
        for output in outputs { carryOut(output, of: place) }
      }
    }
  }

  private mutating func deliver(_ frame: ServerWorld.Frame, of place: Int) {
    if frame.peer.number >> 40 == 1 {
      let link = Int(frame.peer.number & 0xFFFF)
      links[link].core.ownReceived(frame.message, bytes: frame.bytes, at: moment(place))
      for output in links[link].core.drain() { carryOut(output, of: link) }
    } else if let link = links.firstIndex(where: { $0.peer == frame.peer && $0.to == place }) {
      if case .events = frame.message { crossed += 1 }
      links[link].toUs.append(frame.message.encoded())
    }
  }

  private mutating func carryOut(_ output: PeerOutput, of place: Int) {
    let from = links[place].from
    switch output {
    case .connect: links[place].wantsConnection = true
    case .disconnect:
      links[place].wantsConnection = false
      if let peer = links[place].peer {
        drop(place)
        worlds[links[place].to].core.peerGone(peer, at: moment(links[place].to))
      }
    case .send(let message):
      if case .append = message { crossed += 1 }
      links[place].toOther.append(message)
    case .submit(let message): worlds[from].core.linkSubmitted(message, from: Self.near(place), at: moment(from))
    case .readHeads(let stack): links[place].core.headsRead(stack, worlds[from].core.held(stack), at: moment(from))
    case .readEvents, .readEvent: links[place].wishes.append(output)
    case .policyHeard(let stack, let policy, let since):
      worlds[from].core.policyHeard(stack, policy, since: since, at: moment(from))
    case .log(let record): links[place].logged.append(record.text)
    }
  }

  private mutating func meet(_ wish: PeerOutput, of place: Int) {
    let from = links[place].from
    switch wish {
    case .readEvents(let number, let order):
      links[place].core.eventsRead(number, of: order.stack, runs(order, from), at: moment(from))
    case .readEvent(let number, let stack, let dot):
      let run = run(of: dot, stack, from)
      links[place].core.eventRead(number, of: stack, run, at: moment(from))
    case .connect, .disconnect, .send, .submit, .readHeads, .policyHeard, .log: preconditionFailure("no wish")
    }
  }

  private func records(of stack: StackName, _ place: Int) -> [(dot: Dot, bytes: [UInt8])] {
    (worlds[place].log[stack]?.batches ?? []).flatMap { stored in
      stored.batch.records.map { ($0.dot, Array(stored.batch.bytes[$0.range])) }
    }
  }

  private func run(of dot: Dot, _ stack: StackName, _ place: Int) -> EventRun? {
    var digest = ChainDigest(stack: stack, device: dot.device)
    for record in records(of: stack, place) where record.dot.device == dot.device {
      if record.dot == dot {
        let previous = dot.sequence == 1 ? .empty : digest.digest
        return EventRun(device: dot.device, firstSequence: dot.sequence, previous: previous, events: [record.bytes])
      }
      digest.append(record.bytes)
    }
    return nil
  }

  private func runs(_ order: ReadOrder, _ place: Int) -> (runs: [EventRun], through: Int) {
    var runs: [EventRun] = []
    var count = 0
    let chains = claims(of: order.stack, place).chains
    if order.after == nil {
      for chain in chains.copies(lackedBy: order.lackedBy) {
        let lacking = order.lackedBy[chain] + 1...chains.vector[chain]
        let parts = lacking.compactMap { run(of: Dot(chain, $0), order.stack, place) }
        runs.append(
          EventRun(
            device: chain, firstSequence: lacking.lowerBound, previous: parts[0].previous,
            events: parts.flatMap(\.events)))
      }
    }
    for (index, record) in records(of: order.stack, place).enumerated() where index >= order.after ?? 0 {
      if order.lackedBy.contains(record.dot) || chains.retired.contains(record.dot.device) { continue }
      if count == min(order.maximumEvents, 5) { return (runs, index) }
      count += 1
      guard let run = run(of: record.dot, order.stack, place) else { continue }
      if let last = runs.last, last.device == run.device, last.lastSequence + 1 == run.firstSequence {
        runs[runs.count - 1].events += run.events
      } else {
        runs.append(run)
      }
    }
    return (runs, worlds[place].log[order.stack]?.head ?? 0)
  }

  // MARK: What came of it

  /// Each event once, as it is in a daemon's log.
  func dots(of stack: StackName, _ place: Int) -> [Dot] { records(of: stack, place).map(\.dot) }

  func heads(of stack: StackName, _ place: Int) -> [DeviceHead] { claims(of: stack, place).chains.liveHeads }

  /// All that a daemon's log has of a stack.
  func claims(of stack: StackName, _ place: Int) -> StackClaims {
    var claims = StackClaims(stack: stack)
    for record in records(of: stack, place) {
      do { try claims.receive(record.dot, record.bytes) } catch { preconditionFailure("\(error)") }
    }
    return claims
  }
}
