import Access
import EventLog
import KeyFiles
package import NavigationModel
package import Replication
package import WireFormat
package import ZeroMQ

/// A link to another daemon: its machine, its socket, and what waits for either.
package struct PeerLink {
  let endpoint: Endpoint
  var keys: KeyTrial
  var core: PeerCore
  var socket: SocketID?
  /// What the socket had no room for.
  var outbox: [[UInt8]] = []
  /// What the own daemon has for it.
  var inbox: [[UInt8]] = []

  init(_ endpoint: Endpoint, _ keys: KeyFolder?, _ core: PeerCore) {
    self.endpoint = endpoint
    self.keys = KeyTrial(keys, endpoint)
    self.core = core
  }

  /// What a link wants to read from the log, with the chains as they were then.
  package struct Wish: Sendable {
    package enum What: Sendable {
      case events(ReadOrder)
      case event(Dot)
    }

    package var link: Int
    package var number: Int
    package var stack: StackName
    package var what: What
    package var chains: StackChains

    package init(link: Int, number: Int, stack: StackName, what: What, chains: StackChains) {
      self.link = link
      self.number = number
      self.stack = stack
      self.what = what
      self.chains = chains
    }
  }

  /// What was read; nil if that failed.
  package enum Found: Sendable {
    case events(runs: [EventRun], through: Int)
    case event(EventRun)
  }
}

extension DaemonHandler {
  mutating func openLinks(at moment: ServerCore.Moment) {
    for place in links.indices {
      core.linkOpened(ServerCore.Peer(link: place), name: links[place].endpoint.description, at: moment)
      links[place].core.start(at: moment)
    }
  }

  var linkDeadline: Int? {
    (links.compactMap(\.core.deadline) + (reportsAreOld ? [reportAt] : [])).min()
  }

  /// Lets the links do what they want, and tells them what the own daemon has for them.
  ///
  /// - Returns: whether there was anything.
  mutating func carryOutLinks(at moment: ServerCore.Moment) -> Bool {
    var didAnything = false
    for place in links.indices {
      let inbox = links[place].inbox
      links[place].inbox = []
      for bytes in inbox {
        do {
          links[place].core.ownReceived(try Message(decoding: bytes), bytes: bytes.count, at: moment)
        } catch { preconditionFailure("the daemon can't read what it wrote: \(error)") }
        didAnything = true
        _ = carryOutLink(place, at: moment)
      }
      if carryOutLink(place, at: moment) { didAnything = true }
    }
    return didAnything
  }

  private mutating func carryOutLink(_ place: Int, at moment: ServerCore.Moment) -> Bool {
    var didAnything = false
    while true {
      let outputs = links[place].core.drain()
      if outputs.isEmpty { return didAnything }
      didAnything = true
      for output in outputs { carryOut(output, of: place, at: moment) }
    }
  }

  private mutating func carryOut(_ output: PeerOutput, of place: Int, at moment: ServerCore.Moment) {
    switch output {
    case .connect: connect(place, at: moment)
    case .disconnect: disconnect(place)
    case .send(let message): send(message.encoded(), of: place)
    case .submit(let message): core.linkSubmitted(message, from: ServerCore.Peer(link: place), at: moment)
    case .readHeads(let stack): links[place].core.headsRead(stack, core.held(stack), at: moment)
    case .readEvents(let number, let order): read(place, number, order.stack, .events(order), at: moment)
    case .readEvent(let number, let stack, let dot): read(place, number, stack, .event(dot), at: moment)
    case .policyHeard(let stack, let policy, let since): core.policyHeard(stack, policy, since: since, at: moment)
    case .log(let record): log.write(record)
    }
  }

  private mutating func read(
    _ place: Int, _ number: Int, _ stack: StackName, _ what: PeerLink.Wish.What, at moment: ServerCore.Moment
  ) {
    // A stack that a link follows is in use; it has no chains only while it can't be read.
    let chains = core.held(stack)?.chains ?? StackChains(stack: stack)
    store.reads.post(
      .wish(PeerLink.Wish(link: place, number: number, stack: stack, what: what, chains: chains)))
  }

  mutating func found(_ found: PeerLink.Found?, for wish: PeerLink.Wish, at moment: ServerCore.Moment) {
    switch (wish.what, found) {
    case (.events, .events(let runs, let through)):
      links[wish.link].core.eventsRead(wish.number, of: wish.stack, (runs, through), at: moment)
    case (.event, .event(let run)): links[wish.link].core.eventRead(wish.number, of: wish.stack, run, at: moment)
    case (.events, _): links[wish.link].core.eventsRead(wish.number, of: wish.stack, nil, at: moment)
    case (.event, _): links[wish.link].core.eventRead(wish.number, of: wish.stack, nil, at: moment)
    }
  }

