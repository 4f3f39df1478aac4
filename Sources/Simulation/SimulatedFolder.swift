import EventLog
import NavigationClient
import NavigationModel

/// A device's folder: its present store, one that is being made, and those that were kept inside of it. Each step can be
/// the last of its process.
final class SimulatedFolder: DeviceStore {
  struct Store {
    var disk: SimulatedDisk
    var kept: [String: Store] = [:]
  }

  private(set) var present: Store?
  private(set) var next: Store?
  private var process = SimulatedProcess()
  private let makeDisk: () -> SimulatedDisk
  private let makeID: () -> DeviceID

  init(makeDisk: @escaping () -> SimulatedDisk, makeID: @escaping () -> DeviceID) {
    self.makeDisk = makeDisk
    self.makeID = makeID
    present = Store(disk: makeDisk())
  }

  /// Every disk in it.
  var disks: [SimulatedDisk] {
    func all(_ store: Store) -> [SimulatedDisk] {
      [store.disk] + store.kept.sorted { $0.key < $1.key }.flatMap { all($0.value) }
    }
    return [present, next].compactMap(\.self).flatMap(all)
  }

  /// What opening the device does in a new process: ends a swap that was cut off, and opens the log.
  func open(in process: SimulatedProcess) throws(LogError) -> SimulatedLog {
    self.process = process
    return try open()
  }

  private func open() throws(LogError) -> SimulatedLog {
    if present == nil, var next {
      next.flatten()
      present = next
      self.next = nil
    }
    guard let disk = present?.disk else { preconditionFailure("a device without a store") }
    let log = SimulatedLog(disk, process)
    if try log.fact("device") == nil { try log.setFact("device", Array(makeID().description.utf8)) }
    return log
  }

  /// A backup takes the place of it all.
  func restore(_ backup: Store) {
    present = backup
    next = nil
  }

  /// A copy of all of it; nil in the middle of a swap.
  func copy(_ random: () -> Randomness) -> Store? {
    func copy(_ store: Store) -> Store {
      var kept: [String: Store] = [:]
      let disk = store.disk.copy(random: random())
      for (name, store) in store.kept.sorted(by: { $0.key < $1.key }) { kept[name] = copy(store) }
      return Store(disk: disk, kept: kept)
    }
    return next == nil ? present.map(copy) : nil
  }

  // MARK: What the engine asks for

  func keptName(former: DeviceID) -> String {
    var number = 1
    while present?.kept["replaced-\(number)"] != nil { number += 1 }
    return "replaced-\(number)"
  }

  func newDeviceID() -> DeviceID { makeID() }

  func makeNext() throws(LogError) -> any EventLog {
    try step()
    let disk = makeDisk()
    disk.faults = present?.disk.faults ?? disk.faults
    next = Store(disk: disk)
    return SimulatedLog(disk, process)
  }

  func takeNext(keeping kept: String) throws(LogError) -> any EventLog {
    next?.kept[kept] = present
    present = nil
    try step()
    next?.flatten()
    try step()
    present = next
    next = nil
    try step()
    return try open()
  }

  func openKept(_ kept: String) throws(LogError) -> any EventLogReader {
    guard let store = present?.kept[kept] else {
      throw LogError(.notFound, about: kept, "nothing was kept under that name")
    }
    return SimulatedLog(store.disk, process)
  }

  private func step() throws(LogError) {
    if !process.hasCrashed, (present ?? next)?.disk.crashes() == true { process.hasCrashed = true }
    if process.hasCrashed { throw LogError(.inputOutput, about: "folder", "the process is no more") }
  }
}

extension SimulatedFolder.Store {
  /// What was kept earlier stays at hand beside what was kept last.
  mutating func flatten() {
    for name in kept.keys.sorted() {
      for (inner, store) in kept[name]?.kept ?? [:] { kept[inner] = store }
      kept[name]?.kept = [:]
    }
  }
}
