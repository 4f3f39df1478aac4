import EventLog
import NavigationClient
import NavigationModel
import ZeroMQ

/// A device: its engine, when its process runs, its folder, and who holds it.
final class SimulatedDevice {
  let number: Int
  let name: String
  let clock = Clock()
  /// Nil when the process doesn't run.
  var machine: DeviceMachine?
  /// Goes up with every start and end.
  var life = 0
  var process = SimulatedProcess()
  var folder: SimulatedFolder?
  var backup: SimulatedFolder.Store?
  var sockets: [SocketID: DeviceSocket] = [:]
  var stuckUntil = 0
  /// Closed on purpose until then.
  var closedUntil = 0
  /// The engine asked to end: its stores can't be opened.
  var hasStopped = false
  var isTurnDue = false
  var wakesAt: Int?
  /// The id of the device's first incarnation, if it is given.
  private var first: DeviceID?
  /// Every id that it had.
  var ids: Set<DeviceID> = []
  /// What the person saw when they acted last.
  var seen: [StackName: [Entry]] = [:]
  /// The number of events in what was looked at last.
  var checked: [StackName: Int] = [:]
  /// In this life: appends that had no answer.
  var answersMissed = 0
  /// Values that were made up so far.
  var values = 0
  var intents = 0
  /// Of the next start: an action with this id was under way when the process ended.
  var unanswered: Act?

  struct Act {
    var stack: StackName
    var intent: Intent
    var id: String
  }

  init(_ number: Int, first: DeviceID?) {
    self.number = number
    name = "device-\(number)"
    self.first = first
  }

  func newID(_ random: inout Randomness) -> DeviceID {
    defer { first = nil }
    let id = first ?? DeviceID(high: random.next(), low: random.next())
    ids.insert(id)
    return id
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
    if deadline <= clock.now { return world.violated(.timers, "\(name)'s is due again at once") }
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
    world.start(self, after: world.random.int(100...5000))
    return true
  }
}

extension World {
  func setUp(_ device: SimulatedDevice) {
    device.folder = SimulatedFolder(
      makeDisk: { [unowned self, unowned device] in makeDisk(device.clock, "device") },
      makeID: { [unowned self, unowned device] in device.newID(&random) })
    start(device, after: random.int(0...2000))
    planAction(of: device)
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
    device.sockets = [:]
    do throws(LogError) {
      let log = try folder.open(in: device.process)
      device.machine = try DeviceMachine(
        name: device.name, daemon: endpoint, log: log, store: folder, link: SimulatedLink(self, device),
        seed: random.next())
    } catch {
      note("\(device.name) can't start: \(error)")
      device.life += 1
      if error.code == .damaged || error.code == .notFound { violated(.sound, "\(device.name): \(error)") }
      return start(device, after: random.int(500...2000))
    }
    count("device starts")
    note("\(device.name) starts as \(device.machine?.device?.description.prefix(6) ?? "")")
    let failures = Answers<ClientError?>()
    for stack in plan.stacks {
      device.input(self) { machine, now in
        machine.open(stack, policy: plan.policy, at: now) { failures.add($0) }
      }
    }
    if let failure = failures.all.compactMap(\.self).first {
      note("\(device.name) can't open its stacks: \(failure)")
      if !failure.isRetriable { violated(.sound, "\(device.name): \(failure)") }
      end(device)
      return start(device, after: random.int(500...2000))
    }
    device.input(self) { $0.connect(at: $1) }
    if let act = device.unanswered {
      device.unanswered = nil
      repeatAct(act, on: device)
    }
  }

  /// The process ends at once; what it has to say is not said.
  func end(_ device: SimulatedDevice) {
    device.process.hasCrashed = true
    device.machine = nil
    device.life += 1
    cutAll(of: device, tellsDevice: false)
    device.sockets = [:]
    device.seen = [:]
  }

  /// The person closes it.
  func close(_ device: SimulatedDevice) {
    guard device.machine != nil else { return }
    device.machine!.stopping(at: device.moment())
    end(device)
  }
}
