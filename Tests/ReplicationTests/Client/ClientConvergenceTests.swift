import NavigationModel
import Replication
import TestSupport
import Testing
import WireFormat

/// Several clients and a model of the daemon; connections break with what is in flight, the disk fills, the daemon loses
/// the end of its log. Whatever happens, when it is over everything that anybody did is everywhere, once.
@Suite struct ClientConvergenceTests {
  @Test(arguments: 0..<150) func everythingArrivesOnce(_ seed: UInt64) {
    var world = World(seed: seed)
    for _ in 0..<400 { world.step() }
    world.settle()
    let stacks = world.stacks
    for stack in stacks {
      let expected = world.acted[stack] ?? [:]
      let log = world.daemon.logs[stack] ?? .init()
      #expect(Set(log.events.map(\.dot)).count == log.events.count)
      for (device, count) in expected { #expect(log.vector[device] == count, "\(stack) at the daemon, seed \(seed)") }
      for client in world.clients {
        let own = client.replica.logs[stack] ?? .init()
        #expect(own.heads == log.heads, "\(stack) at \(letter(client.device)), seed \(seed)")
        #expect(own.events.count == log.events.count)
        let done = expected[client.device] ?? 0
        if done > 0 { #expect(client.replica.acknowledged[stack] == done, "\(stack) seed \(seed)") }
      }
    }
    #expect(world.clients.allSatisfy { $0.core.state == .connected })
  }

  /// The same seed gives the same run: nothing in the core depends on the order of a dictionary.
  @Test func aRunCanBeRepeated() {
    var first = World(seed: 3)
    var second = World(seed: 3)
    for _ in 0..<400 {
      first.step()
      second.step()
    }
    #expect(first.sent == second.sent)
    #expect(first.clients.map(\.core) == second.clients.map(\.core))
  }
}

private struct World {
  struct Client {
    var device: DeviceID
    var core: ClientCore
    var replica: FakeReplica
    /// Messages on their way, in order. Nil: no connection.
    var toDaemon: [Message]?
    var fromDaemon: [Message] = []
    var wantsConnection = false

    mutating func answer(_ output: ClientOutput, now: Int) { replica.answer(output, of: &core, now: now) }

    mutating func act(_ count: Int, on stack: StackName) { replica.act(count, on: stack, of: &core) }
  }

  let stacks = ["alice/a", "alice/b"].compactMap { try? StackName($0) }
  var clients: [Client] = []
  var daemon = ModelDaemon()
  var now = 0
  var acted: [StackName: [DeviceID: Int]] = [:]
  var sent: [Message] = []
  var random: SeededGenerator
  var isDaemonUp = true

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    for (place, name) in ["a", "b", "c"].enumerated() {
      var settings = ClientCore.Settings(
        device: device(name), name: name, software: "test", seed: seed &+ UInt64(place))
      settings.reconnectCapMilliseconds = 1000
      var client = Client(
        device: device(name), core: ClientCore(settings), replica: FakeReplica(device: device(name)))
      client.replica.maximumEvents = 2
      clients.append(client)
      for stack in stacks { clients[place].core.follow(stack, policy: nil, now: 0) }
      clients[place].core.start(now: 0)
      drain(place)
    }
  }

  mutating func drain(_ place: Int) {
    while true {
      let outputs = clients[place].core.drain()
      if outputs.isEmpty { return }
      for output in outputs {
        switch output {
        case .connect: clients[place].wantsConnection = true
        case .disconnect: drop(place)
        case .send(let message):
          sent.append(message)
          clients[place].toDaemon?.append(message)
        case _: clients[place].answer(output, now: now)
        }
      }
    }
  }

  mutating func drop(_ place: Int) {
    clients[place].toDaemon = nil
    clients[place].fromDaemon = []
    clients[place].wantsConnection = false
    daemon.sessions[place] = nil
  }

  mutating func step() {
    let place = Int.random(in: 0..<clients.count, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<20:
      let stack = stacks[Int.random(in: 0..<stacks.count, using: &random)]
      let count = Int.random(in: 1...4, using: &random)
      clients[place].act(count, on: stack)
      acted[stack, default: [:]][clients[place].device, default: 0] += count
      drain(place)
    case 20..<24:
      // The connection breaks; sometimes nobody notices.
      drop(place)
      if Bool.random(using: &random) { clients[place].core.disconnected(now: now) }
      drain(place)
    case 24..<26: daemon.isFull.toggle()
    case 26..<28:
      isDaemonUp.toggle()
      if !isDaemonUp {
        for place in clients.indices {
          drop(place)
          clients[place].core.disconnected(now: now)
          drain(place)
        }
        if Bool.random(using: &random) { loseTheEnd() }
      }
    case 28..<40: advance(Int.random(in: 1...700, using: &random))
    case _: deliver(place)
    }
  }

  /// The daemon comes back from a backup.
  private mutating func loseTheEnd() {
    daemon.epoch += 1
    for stack in stacks {
      guard let log = daemon.logs[stack], !log.events.isEmpty else { continue }
      var shorter = FakeReplica.StackLog()
      for event in log.events.prefix(Int.random(in: 0...log.events.count, using: &random)) {
        shorter.add(event.dot, event.bytes)
      }
      daemon.logs[stack] = shorter
    }
  }

  private mutating func advance(_ milliseconds: Int) {
    now += milliseconds
    for place in clients.indices {
      while let due = clients[place].core.deadline, due <= now {
        clients[place].core.timerFired(now: now)
        drain(place)
      }
    }
  }

  private mutating func deliver(_ place: Int) {
    if clients[place].wantsConnection, isDaemonUp {
      clients[place].wantsConnection = false
      clients[place].toDaemon = []
      clients[place].core.connected(now: now)
      drain(place)
    }
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      if clients[place].toDaemon?.isEmpty == false, let message = clients[place].toDaemon?.removeFirst() {
        for (peer, answer) in daemon.received(message, from: place) where clients[peer].toDaemon != nil {
          clients[peer].fromDaemon.append(answer)
        }
      }
      if !clients[place].fromDaemon.isEmpty {
        let message = clients[place].fromDaemon.removeFirst()
        clients[place].core.received(message, bytes: 100, now: now)
        drain(place)
      }
    }
  }

  /// No more faults, and time for everything.
  mutating func settle() {
    isDaemonUp = true
    daemon.isFull = false
    for _ in 0..<400 {
      advance(200)
      for _ in 0..<4 {
        for place in clients.indices { deliver(place) }
      }
    }
  }
}
