import EventLog
import NavigationModel

/// A process, as far as its logs go: after a crash nothing more of it reaches a disk.
final class SimulatedProcess {
  var hasCrashed = false
}

/// A process's log on a ``SimulatedDisk``. After a crash or `close` it can't be used any more.
final class SimulatedLog: EventLog {
  let disk: SimulatedDisk
  private let process: SimulatedProcess
  private var isClosed = false

  init(_ disk: SimulatedDisk, _ process: SimulatedProcess) {
    self.disk = disk
    self.process = process
  }

  var epoch: UInt64 { disk.epoch }

  private func check() throws(LogError) {
    precondition(!isClosed, "a log that was closed is used")
    if process.hasCrashed { throw LogError(.inputOutput, about: "disk", "the process is no more") }
  }

  private func reading() throws(LogError) -> MemoryLog {
    try check()
    try disk.willRead()
    return disk.contents
  }

  private func write(_ record: SimulatedDisk.Record) throws(LogError) -> [Int] {
    try check()
    let (ending, offsets) = disk.write(record)
    switch ending {
    case .done: return offsets
    case .failed(let error): throw error
    case .crashed:
      process.hasCrashed = true
      throw LogError(.inputOutput, about: "disk", "the process is no more")
    }
  }

  func append(_ appends: [LogAppend]) throws(LogError) -> [Int] { try write(.appends(appends)) }

  func keep(_ snapshot: StoredSnapshot, of stack: StackName) throws(LogError) {
    try check()
    disk.contents.keep(snapshot, of: stack)
  }

  func setFact(_ key: String, _ value: [UInt8]?) throws(LogError) { _ = try write(.fact(key, value)) }

  func makeReader() throws(LogError) -> sending any EventLogReader { try reading().makeReader() }

  func close() throws(LogError) {
    try check()
    isClosed = true
  }

  // MARK: Reading

  func info(of stack: StackName) throws(LogError) -> StackInfo? { try reading().info(of: stack) }

  func stacks(in space: Name?) throws(LogError) -> [StackInfo] { try reading().stacks(in: space) }

  func heads(of stack: StackName) throws(LogError) -> [StoredHead] { try reading().heads(of: stack) }

  func read(_ stack: StackName, after offset: Int, maximumBytes: Int) throws(LogError) -> [StoredBatch] {
    try reading().read(stack, after: offset, maximumBytes: maximumBytes)
  }

  func offset(in stack: StackName, lackedBy vector: VersionVector) throws(LogError) -> Int {
    try reading().offset(in: stack, lackedBy: vector)
  }

  func offset(in stack: StackName, storedSince milliseconds: Int) throws(LogError) -> Int {
    try reading().offset(in: stack, storedSince: milliseconds)
  }

  func events(of device: DeviceID, in stack: StackName, sequences: ClosedRange<Int>) throws(LogError) -> [[UInt8]] {
    try reading().events(of: device, in: stack, sequences: sequences)
  }

  func snapshot(of stack: StackName) throws(LogError) -> StoredSnapshot? { try reading().snapshot(of: stack) }

  func fact(_ key: String) throws(LogError) -> [UInt8]? { try reading().fact(key) }

  func facts(prefixed prefix: String) throws(LogError) -> [(key: String, value: [UInt8])] {
    try reading().facts(prefixed: prefix)
  }
}
