import EventLog
import Foundation
import Glibc
import Simulation

/// Many devices that come and go for a long time, with faults, at one daemon that is measured.
struct Soak {
  let fleet: Fleet
  let seconds: Double
  let sampleSeconds: Double
  let tell: (String) -> Void
  private var random: Randomness
  private(set) var samples: [SoakSample] = []
  private(set) var happened: [String: Int] = [:]
  private let started = ContinuousClock.now
  private var era = 0
  /// What goes on again, and when.
  private var later: [(at: Double, act: () throws -> Void)] = []
  private var before: ProcessSample?

  /// So many stacks are in use at a time; every few seconds the oldest goes out of use.
  private static let live = 6
  private static let eraSeconds = 20.0
  /// From one action of a device to the next, on average.
  static let pace = 1000

  init(_ fleet: Fleet, seconds: Double, sampleSeconds: Double, seed: Int, tell: @escaping (String) -> Void) {
    self.fleet = fleet
    self.seconds = seconds
    self.sampleSeconds = sampleSeconds
    self.tell = tell
    random = Randomness(seed: UInt64(seed), "soak")
  }

  private var now: Double { (ContinuousClock.now - started) / .seconds(1) }

  /// Runs to its end, and checks that nothing acknowledged is missing.
  mutating func run() async throws {
    fleet.stacks = (1...Self.live).map(Self.stack)
    era = Self.live
    try await fleet.startDaemon()
    for device in fleet.devices {
      device.stacks = some()
      try start(device)
    }
    var nextSample = sampleSeconds
    var nextEra = Self.eraSeconds
    while now < seconds {
      try await Task.sleep(for: .milliseconds(500))
      try fleet.checkRunning()
      let time = now
      let due = later.filter { $0.at <= time }
      later.removeAll { $0.at <= time }
      for step in due { try step.act() }
      if now >= nextEra {
        nextEra += Self.eraSeconds
        try changeStacks()
      }
      try await disturb()
      if now >= nextSample {
        nextSample += sampleSeconds
        try sample()
      }
    }
    try await end()
  }

  /// They come back after a while: a daemon holds the last thousand that went out of use in memory.
  private static func stack(_ number: Int) -> String { "soak/s\(number % 24)" }

  /// Two or three of the stacks in use.
  private mutating func some() -> Set<String> {
    Set((1...random.int(2...3)).map { _ in random.pick(fleet.stacks) })
  }

  private mutating func count(_ what: String) { happened[what, default: 0] += 1 }

  private func start(_ device: DrivenDevice) throws {
    try device.start()
    device.order(.act(milliseconds: Self.pace))
  }

  // MARK: What happens

  private mutating func changeStacks() throws {
    era += 1
    let old = fleet.stacks.removeFirst()
    fleet.stacks.append(Self.stack(era))
    for device in fleet.devices where device.stacks.contains(old) {
      leave(device, old)
      follow(device, random.chance(0.5) ? Self.stack(era) : random.pick(fleet.stacks))
    }
    count("stacks that went out of use")
  }

  private func follow(_ device: DrivenDevice, _ stack: String) {
    guard device.stacks.insert(stack).inserted else { return }
    device.order(.follow(stack))
  }

  private func leave(_ device: DrivenDevice, _ stack: String) {
    device.stacks.remove(stack)
    device.order(.leave(stack))
  }

  /// Twice a second.
  private mutating func disturb() async throws {
    // A device does one of these about once a minute.
    for device in fleet.devices where random.chance(0.008) {
      guard device.child != nil else {
        try come(device)
        continue
      }
      switch random.int(1...10) {
      case ...3: try await go(device)
      case ...5: try await kill(device)
      case ...6: pause(device.child, for: Double(random.int(1...8)), "devices stopped for a while")
      case ...8:
        follow(device, random.pick(fleet.stacks))
        count("follows")
      case _:
        guard device.stacks.count > 1, let stack = device.stacks.sorted().first else { continue }
        leave(device, stack)
        count("leaves")
      }
    }
    if let network = fleet.place.network, random.chance(0.02) {
      try network.cut()
      later.append((now + Double(random.int(1...8)), { try network.heal() }))
      count("cuts of the wire")
    }
    if random.chance(0.01) { pause(fleet.daemon, for: Double(random.int(1...4)), "stops of the daemon for a while") }
    // Its memory is measured in the second half, when its caches are full.
    if now < seconds / 3, random.chance(0.015) {
      try await fleet.killDaemon()
      try await fleet.startDaemon()
      before = nil
      count("kills of the daemon")
    }
  }

  private mutating func come(_ device: DrivenDevice) throws {
    device.stacks = some()
    try start(device)
    count("devices come")
  }

  private mutating func go(_ device: DrivenDevice) async throws {
    device.child?.signal(SIGCONT)
    try await device.stop()
    count("devices gone")
  }

  private mutating func kill(_ device: DrivenDevice) async throws {
    try await device.kill()
    try start(device)
    count("kills of devices")
  }

  private mutating func pause(_ child: Child?, for time: Double, _ what: String) {
    guard let child else { return }
    child.signal(SIGSTOP)
    later.append((now + time, { child.signal(SIGCONT) }))
    count(what)
  }

  // MARK: Measuring

  private mutating func sample() throws {
    guard let daemon = fleet.daemon, let process = ProcessSample(daemon.identifier) else { return }
    let share = before.map { process.processorShare(since: $0) } ?? 0
    before = process
    let devices = fleet.devices.compactMap { $0.child.flatMap { ProcessSample($0.identifier) } }
    let store = fleet.place.daemonStore
    let files = try FileManager.default.contentsOfDirectory(atPath: store)
    func size(_ name: String) -> Int {
      var status = stat()
      return lstat("\(store)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0
    }
    let writeAhead = files.filter { $0.hasSuffix("-wal") }.reduce(0) { $0 + size($1) }
    let events = try SQLiteLog.openReader(at: store).stacks(in: nil).reduce(0) { $0 + $1.head }
    let sample = SoakSample(
      seconds: now, residentBytes: process.residentBytes, descriptors: process.descriptors, threads: process.threads,
      processorShare: share, storeBytes: files.reduce(0) { $0 + size($1) } - writeAhead, writeAheadBytes: writeAhead,
      events: events, deviceResidentBytes: devices.reduce(0) { $0 + $1.residentBytes } / max(devices.count, 1),
      deviceDescriptors: Double(devices.reduce(0) { $0 + $1.descriptors }) / Double(max(devices.count, 1)),
      devices: devices.count)
    samples.append(sample)
    tell(
      String(
        format: "%6.0f s  %2d devices  %7d events  daemon %5.1f MiB %3d descriptors %2d threads %5.1f %%"
          + "  store %4.0f bytes an event, write-ahead log %4.1f MiB  device %5.1f MiB %4.1f descriptors",
        sample.seconds, sample.devices, sample.events, Double(sample.residentBytes) / 1_048_576, sample.descriptors,
        sample.threads, share * 100, sample.storeBytesAnEvent, Double(writeAhead) / 1_048_576,
        Double(sample.deviceResidentBytes) / 1_048_576, sample.deviceDescriptors))
  }

  // MARK: The end

  private mutating func end() async throws {
    for step in later { try step.act() }
    later = []
    // Who is away may have what nobody else has.
    for device in fleet.devices where device.child == nil { try device.start() }
    try await fleet.settle(within: .seconds(180))
    try await fleet.checkStores(within: .seconds(120))
    try await fleet.stop()
  }
}
