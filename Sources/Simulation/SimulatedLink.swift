import NavigationModel
import Replication
import SyncDaemon
import WireFormat
import ZeroMQ

/// A daemon's link to another one, as the real daemon's `PeerLink`: its machine, its port, and what waits for either.
final class SimulatedLink {
  let place: Int
  let to: Int
  var core: PeerCore
  var port: Port?
  var socket: SocketID?
  /// What the socket had no room for.
  var outbox: [[UInt8]] = []
  /// What the own daemon has for it.
  var inbox: [[UInt8]] = []

  init(_ place: Int, to: Int, _ core: PeerCore) {
    self.place = place
    self.to = to
    self.core = core
  }

  var near: ServerCore.Peer { ServerCore.Peer(link: place) }
}

extension World {
  func openLinks(of daemon: SimulatedDaemon) {
    guard let core = daemon.core else { return }
    daemon.links = []
    for link in setting.links where link.from == daemon.number {
      var settings = PeerCore.Settings(
        daemon: core.configuration.daemon, epoch: core.configuration.epoch, endpoint: "daemon-\(link.to)",
        name: daemon.name)
      settings.seed = daemon.random.next()
      settings.reconnectCapMilliseconds = 5000
      settings.eventsAnAppend = core.configuration.limits.eventsAnAppend
      let place = daemon.links.count
      let new = SimulatedLink(place, to: link.to, PeerCore(settings, at: daemon.moment()))
      let life = daemon.life
      func input(_ body: @escaping (inout PeerCore, ServerCore.Moment) -> Void) {
        guard daemon.life == life, daemon.core != nil else { return }
        body(&new.core, daemon.moment())
        // What it reads of its own daemon has to be answered before the next input.
        carryOutAll(of: daemon)
        turnSoon(daemon)
      }
      new.port = Port(
        .daemon(daemon.number), to: link.to, daemon.random.split(),
        received: { bytes, socket in
          if new.socket == socket { input { core, moment in core.received(bytes, at: moment) } }
        },
        changed: { change, socket in
          guard new.socket == socket else { return }
          input { core, moment in
            if change == .connected { core.connected(at: moment) } else { core.disconnected(at: moment) }
          }
        },
        writable: { [self] socket in
          guard new.socket == socket else { return }
          let waiting = new.outbox
          new.outbox = []
          for bytes in waiting { send(bytes, of: new) }
        })
      daemon.links.append(new)
      daemon.core?.linkOpened(new.near, name: "daemon-\(link.to)", at: daemon.moment())
      new.core.start(at: daemon.moment())
    }
    turnSoon(daemon)
  }

  func closeLinks(of daemon: SimulatedDaemon) {
    for link in daemon.links {
      if let port = link.port { cutAll(of: port, tellsClient: false) }
      link.port?.sockets = [:]
    }
    daemon.links = []
  }

  func linkTimers(of daemon: SimulatedDaemon) {
    for link in daemon.links {
      guard let due = link.core.deadline, due <= now else { continue }
      link.core.timerFired(at: daemon.moment())
      if link.core.deadline.map({ $0 <= now }) == true {
        violated(.timers, "\(daemon.name)'s link's is due again at once")
      }
    }
  }

  /// - Returns: whether there was anything.
  func carryOutLinks(of daemon: SimulatedDaemon) -> Bool {
    var didAnything = false
    for link in daemon.links {
      let inbox = link.inbox
      link.inbox = []
      for bytes in inbox {
        do {
          link.core.ownReceived(try Message(decoding: bytes), bytes: bytes.count, at: daemon.moment())
        } catch { return violated(.sound, "a daemon can't read what it wrote: \(error)") == () }
        didAnything = true
        _ = carryOut(link, of: daemon)
      }
      if carryOut(link, of: daemon) { didAnything = true }
    }
    return didAnything
  }

  private func carryOut(_ link: SimulatedLink, of daemon: SimulatedDaemon) -> Bool {
    var didAnything = false
    while true {
      let outputs = link.core.drain()
      if outputs.isEmpty { return didAnything }
      didAnything = true
      for output in outputs { carryOut(output, link, of: daemon) }
    }
  }

  private func carryOut(_ output: PeerOutput, _ link: SimulatedLink, of daemon: SimulatedDaemon) {
    switch output {
    case .connect: if link.socket == nil, let port = link.port { link.socket = openSocket(of: port) }
    case .disconnect:
      if let socket = link.socket, let port = link.port { close(socket, of: port) }
      link.socket = nil
      link.outbox = []
    case .send(let message): send(message.encoded(), of: link)
    case .submit(let message): daemon.core?.linkSubmitted(message, from: link.near, at: daemon.moment())
    case .readHeads(let stack): link.core.headsRead(stack, daemon.core?.held(stack), at: daemon.moment())
    case .readEvents(let number, let order): read(number, order.stack, .events(order), link, daemon)
    case .readEvent(let number, let stack, let dot): read(number, stack, .event(dot), link, daemon)
    case .policyHeard(let stack, let policy, let since):
      daemon.core?.policyHeard(stack, policy, since: since, at: daemon.moment())
    case .log(let record):
      if record.level != .info { count("links: \(record.text)") }
      note("\(daemon.name)'s link to daemon-\(link.to): \(record.text)")
    }
  }

  private func read(
    _ number: Int, _ stack: StackName, _ what: PeerLink.Wish.What, _ link: SimulatedLink, _ daemon: SimulatedDaemon
  ) {
    let chains = daemon.core?.held(stack)?.chains ?? StackChains(stack: stack)
    read(.wish(PeerLink.Wish(link: link.place, number: number, stack: stack, what: what, chains: chains)), of: daemon)
  }

  func found(_ found: PeerLink.Found?, for wish: PeerLink.Wish, of daemon: SimulatedDaemon) {
    let link = daemon.links[wish.link]
    let moment = daemon.moment()
    switch (wish.what, found) {
    case (.events, .events(let runs, let through)):
      link.core.eventsRead(wish.number, of: wish.stack, (runs, through), at: moment)
    case (.event, .event(let run)): link.core.eventRead(wish.number, of: wish.stack, run, at: moment)
    case (.events, _): link.core.eventsRead(wish.number, of: wish.stack, nil, at: moment)
    case (.event, _): link.core.eventRead(wish.number, of: wish.stack, nil, at: moment)
    }
  }

  private func send(_ bytes: [UInt8], of link: SimulatedLink) {
    guard let socket = link.socket, let port = link.port else { return }
    guard link.outbox.isEmpty else { return link.outbox.append(bytes) }
    switch send(bytes, on: socket, of: port) {
    case .sent, .gone: break
    case .full:
      link.outbox.append(bytes)
      port.sockets[socket]?.wantsRoom = true
    case .tooLarge: violated(.bounds, "a link sends \(bytes.count) bytes at once")
    }
  }

  func keepAdoptedPolicies(of daemon: SimulatedDaemon) {
    for adopted in daemon.core?.takeAdoptedPolicies() ?? [] {
      let fact = PolicyFact(policy: adopted.policy, since: adopted.since)
      for (key, value) in fact.facts(of: adopted.stack) {
        onDisk(daemon, writes: true) { log in
          try? log.setFact(key, value)
          return { _, _ in }
        }
      }
    }
  }
}
