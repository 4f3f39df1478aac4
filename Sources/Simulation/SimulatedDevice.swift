import EventLog
import NavigationClient
import NavigationModel
import ZeroMQ

/// A device: its engine, when its process runs, its folder, and who holds it.
final class SimulatedDevice {
  let number: Int
  let clock: Clock
  /// Nil when the process doesn't run.
  var machine: DeviceMachine?
  /// Goes up with every start and end.
  var life = 0
  var process = SimulatedProcess()
  var folder: SimulatedFolder?
  var backup: SimulatedFolder.Store?
  /// Its end of the network.
  var port: Port?
  var stuckUntil = 0
  /// Closed on purpose until then.
  var closedUntil = 0
  /// The engine asked to end: its stores can't be opened.
  var hasStopped = false
  var isTurnDue = false
  var wakesAt: Int?
  /// Every id that it had, or that the device had of which it became a copy.
  var ids: Set<DeviceID> = []
  private var idsMade = 0
  /// Disks that were made for it.
  private var disks = 0
  private let seed: UInt64
  var random: Randomness
  /// How long it is away after a crash in its disk.
  var crashLasts = 1000
  /// What the person saw when they acted last.
  var seen: [StackName: [Entry]] = [:]
  /// The number of events in what was looked at last.
  var checked: [StackName: Int] = [:]
  /// In this life: appends that had no answer.
  var answersMissed = 0
  /// Values that were made up so far.
  var values = 0
  /// What was done under each id.
  var named: [Int: Act] = [:]
  /// Of the next start: the action with this id was under way when the process ended.
  var unanswered: Int?

  struct Act {
    var stack: StackName
    var intent: Intent
  }

  init(_ number: Int, _ seed: UInt64, _ clock: Clock) {
    self.number = number
    self.seed = seed
    self.clock = clock
    random = Randomness(seed: seed, "device", number)
  }

  var name: String { "device-\(number)" }

  func newID() -> DeviceID {
    defer { idsMade += 1 }
    let id = Randomness.deviceID(seed: seed, device: number, number: idsMade)
    ids.insert(id)
    return id
  }

  func diskRandomness() -> Randomness {
    disks += 1
    return Randomness(seed: seed, "device disk", number, disks)
  }

  func moment() -> Moment { Moment(monotonic: clock.now, wall: clock.wall) }

  /// Something comes to the engine; the turn ends when all of this millisecond is in.
  func input(_ world: World, _ body: (inout DeviceMachine, Moment) -> Void) {
    guard machine != nil else { return }
    body(&machine!, moment())
    if ended(world) { return }
    guard !isTurnDue else { return }
    isTurnDue = true
    let life = life
    world.after(0) { [self] in
      guard self.life == life else { return }
      isTurnDue = false
      turn(world)
    }
  }

  private func turn(_ world: World) {
    guard machine != nil else { return }
    machine!.turnEnded(at: moment())
    if ended(world) { return }
    world.check(self)
    guard let deadline = machine?.deadline else { return }
    if deadline <= clock.now || world.isSabotaged(.timers) {
      return world.violated(.timers, "\(name)'s is due again at once")
    }
    guard wakesAt.map({ deadline < $0 }) ?? true else { return }
    wakesAt = deadline
    let life = life
    world.after(max(deadline, stuckUntil) - clock.now) { [self] in
      guard self.life == life else { return }
      wakesAt = nil
      turn(world)
    }
  }

  /// Whether the process ended in what was done last.
  private func ended(_ world: World) -> Bool {
    guard process.hasCrashed || hasStopped else { return false }
    world.note("\(name) \(hasStopped ? "stops" : "crashes in its disk")")
    world.end(self)
    world.start(self, after: crashLasts)
    return true
  }
}

