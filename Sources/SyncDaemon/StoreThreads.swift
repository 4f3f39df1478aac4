package import EventLog
import Glibc
import Locking
package import NavigationModel
package import Replication
import WireFormat
package import ZeroMQ

/// The log's two threads: one that commits, and one that reads, so that a long replay never delays a commit.
///
/// What they find goes to the loop as ``DaemonHandler/Command``s.
package final class StoreThreads: Sendable {
  typealias Failure = ServerCore.StorageFailure
  package typealias Mailbox = ZeroMQ.Mailbox<DaemonHandler.Command>

  enum WriteJob: Sendable {
    case attach(Mailbox)
    case commit(ServerCore.Commit)
    case keep(key: String, value: [UInt8])
  }

  package enum ReadJob: Sendable {
    case attach(Mailbox)
    case load(StackName)
    case read(ServerCore.Read)
    case recall(ServerCore.Recall)
    case list(Name?, ServerCore.Peer)
    case wish(PeerLink.Wish)
  }

  /// What is known when the log is open.
  struct Opened: Sendable {
    var epoch: UInt64
    var report: OpenReport?
    var facts: [(key: String, value: [UInt8])]
    /// The latest time at which anything was stored, in milliseconds since 1970.
    var newestTime: Int
  }

  let opened: Opened
  let writes = JobQueue<WriteJob>()
  let reads = JobQueue<ReadJob>()
  private let threads: [JoinedThread]
  private let writer: StoreWriter

  /// Opens the log on the thread that will write it. Blocks until it is open.
  init(_ store: SyncDaemonOptions.Store, log: DaemonLog) throws {
    let answer = JobQueue<Result<(Opened, StoreWriter, InTransit<any EventLogReader>), LogError>>()
    let writes = writes
    let thread = try JoinedThread(name: "log-writer") {
      do throws(LogError) {
        let store = try openLog(store)
        let writer = StoreWriter(store.log, log)
        answer.post(.success((try Self.look(at: store), writer, InTransit(try store.log.makeReader()))))
        writer.run(writes)
      } catch {
        answer.post(.failure(error))
      }
    }
    let reads = reads
    do {
      let (opened, writer, transit) = try answer.answer().get()
      self.opened = opened
      self.writer = writer
      threads = [thread, try JoinedThread(name: "log-reader") { StoreReader(transit.take(), log).run(reads) }]
    } catch {
      writes.close()
      thread.join()
      throw error
    }
  }

  /// Makes a commit on the caller's thread, if it is small, nothing else is written and the last one was quick: two
  /// changes of threads are a tenth of the time from an action to another device's screen. A disk that gets slow holds
  /// the caller up once.
  ///
  /// - Returns: what came of it, nil if it is not made: then it is to be posted.
  func commitAtOnce(_ commit: ServerCore.Commit) -> DaemonHandler.Command? {
    guard commit.parts.reduce(0, { $0 + $1.batch.bytes.count }) <= Self.smallCommit else { return nil }
    var result: DaemonHandler.Command?
    return writes.standIn { if writer.isQuick { result = writer.append(commit) } } ? result : nil
  }

  /// In bytes of events.
  private static let smallCommit = 16 * 1024

  /// Ends both threads: what was posted to be written is written, what was to be read has nobody left who waits for it,
  /// the log is closed. Any thread but those two.
  func finish() {
    reads.drop()
    writes.close()
    for thread in threads { thread.join() }
  }

  private static func look(at store: OpenLog) throws(LogError) -> Opened {
    var newest = 0
    for info in try store.log.stacks(in: nil) { newest = max(newest, info.lastStored) }
    return Opened(
      epoch: store.log.epoch, report: store.report, facts: try store.log.facts(prefixed: ""), newestTime: newest)
  }
}

/// What a store's thread has for the loop; it waits here until the loop runs.
struct Outbox {
  private var mailbox: StoreThreads.Mailbox?
  private var held: [DaemonHandler.Command] = []

  mutating func attach(_ mailbox: StoreThreads.Mailbox) {
    self.mailbox = mailbox
    mailbox.post(contentsOf: held)
    held = []
  }

  mutating func post(_ command: DaemonHandler.Command) {
    if let mailbox { mailbox.post(command) } else { held.append(command) }
  }
}

