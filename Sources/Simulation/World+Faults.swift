import EventLog
import NavigationModel
import WireFormat

extension World {
  func planFaults() {
    for kind in FaultKind.allCases {
      guard let mean = plan.faults[kind] else { continue }
      planFault(kind, mean)
    }
    if plan.faults[.backupRestored] != nil { planBackup() }
    network.duplicates = plan.duplicates
  }

  private func planFault(_ kind: FaultKind, _ mean: Int) {
    after(random.wait(mean: mean)) { [self] in
      guard !isHealed else { return }
      inject(kind)
      planFault(kind, mean)
    }
  }

  private func planBackup() {
    after(random.wait(mean: plan.duration / 4)) { [self] in
      guard !isHealed else { return }
      let device = random.pick(devices)
      if let backup = device.folder?.backup(&random) {
        device.backup = backup
        note("\(device.name) is backed up")
      }
      planBackup()
    }
  }

  private func inject(_ kind: FaultKind) {
    let device = random.pick(devices)
    guard happens(kind, device) else { return }
    if kind != .duplicate { struck(kind.rawValue) }
    note("FAULT \(kind.rawValue)\(kind.rawValue.hasPrefix("device") ? ": \(device.name)" : "")")
  }

  /// - Returns: false if it can't happen now.
  private func happens(_ kind: FaultKind, _ device: SimulatedDevice) -> Bool {
    switch kind {
    case .connectionCut:
      let all = network.connections.values.filter(\.isUp).sorted { $0.number < $1.number }
      guard !all.isEmpty else { return false }
      cut(random.pick(all), tellsDevice: true)
    case .partition: partition([.toDaemon, .toDevice])
    case .oneWayPartition: partition([random.chance(0.5) ? .toDaemon : .toDevice])
    case .slowNetwork:
      network.slowness = random.int(50...3000)
      later(random.int(1000...20_000)) { $0.network.slowness = 0 }
    case .duplicate: break
    case .stuckDevice: device.stuckUntil = now + random.int(500...40_000)
    case .stuckDaemon: daemon.stuckUntil = now + random.int(500...10_000)
    case .deviceCrash:
      guard device.machine != nil else { return false }
      end(device)
      start(device, after: random.int(50...5000))
    case .deviceCrashInDisk:
      guard device.machine != nil else { return false }
      device.folder?.present?.disk.faults.crashIn = random.int(0...6)
    case .deviceRestart:
      guard device.machine != nil else { return false }
      close(device)
      device.closedUntil = now + random.int(100...plan.duration / 2)
      start(device, after: 0)
    case .daemonCrash:
      guard daemon.core != nil else { return false }
      endDaemon()
      startDaemon(after: random.int(50...8000))
    case .daemonCrashInDisk: daemon.disk?.faults.crashIn = random.int(0...6)
    case .deviceDiskFull: fill(device.folder?.present?.disk)
    case .daemonDiskFull: fill(daemon.disk)
    case .deviceDiskErrors: spoil(device.folder?.present?.disk)
    case .daemonDiskErrors: spoil(daemon.disk)
    case .deviceClockJump: device.clock.offset += random.int(-600_000...600_000)
    case .deviceClockAhead: device.clock.offset = 3_600_000
    case .deviceClockDrift: device.clock.drift = random.int(-20_000...20_000)
    case .daemonClockJump: daemon.clock.offset += random.int(-200_000...200_000)
    case .backupRestored: return restore(device)
    case .daemonLostSeconds: loseSeconds()
    case .daemonLostStore: loseStore()
    }
    return true
  }

  /// Ends by itself, or when everything is healed.
  private func later(_ wait: Int, _ body: @escaping (World) -> Void) {
    after(wait) { [self] in if !isHealed { body(self) } }
  }

  private func partition(_ directions: [Direction]) {
    let group = devices.map(\.number).filter { _ in random.chance(0.5) }
    block(group, directions)
    later(random.int(500...60_000)) { $0.unblock(group, directions) }
  }

  private func startDaemon(after wait: Int) {
    after(wait) { [self] in startDaemon() }
  }

