import NavigationModel
import WireFormat

extension World {
  func happen(_ fault: Fault) {
    guard happens(fault) else { return }
    struck(fault.name)
    note("FAULT \(Scenario.text(fault))")
  }

  /// - Returns: false if it can't happen now.
  private func happens(_ fault: Fault) -> Bool {
    switch fault.kind {
    case .connectionCut:
      let all = network.ordered.filter { $0.isUp && $0.port.owner == fault.places[0] }
      guard let first = all.first else { return false }
      cut(first, tellsClient: true)
    case .partition, .partitionOut, .partitionIn:
      let partition = SimulatedNetwork.Partition(
        group: Set(fault.places), isOutBlocked: fault.kind != .partitionIn, isInBlocked: fault.kind != .partitionOut)
      part(partition)
      later(fault.lasts) { $0.join(partition) }
    case .slowNetwork:
      network.slowness = fault.amount
      later(fault.lasts) { $0.network.slowness = 0 }
    case .duplicates:
      network.duplicates = Double(fault.amount) / 1000
      later(fault.lasts) { $0.network.duplicates = 0 }
    case .newer: newerUntil[fault.places[0]] = now + fault.lasts
    case .otherVersion: otherVersionUntil[fault.places[0]] = now + fault.lasts
    case .backup:
      guard case .device(let number) = fault.places[0], let backup = copy(devices[number], for: devices[number]) else {
        return false
      }
      devices[number].backup = backup
    case .stuck, .crash, .crashInDisk, .closed, .diskFull, .diskErrors, .clockJump, .clockAhead, .clockDrift, .restored,
      .cloned, .lostSeconds, .lostStore, .moved, .wasNewer:
      switch fault.places[0] {
      case .device(let number): return happens(fault, to: devices[number])
      case .daemon(let number): return happens(fault, to: daemons[number])
      }
    }
    return true
  }

  private func happens(_ fault: Fault, to device: SimulatedDevice) -> Bool {
    switch fault.kind {
    case .stuck: device.stuckUntil = now + fault.lasts
    case .crash:
      guard device.machine != nil else { return false }
      end(device)
      start(device, after: fault.lasts)
    case .crashInDisk:
      guard device.machine != nil else { return false }
      device.crashLasts = fault.lasts
      device.folder?.present?.disk.faults.crashIn = fault.amount
    case .closed:
      guard device.machine != nil else { return false }
      close(device)
      device.closedUntil = now + fault.lasts
      start(device, after: 0)
    case .diskFull: fill(device.folder?.present?.disk, for: fault.lasts)
    case .diskErrors: spoil(device.folder?.present?.disk, fault)
    case .clockJump: device.clock.offset += fault.amount
    case .clockAhead: device.clock.offset = fault.amount
    case .clockDrift: device.clock.drift = fault.amount
    case .restored:
      guard let backup = device.backup else { return false }
      device.backup = nil
      replaceFolder(of: device, by: backup, for: fault.lasts)
    case .cloned:
      guard case .device(let number) = fault.places[1], let other = copy(devices[number], for: device) else {
        return false
      }
      replaceFolder(of: device, by: other, for: fault.lasts)
      device.ids.formUnion(devices[number].ids)
    case .moved:
      device.port?.daemon = fault.amount
      if let port = device.port { cutAll(of: port, tellsClient: true) }
    case .connectionCut, .partition, .partitionOut, .partitionIn, .slowNetwork, .duplicates, .backup, .lostSeconds,
      .lostStore, .newer, .otherVersion, .wasNewer:
      return false
    }
    return true
  }