  mutating func keepAdoptedPolicies() {
    for adopted in core.takeAdoptedPolicies() {
      let fact = PolicyFact(policy: adopted.policy, since: adopted.since)
      for (key, value) in fact.facts(of: adopted.stack) { store.writes.post(.keep(key: key, value: value)) }
    }
  }

  // MARK: Sockets

  /// What can't be opened is tried again by the session when its time to connect is over.
  private mutating func connect(_ place: Int, at moment: ServerCore.Moment) {
    guard links[place].socket == nil else { return }
    var options = SocketOptions()
    do { options.curve = try links[place].keys.curve() } catch {
      return links[place].core.handshakeRefused(reason: "not authorised: \(error)", at: moment)
    }
    if links[place].endpoint.path != nil { options.longestReconnectMilliseconds = 1000 }
    links[place].socket = try? loop.dealer(connect: links[place].endpoint, options)
  }

  private mutating func disconnect(_ place: Int) {
    if let socket = links[place].socket { loop.close(socket) }
    links[place].socket = nil
    links[place].outbox = []
  }

  private mutating func send(_ bytes: [UInt8], of place: Int) {
    guard let socket = links[place].socket else { return }
    guard links[place].outbox.isEmpty else { return links[place].outbox.append(bytes) }
    switch loop.send(bytes, on: socket) {
    case .sent, .gone: break
    case .full:
      links[place].outbox.append(bytes)
      loop.notifyWhenWritable(socket)
    case .tooLarge: core.count("messages_too_large")
    }
  }

  package mutating func received(_ messages: [[UInt8]], on socket: SocketID, at now: Moment) {
    guard let place = links.firstIndex(where: { $0.socket == socket }) else { return }
    let moment = ServerCore.Moment(now)
    for bytes in messages {
      links[place].core.received(bytes, at: moment)
      // What it reads of the own daemon has to be answered before the next input.
      carryOut(at: moment)
      if let key = PublicKey(bytes: links[place].core.nextKey) { links[place].keys.heard(next: key) }
      if links[place].socket != socket { return }
    }
  }

  package mutating func writable(_ socket: SocketID, at now: Moment) {
    guard let place = links.firstIndex(where: { $0.socket == socket }) else { return }
    let waiting = links[place].outbox
    links[place].outbox = []
    for bytes in waiting { send(bytes, of: place) }
  }

  /// What became of a link's connection.
  mutating func linkChanged(_ change: ConnectionEvent.Change, on socket: SocketID, at moment: ServerCore.Moment) {
    guard let place = links.firstIndex(where: { $0.socket == socket }) else { return }
    switch change {
    case .connected:
      links[place].keys.connected()
      links[place].core.connected(at: moment)
    case .disconnected: links[place].core.disconnected(at: moment)
    case .handshakeFailed(let failure):
      switch links[place].keys.failed(failure) {
      case .wait: break
      case .reconnect:
        disconnect(place)
        connect(place, at: moment)
      case .refused(let reason): links[place].core.handshakeRefused(reason: reason, at: moment)
      }
    case .retrying, .acceptFailed, .surplusEnded: break
    }
    carryOut(at: moment)
  }

  // MARK: Time and report

  mutating func linkTimers(at moment: ServerCore.Moment) {
    for place in links.indices {
      if let due = links[place].core.deadline, due <= moment.milliseconds { links[place].core.timerFired(at: moment) }
    }
  }

  /// The report is made at most five times a second: it looks at all stacks.
  mutating func reportLinks(at moment: ServerCore.Moment) {
    for place in links.indices where links[place].core.takeChanged() { reportsAreOld = true }
    guard reportsAreOld, moment.milliseconds >= reportAt else { return }
    reportsAreOld = false
    reportAt = moment.milliseconds + Self.reportMilliseconds
    core.linkReports = links.map(\.core.report)
  }

  static let reportMilliseconds = 200
}

extension ServerCore.Peer {
  /// The near end of a link. Its number is of no socket.
  package init(link place: Int) { self.init(UInt64(UInt32.max) << 32 | UInt64(place)) }

  /// The link's place, nil for a connection.
  package var link: Int? { number >> 32 == UInt64(UInt32.max) ? Int(number & UInt64(UInt32.max)) : nil }
}