  private func fill(_ disk: SimulatedDisk?) {
    disk?.faults.isFull = true
    later(random.int(500...20_000)) { _ in disk?.faults.isFull = false }
  }

  private func spoil(_ disk: SimulatedDisk?) {
    if random.chance(0.7) { disk?.faults.writeErrors = Double(random.int(5...60)) / 100 }
    if random.chance(0.7) { disk?.faults.readErrors = Double(random.int(5...60)) / 100 }
    later(random.int(500...15_000)) { _ in
      disk?.faults.writeErrors = 0
      disk?.faults.readErrors = 0
    }
  }

  // MARK: What destroys

  private func restore(_ device: SimulatedDevice) -> Bool {
    guard let backup = device.backup else { return false }
    device.backup = nil
    end(device)
    device.folder?.restore(backup)
    reviewPromises()
    start(device, after: random.int(50...5000))
    return true
  }

  /// The file of heads shows it, unless it was all within its last second.
  private func loseSeconds() {
    endDaemon()
    let lost = random.chance(0.6) ? random.int(1...1000) : random.int(1000...20_000)
    let isNoticed = lost > 1000 || random.chance(0.3)
    daemon.disk?.loseWhatWasWritten(since: now - lost, epoch: isNoticed ? random.next() | 1 : nil)
    reviewPromises()
    startDaemon(after: random.int(50...8000))
  }

  private func loseStore() {
    endDaemon()
    daemon.disk = makeDisk(daemon.clock, "daemon")
    reviewPromises()
    startDaemon(after: random.int(50...8000))
  }

  /// What is on no disk any more can't be kept. Another event under the same dot is another one.
  private func reviewPromises() {
    let disks = [daemon.disk].compactMap(\.self) + devices.flatMap { $0.folder?.disks ?? [] }
    var held: [StackName: [Dot: [Action]]] = [:]
    for disk in disks {
      for stack in plan.stacks {
        for event in World.events(of: stack, disk) where held[stack]?[event.dot]?.contains(event.action) != true {
          held[stack, default: [:]][event.dot, default: []].append(event.action)
        }
      }
    }
    let gone = promises.removeAll { held[$0.stack]?[$0.dot]?.contains($0.action) != true }
    count("events destroyed on every disk", gone)
  }

  /// All events of a stack on a disk, in the order in which they were stored.
  static func events(of stack: StackName, _ disk: SimulatedDisk) -> [Event] {
    var events: [Event] = []
    var chains = StackChains(stack: stack)
    for stored in disk.contents.read(stack, after: 0, maximumBytes: .max) {
      stored.batch.forEach { record in
        guard let event = try? chains.receive(record.dot, Array(stored.batch.bytes[record.range])) else { return }
        events.append(event)
      }
    }
    return events
  }

  // MARK: The end of all faults

  /// A daemon whose clock was set back, and whose store is gone, takes what its devices have from then only when its
  /// clock is there again: at most a minute before. So long, in milliseconds.
  func waitForClocks() -> Int {
    var newest = 0
    for disk in devices.flatMap({ $0.folder?.disks ?? [] }) {
      for stack in plan.stacks {
        for event in World.events(of: stack, disk) { newest = max(newest, event.timestamp.milliseconds) }
      }
    }
    return min(600_000, max(0, newest - daemon.clock.wall - 60_000))
  }

  func heal() {
    isHealed = true
    note("all faults end")
    network.slowness = 0
    network.duplicates = 0
    unblock(devices.map(\.number), [.toDaemon, .toDevice])
    for disk in [daemon.disk].compactMap(\.self) + devices.flatMap({ $0.folder?.disks ?? [] }) {
      disk.faults = SimulatedDisk.Faults()
    }
    daemon.stuckUntil = now
    startDaemon()
    for device in devices {
      device.stuckUntil = now
      device.closedUntil = now
      // Some clocks stay wrong: they may be off by any amount, but not run away.
      device.clock.offset += now * device.clock.drift / 1_000_000
      device.clock.drift = 0
      start(device, after: random.int(0...2000))
    }
  }
}
