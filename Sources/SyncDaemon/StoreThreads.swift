import EventLog
import NavigationModel
import Replication
import WireFormat
import ZeroMQ

/// The log's two threads: one that commits, and one that reads, so that a long replay never delays a commit.
///
/// What they find goes to the loop as ``DaemonHandler/Command``s.
final class StoreThreads: Sendable {
  typealias Failure = ServerCore.StorageFailure
  typealias Mailbox = ZeroMQ.Mailbox<DaemonHandler.Command>

  enum WriteJob: Sendable {
    case attach(Mailbox)
    case commit(ServerCore.Commit)
    case keep(key: String, value: [UInt8])
  }

  enum ReadJob: Sendable {
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

  /// Opens the log on the thread that will write it. Blocks until it is open.
  init(_ store: SyncDaemonOptions.Store, log: DaemonLog) throws {
    let answer = JobQueue<Result<(Opened, ReaderInTransit), LogError>>()
    let writes = writes
    let writer = try JoinedThread(name: "log-writer") {
      do throws(LogError) {
        let store = try openLog(store)
        answer.post(.success((try Self.look(at: store), ReaderInTransit(try store.log.makeReader()))))
        StoreWriter(store.log, log).run(writes)
      } catch {
        answer.post(.failure(error))
      }
    }
    let reads = reads
    do {
      let (opened, transit) = try answer.answer().get()
      self.opened = opened
      threads = [writer, try JoinedThread(name: "log-reader") { StoreReader(transit.take(), log).run(reads) }]
    } catch {
      writes.close()
      writer.join()
      throw error
    }
  }

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

/// Carries a reader from the thread that made it to the one that uses it. Unchecked: it is put in before it is posted
/// through a lock, and taken out once, and then nobody else has it.
private final class ReaderInTransit: @unchecked Sendable {
  private var reader: (any EventLogReader)?

  init(_ reader: sending any EventLogReader) { self.reader = reader }

  func take() -> any EventLogReader {
    guard let reader else { preconditionFailure("the reader was taken") }
    self.reader = nil
    return reader
  }
}

/// The thread that commits. Facts come after commits, one at a time: each takes a sync of its own, and when a whole fleet
/// says its names at once nobody's events wait for that.
final class StoreWriter {
  private let log: any EventLog
  private let lines: DaemonLog
  private var outbox = Outbox()
  /// To be kept, the newest of each.
  private var facts: [String: [UInt8]] = [:]

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
      if let (key, value) = facts.popFirst() { keep(key, value) }
    }
    // The end is near; a name that isn't kept is said again.
    for (key, value) in facts.sorted(by: { Self.weight($0.key) < Self.weight($1.key) }).prefix(Self.factsAtTheEnd) {
      keep(key, value)
    }
    do { try log.close() } catch { lines.write(.error, "the log didn't close well", [("problem", "\(error)")]) }
  }

  private static let factsAtTheEnd = 64

  private static func weight(_ key: String) -> Int { key.hasPrefix(DeviceNameFact.prefix) ? 1 : 0 }

  private func append(_ commit: ServerCore.Commit) -> DaemonHandler.Command {
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

  private func keep(_ key: String, _ value: [UInt8]) {
    do {
      try log.setFact(key, value)
    } catch {
      lines.write(.warning, "a fact could not be kept", [("key", key), ("problem", "\(error)")])
    }
  }
}

extension LogAppend {
  init(_ part: ServerCore.CommitPart) {
    self.init(
      stack: part.stack, policy: part.policy, batch: part.batch,
      heads: part.heads.map { StoredHead(device: $0.device, sequence: $0.sequence, digest: $0.digest) },
      newestTime: part.newestTime)
  }
}
