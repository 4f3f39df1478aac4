import EventLog
import NavigationModel

/// A store on a virtual disk: what was put on stable storage, in order, and what goes wrong with it.
///
/// A call that returned is durable, as the log promises. One that a crash cut off is there whole or not at all: a torn
/// record fails its checksum and is cut when the store is opened.
final class SimulatedDisk {
  enum Record {
    case appends([LogAppend])
    case fact(String, [UInt8]?)
  }

  /// What goes wrong.
  struct Faults {
    var isFull = false
    /// Of each call.
    var readErrors = 0.0
    /// Of each call; what it wrote is there or not, and the caller isn't told which.
    var writeErrors = 0.0
    /// The process ends in the so-manieth write from now on.
    var crashIn: Int?
  }

  var faults = Faults()
  /// Nothing can be read from it: only on purpose.
  var isDamaged = false
  private(set) var epoch: UInt64
  /// With the time at which it was written.
  private var records: [(record: Record, at: Int)] = []
  private(set) var contents: MemoryLog
  private let clock: Clock
  private var random: Randomness
  /// Told of each fault that struck.
  private let struck: (String) -> Void

  init(epoch: UInt64, clock: Clock, random: Randomness, struck: @escaping (String) -> Void) {
    self.epoch = epoch
    self.clock = clock
    self.random = random
    self.struck = struck
    contents = MemoryLog(epoch: epoch) { clock.wall }
  }

  /// A copy, as of a backup.
  func copy(random: Randomness) -> SimulatedDisk {
    let copy = SimulatedDisk(epoch: epoch, clock: clock, random: random, struck: struck)
    copy.records = records
    copy.replay()
    return copy
  }

  /// All that was written after a time is gone, also what was synced.
  ///
  /// - Parameter epoch: the new one, if it is noticed.
  func loseWhatWasWritten(since time: Int, epoch: UInt64?) {
    records.removeAll { $0.at >= time }
    if let epoch { self.epoch = epoch }
    replay()
  }

  private func replay() {
    let clock = clock
    contents = MemoryLog(epoch: epoch) { clock.wall }
    for (record, _) in records {
      switch record {
      case .appends(let appends):
        do { _ = try contents.append(appends) } catch {
          preconditionFailure("what was stored isn't storable: \(error)")
        }
      case .fact(let key, let value): contents.setFact(key, value)
      }
    }
  }

  // MARK: A process's calls

  enum Ending {
    case done
    case failed(LogError)
    /// The process is no more.
    case crashed
  }

  func willRead() throws(LogError) {
    if isDamaged { throw LogError(.damaged, about: "disk", "a checksum is wrong") }
    guard faults.readErrors > 0, random.chance(faults.readErrors) else { return }
    struck("read error")
    throw LogError(.inputOutput, about: "disk", "reading failed")
  }

  /// Before anything else that may be cut off: true if the process ends here.
  func crashes() -> Bool {
    guard let left = faults.crashIn else { return false }
    faults.crashIn = left > 0 ? left - 1 : nil
    if left > 0 { return false }
    return true
  }

  func write(_ record: Record) -> (ending: Ending, offsets: [Int]) {
    if crashes() {
      let isStored = random.chance(0.5)
      struck(isStored ? "crash after a write" : "crash in a write, torn")
      if isStored { _ = try? store(record) }
      return (.crashed, [])
    }
    if faults.isFull {
      struck("disk full")
      return (.failed(LogError(.full, about: "disk", "no room")), [])
    }
    if faults.writeErrors > 0, random.chance(faults.writeErrors) {
      let isStored = random.chance(0.5)
      struck(isStored ? "write error, stored" : "write error")
      if isStored { _ = try? store(record) }
      return (.failed(LogError(.inputOutput, about: "disk", "writing failed")), [])
    }
    do throws(LogError) { return (.done, try store(record)) } catch { return (.failed(error), []) }
  }

  private func store(_ record: Record) throws(LogError) -> [Int] {
    var offsets: [Int] = []
    switch record {
    case .appends(let appends): offsets = try contents.append(appends)
    case .fact(let key, let value): contents.setFact(key, value)
    }
    records.append((record, clock.now))
    return offsets
  }
}

/// The time of a world.
final class Time {
  /// In milliseconds from the beginning.
  var now = 0
}

/// What a process's clock says.
final class Clock {
  private let time: Time
  /// How far the wall clock is off.
  var offset = 0
  /// In millionths.
  var drift = 0

  init(_ time: Time) { self.time = time }

  static let start = 1_750_000_000_000

  /// The true time, in milliseconds from the beginning of the world.
  var now: Int { time.now }

  /// In milliseconds since 1970.
  var wall: Int { Self.start + now + offset + now * drift / 1_000_000 }
}