/// The log, and what opening it found.
private struct OpenLog {
  var log: any EventLog
  var report: OpenReport?
}

private func openLog(_ store: SyncDaemonOptions.Store) throws(LogError) -> OpenLog {
  switch store {
  case .memory: return OpenLog(log: MemoryLog(), report: nil)
  case .folder(let path):
    let log = try SQLiteLog.open(at: path, program: "navsyncd")
    return OpenLog(log: log, report: log.report)
  }
}

/// The thread that commits. Facts come after commits, some at a time with a sync of their own: when a whole fleet says its
/// names at once nobody's events wait for that.
///
/// Unchecked: one thread at a time uses it, its own (``run(_:)``) or the one that stands in while that one waits in
/// ``JobQueue/next(waits:)``; the queue's lock, which each passes before and after, makes what one wrote seen by the other.
/// After `run` nobody stands in, for the queue is closed.
final class StoreWriter: @unchecked Sendable {
  private let log: any EventLog
  private let lines: DaemonLog
  private var outbox = Outbox()
  /// To be kept, the newest of each.
  private var facts: [String: [UInt8]] = [:]
  /// Whether the last commit took less than a millisecond, as on a disk that is neither slow nor busy.
  private(set) var isQuick = false

  init(_ log: any EventLog, _ lines: DaemonLog) {
    self.log = log
    self.lines = lines
  }

  func run(_ jobs: JobQueue<StoreThreads.WriteJob>) {
    while let batch = jobs.next(waits: facts.isEmpty) {
      for job in batch {
        switch job {
        case .attach(let mailbox): outbox.attach(mailbox)
        case .commit(let commit): outbox.post(append(commit))
        case .keep(let key, let value): facts[key] = value
        }
      }
      if !facts.isEmpty { keep(facts.prefix(Self.factsTogether).map { ($0.key, $0.value) }) }
    }
    // The end is near; a name that isn't kept is said again.
    let last = facts.sorted { Self.weight($0.key) < Self.weight($1.key) }.prefix(Self.factsTogether)
    if !last.isEmpty { keep(last.map { ($0.key, $0.value) }) }
    do { try log.close() } catch { lines.write(.error, "the log didn't close well", [("problem", "\(error)")]) }
  }

  /// Kept with one sync, which commits wait for.
  private static let factsTogether = 64

  private static func weight(_ key: String) -> Int { key.hasPrefix(DeviceNameFact.prefix) ? 1 : 0 }

  /// - Parameters:
  ///   - start: and what `end` gives, in monotonic nanoseconds.
  func append(
    _ commit: ServerCore.Commit, startedAt start: Int = monotonicNanoseconds(),
    endedAt end: () -> Int = monotonicNanoseconds
  ) -> DaemonHandler.Command {
    defer { isQuick = end() - start < 1_000_000 }
    do throws(LogError) {
      let offsets = try log.append(commit.parts.map(LogAppend.init))
      let writeAhead = (log as? SQLiteLog)?.writeAheadBytes
      return .appended(commit.number, firstOffsets: offsets, writeAheadBytes: writeAhead)
    } catch {
      // The log is opened again by the next call, and only then what is stored is what is on the disk: before the
      // stacks are read again.
      if error.code == .inputOutput { _ = try? log.fact("") }
      return .appendFailed(commit.number, ServerCore.StorageFailure("\(error)"))
    }
  }

  private func keep(_ some: [(key: String, value: [UInt8])]) {
    for (key, _) in some { facts[key] = nil }
    do {
      try log.setFacts(some)
    } catch {
      let keys = some.prefix(3).map(\.key).joined(separator: " ")
      lines.write(
        .warning, "facts could not be kept",
        [("facts", "\(some.count)"), ("among_them", keys), ("problem", "\(error)")])
    }
  }
}

func monotonicNanoseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
}

extension LogAppend {
  package init(_ part: ServerCore.CommitPart) {
    self.init(
      stack: part.stack, policy: part.policy, batch: part.batch,
      heads: part.heads.map { StoredHead(device: $0.device, sequence: $0.sequence, digest: $0.digest) },
      newestTime: part.newestTime)
  }
}