extension World {
  func setUp(_ device: SimulatedDevice) {
    device.port = Port(
      .device(device.number), to: setting.homes[device.number], device.random.split(),
      received: { [unowned self, unowned device] bytes, socket in
        device.input(self) { $0.received([bytes], on: socket, at: $1) }
      },
      changed: { [unowned self, unowned device] change, socket in
        device.input(self) {
          $0.connectionsChanged([ConnectionEvent(change: change, address: "daemon")], on: socket, at: $1)
        }
      },
      writable: { [unowned self, unowned device] socket in device.input(self) { $0.writable(socket, at: $1) } })
    device.folder = SimulatedFolder(
      makeDisk: { [unowned self, unowned device] in
        makeDisk(device.clock, .device(device.number), device.diskRandomness())
      },
      makeID: { [unowned device] in device.newID() })
    start(device, after: device.random.int(0...2000))
  }

  func start(_ device: SimulatedDevice, after wait: Int) {
    after(wait) { [self] in
      guard device.machine == nil else { return }
      guard now >= device.closedUntil else { return start(device, after: device.closedUntil - now) }
      start(device)
    }
  }

  private func start(_ device: SimulatedDevice) {
    guard let folder = device.folder, let endpoint = try? Endpoint("tcp://127.0.0.1:1") else { return }
    device.process = SimulatedProcess()
    device.life += 1
    device.hasStopped = false
    device.isTurnDue = false
    device.wakesAt = nil
    device.answersMissed = 0
    device.port?.sockets = [:]
    do throws(LogError) {
      let log = try folder.open(in: device.process)
      device.machine = try DeviceMachine(
        name: device.name, daemon: endpoint, log: log, store: folder, link: SimulatedEngineLink(self, device),
        seed: device.random.next())
    } catch {
      note("\(device.name) can't start: \(error)")
      device.life += 1
      if error.code == .damaged || error.code == .notFound { violated(.sound, "\(device.name): \(error)") }
      return start(device, after: device.random.int(500...2000))
    }
    count("device starts")
    note("\(device.name) starts as \(device.machine?.device?.description.prefix(6) ?? "")")
    let failures = Answers<ClientError?>()
    for stack in setting.stacks {
      device.input(self) { machine, now in
        machine.open(stack, policy: policy, at: now) { failures.add($0) }
      }
    }
    if let failure = failures.all.compactMap(\.self).first {
      note("\(device.name) can't open its stacks: \(failure)")
      if !failure.isRetriable { violated(.sound, "\(device.name): \(failure)") }
      end(device)
      return start(device, after: device.random.int(500...2000))
    }
    device.input(self) { $0.connect(at: $1) }
    if let id = device.unanswered {
      device.unanswered = nil
      again(id, on: device)
    }
  }

  /// The process ends at once; what it has to say is not said.
  func end(_ device: SimulatedDevice) {
    device.process.hasCrashed = true
    device.machine = nil
    device.life += 1
    if let port = device.port { cutAll(of: port, tellsClient: false) }
    device.port?.sockets = [:]
    device.seen = [:]
  }

  /// The person closes it.
  func close(_ device: SimulatedDevice) {
    guard device.machine != nil else { return }
    device.machine!.stopping(at: device.moment())
    end(device)
  }
}

/// What a device's engine has for a network.
final class SimulatedEngineLink: EngineLink {
  private let world: World
  private let device: SimulatedDevice
  private let life: Int

  init(_ world: World, _ device: SimulatedDevice) {
    self.world = world
    self.device = device
    life = device.life
  }

  private var port: Port {
    guard let port = device.port else { preconditionFailure("a device without a network") }
    return port
  }

  func dealer(connect endpoint: Endpoint, _ options: SocketOptions) throws(ZeroMQError) -> SocketID {
    world.openSocket(of: port)
  }

  func close(_ socket: SocketID) { world.close(socket, of: port) }

  func send(_ body: [UInt8], on dealer: SocketID) -> SendResult { world.send(body, on: dealer, of: port) }

  func notifyWhenWritable(_ socket: SocketID) { port.sockets[socket]?.wantsRoom = true }

  func stop() { if device.life == life { device.hasStopped = true } }
}
