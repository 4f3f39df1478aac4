import Foundation
import Glibc
import Simulation

/// One round: the devices act, something goes wrong and is put right again, and all is checked.
struct Round {
  let fleet: Fleet
  let fault: Fault
  var random: Randomness
  /// How long a process is stopped, if that is said.
  var stopMilliseconds: Int?
  /// How long until all must be level.
  var patience = Duration.seconds(60)

  /// Milliseconds from one action of a device to the next, on average.
  static let pace = 5

  mutating func run() async throws {
    fleet.note("round: \(fault.rawValue)")
    fleet.act(milliseconds: Self.pace)
    try await pause(100...500)
    switch fault {
    case .killDaemon: try await killDaemon()
    case .killDevice: try await killDevice()
    case .killAll: try await killAll()
    case .stop: try await stop()
    case .cut: try await cut()
    case .full: try await full()
    case .readOnly: try await readOnly()
    case .power: try await power()
    case .damage: try await spoil { try $0.changeBytes(&$1) }
    case .truncate: try await spoil { try $0.cutShort(&$1) }
    case .descriptors: try await descriptors()
    case .clock: try await clock()
    case .backup: try await backup()
    case .deviceBackup: try await deviceBackup()
    }
    try await pause(50...300)
    try await fleet.settle(within: patience)
    fleet.note("level")
    try await fleet.checkStores(within: .seconds(10))
  }

  mutating func pause(_ milliseconds: ClosedRange<Int>) async throws {
    try await Task.sleep(for: .milliseconds(random.int(milliseconds)))
  }

  func start(_ device: DrivenDevice, environment: [String: String] = [:]) throws {
    try device.start(environment: environment)
    device.order(.act(milliseconds: Self.pace))
    fleet.note("\(device.name) is started")
  }

  // MARK: Processes

  private mutating func killDaemon() async throws {
    for _ in 1...random.int(1...3) {
      try await fleet.killDaemon()
      try fleet.checkDaemonKept(fleet.promised)
      if random.chance(0.5) { try await pause(0...300) }
      try await fleet.startDaemon()
      try fleet.expectDaemonSaid("serving")
      try await pause(20...600)
    }
  }

  private mutating func killDevice() async throws {
    for _ in 1...random.int(1...4) {
      let device = random.pick(fleet.devices)
      try await device.kill()
      fleet.note("\(device.name) is killed")
      try fleet.checkKept(device, fleet.promised)
      if random.chance(0.5) { try await pause(0...200) }
      try start(device)
      try await pause(20...300)
    }
  }

  private mutating func killAll() async throws {
    for child in fleet.devices.map(\.child) + [fleet.daemon] { child?.signal(SIGKILL) }
    try await fleet.killDaemon()
    for device in fleet.devices { try await device.kill() }
    fleet.note("all are killed")
    try fleet.checkDaemonKept(fleet.promised)
    for device in fleet.devices { try fleet.checkKept(device, fleet.promised) }
    let daemonFirst = random.chance(0.5)
    if daemonFirst { try await fleet.startDaemon() }
    for device in fleet.devices { try start(device) }
    if !daemonFirst {
      try await pause(0...300)
      try await fleet.startDaemon()
    }
  }

  private mutating func stop() async throws {
    let children = [fleet.daemon] + fleet.devices.map(\.child)
    guard let child = random.pick(children + [fleet.daemon]) else { return }
    let time = stopMilliseconds ?? random.int(300...6000)
    child.signal(SIGSTOP)
    fleet.note("\(child.name) is stopped for \(time) ms")
    try await Task.sleep(for: .milliseconds(time))
    child.signal(SIGCONT)
    fleet.note("\(child.name) goes on")
  }

  private mutating func cut() async throws {
    guard let network = fleet.place.network else { return }
    for _ in 1...random.int(1...2) {
      let time = random.int(200...6000)
      try network.cut()
      fleet.note("the wire is cut for \(time) ms")
      try await Task.sleep(for: .milliseconds(time))
      try network.heal()
      fleet.note("the wire is whole")
      try await pause(100...500)
    }
  }
}