  private func happens(_ fault: Fault, to daemon: SimulatedDaemon) -> Bool {
    switch fault.kind {
    case .stuck: daemon.stuckUntil = now + fault.lasts
    case .crash:
      guard daemon.core != nil else { return false }
      endDaemon(daemon)
      startDaemon(daemon, after: fault.lasts)
    case .crashInDisk:
      daemon.crashLasts = fault.lasts
      daemon.disk?.faults.crashIn = fault.amount
    case .diskFull: fill(daemon.disk, for: fault.lasts)
    case .diskErrors: spoil(daemon.disk, fault)
    case .clockJump: daemon.clock.offset += fault.amount
    case .clockAhead: daemon.clock.offset = fault.amount
    case .clockDrift: daemon.clock.drift = fault.amount
    case .lostSeconds:
      endDaemon(daemon)
      daemon.disk?.loseWhatWasWritten(
        since: now - fault.amount, epoch: fault.other == 1 ? daemon.random.next() | 1 : nil)
      reviewPromises()
      startDaemon(daemon, after: fault.lasts)
    case .lostStore:
      endDaemon(daemon)
      giveDisk(daemon)
      reviewPromises()
      startDaemon(daemon, after: fault.lasts)
    case .wasNewer:
      endDaemon(daemon)
      let isStored = storeUnreadable(daemon)
      startDaemon(daemon, after: fault.lasts)
      return isStored
    case .connectionCut, .partition, .partitionOut, .partitionIn, .slowNetwork, .duplicates, .backup, .closed,
      .restored, .cloned, .moved, .newer, .otherVersion:
      return false
    }
    return true
  }

  /// Ends by itself, or when everything is healed.
  private func later(_ wait: Int, _ body: @escaping (World) -> Void) {
    after(wait) { [self] in if !isHealed { body(self) } }
  }

  private func fill(_ disk: SimulatedDisk?, for wait: Int) {
    disk?.faults.isFull = true
    later(wait) { _ in disk?.faults.isFull = false }
  }

  private func spoil(_ disk: SimulatedDisk?, _ fault: Fault) {
    disk?.faults.readErrors = Double(fault.amount) / 100
    disk?.faults.writeErrors = Double(fault.other) / 100
    later(fault.lasts) { _ in
      disk?.faults.writeErrors = 0
      disk?.faults.readErrors = 0
    }
  }

  // MARK: What destroys

  private func copy(_ device: SimulatedDevice, for owner: SimulatedDevice) -> SimulatedFolder.Store? {
    device.folder?.copy { owner.diskRandomness() }
  }

  private func replaceFolder(of device: SimulatedDevice, by store: SimulatedFolder.Store, for wait: Int) {
    end(device)
    device.folder?.restore(store)
    device.named = [:]
    device.unanswered = nil
    reviewPromises()
    start(device, after: wait)
  }

  private var disks: [SimulatedDisk] {
    daemons.compactMap(\.disk) + devices.flatMap { $0.folder?.disks ?? [] }
  }

  /// What is on no disk any more can't be kept. Another event under the same dot is another one.
  private func reviewPromises() {
    var held: [StackName: [Dot: Set<Event>]] = [:]
    for disk in disks {
      for stack in setting.stacks {
        for event in Holding(of: stack, on: disk).all {
          held[stack, default: [:]][event.dot, default: []].insert(event)
        }
      }
    }
    let gone = promises.removeAll { promise in
      held[promise.stack]?[promise.dot]?.contains { promise.isKept(by: $0) } != true
    }
    count("events destroyed on every disk", gone)
  }

  // MARK: The end of all faults

  /// A daemon whose clock was set back takes what others have from then only when its clock is there again: at most a
  /// minute before. So long, in milliseconds.
  func waitForClocks() -> Int {
    var newest = 0
    for disk in disks {
      for stack in setting.stacks {
        for event in Holding(of: stack, on: disk).all { newest = max(newest, event.timestamp.milliseconds) }
      }
    }
    let earliest = daemons.map(\.clock.wall).min() ?? 0
    return min(7_200_000, max(0, newest - earliest - 60_000))
  }

  func heal() {
    isHealed = true
    note("all faults end")
    network.slowness = 0
    network.duplicates = 0
    newerUntil = [:]
    otherVersionUntil = [:]
    for partition in network.partitions { join(partition) }
    for disk in disks { disk.faults = SimulatedDisk.Faults() }
    for clock in daemons.map(\.clock) + devices.map(\.clock) {
      // Some clocks stay wrong: they may be off by any amount, but not run away.
      clock.offset += now * clock.drift / 1_000_000
      clock.drift = 0
    }
    for daemon in daemons {
      daemon.stuckUntil = now
      startDaemon(daemon)
    }
    for device in devices {
      device.stuckUntil = now
      device.closedUntil = now
      start(device, after: device.random.int(0...2000))
    }
    if isSabotaged(.level) {
      part(SimulatedNetwork.Partition(group: [.device(0)], isOutBlocked: true, isInBlocked: true))
    }
  }
}
