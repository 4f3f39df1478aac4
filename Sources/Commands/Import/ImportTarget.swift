import EventLog
import NavigationModel
import WireFormat

/// One stack's events on their way into a store, in an order that causality allows.
struct ImportedStack {
  var stack: StackName
  var policy: Policy
  var events: [Event]
  /// What devices are called, if the source says.
  var names: [DeviceID: String] = [:]
}

/// Where imported events go. Importing what is there already changes nothing.
protocol ImportTarget {
  /// Takes a stack's events. They are safe when ``finish()`` has returned.
  mutating func take(_ stack: ImportedStack) async throws
  /// Waits until everything is on stable storage, and says how many events were new.
  mutating func finish() async throws -> Int
}

/// The events as runs of one device, with their canonical bytes.
///
/// - Throws: a ``CommandError`` with ``ExitCode/damage`` for an event that doesn't continue its device's chain.
private func forEachRun(
  _ imported: ImportedStack, atMost limits: Limits, _ body: (StackName, [Event], [[UInt8]], Digest) throws -> Void
) throws {
  var chains = StackChains(stack: imported.stack)
  var run: [Event] = []
  var bytes: [[UInt8]] = []
  var size = 0
  var previous = Digest.empty
  func flush() throws {
    if !run.isEmpty { try body(imported.stack, run, bytes, previous) }
    run = []
    bytes = []
    size = 0
  }
  for event in imported.events {
    if run.last.map({ $0.dot.device != event.dot.device }) ?? false || run.count >= limits.eventsAnAppend
      || size >= limits.event
    {
      try flush()
    }
    if run.isEmpty { previous = chains.digest(of: event.dot.device) }
    do { bytes.append(try chains.append(event)) } catch {
      throw CommandError(.damage, "\(imported.stack), event \(event.dot): \(error)")
    }
    size += bytes[bytes.count - 1].count
    run.append(event)
  }
  try flush()
}

/// Into a daemon: runs are appended, many under way at once; what the daemon has already it accepts again.
struct DaemonTarget: ImportTarget {
  private let session: DaemonSession
  private var before: [String: Int] = [:]
  private var touched: Set<String> = []
  /// The last sequence that was sent of each chain and not accepted yet, and how many bytes are under way.
  private var open: [Chain: (through: Int, bytes: Int)] = [:]
  private var bytesOpen = 0

  private struct Chain: Hashable {
    var stack: String
    var device: DeviceID
  }

  /// What may be under way. Half of what a daemon takes into one commit keeps it busy; a daemon queues 64 answers for a
  /// peer and cuts it off beyond them, so fewer chains than that wait for one.
  private static let window = (bytes: 128 << 10, chains: 48)

  init(_ session: DaemonSession) async throws {
    self.session = session
    before = try await heads()
  }

  private func heads() async throws -> [String: Int] {
    Dictionary(try await session.list().stacks.map { ($0.stack, $0.head) }) { $1 }
  }

  mutating func take(_ stack: ImportedStack) async throws {
    touched.insert(stack.stack.description)
    var appends: [Append] = []
    try forEachRun(stack, atMost: session.welcome.limits) { name, run, bytes, previous in
      appends.append(
        Append(
          stack: name.description, policy: stack.policy, device: run[0].dot.device,
          firstSequence: run[0].dot.sequence, previous: previous, events: bytes))
    }
    for append in appends {
      let chain = Chain(stack: append.stack, device: append.device)
      let size = append.events.reduce(0) { $0 + $1.count } + 64
      // A device's next run waits for nothing: the daemon takes a chain's runs in the order they come.
      let through = append.firstSequence + append.events.count - 1
      open[chain] = (through, (open[chain]?.bytes ?? 0) + size)
      bytesOpen += size
      session.send(.append(append))
      while bytesOpen > Self.window.bytes || open.count >= Self.window.chains { try await takeAnswer() }
    }
  }

  /// Waits until the daemon has answered for everything that was sent.
  mutating func settle() async throws {
    while !open.isEmpty { try await takeAnswer() }
  }

  mutating func finish() async throws -> Int {
    try await settle()
    let after = try await heads()
    return touched.reduce(0) { $0 + (after[$1] ?? 0) - (before[$1] ?? 0) }
  }

  private mutating func takeAnswer() async throws {
    switch try await session.next() {
    case .accepted(let accepted):
      let chain = Chain(stack: accepted.stack, device: accepted.device)
      guard let sent = open[chain], accepted.throughSequence >= sent.through else { return }
      open[chain] = nil
      bytesOpen -= sent.bytes
    case .rejected(let rejected):
      let code: ExitCode = rejected.code == .malformed ? .damage : .refused
      throw CommandError(code, "\(rejected.stack), event \(rejected.dot): \(rejected.detail)")
    case .refused(let refused): throw session.error(refused)
    case _: return
    }
  }
}

/// Into a store on the disk that no daemon runs on.
struct StoreTarget: ImportTarget {
  private let log: SQLiteLog
  private var waiting: [LogAppend] = []
  private var size = 0
  private var added = 0

  private static let commitBytes = 256 << 10

  init(path: String) throws {
    do { log = try SQLiteLog.open(at: path, program: "navsync") } catch { throw commandError(error) }
  }

  mutating func take(_ stack: ImportedStack) async throws {
    do {
      let held = VersionVector(try log.heads(of: stack.stack))
      if let info = try log.info(of: stack.stack), info.policy != stack.policy {
        throw CommandError(
          .refused, "\(stack.stack) has the policy \(info.policy) in the store, but \(stack.policy) in the import")
      }
      for (device, name) in stack.names.sorted(by: { $0.key < $1.key }) where !name.isEmpty {
        try log.setFact(DeviceNameFact.key(of: device), Array(name.utf8))
      }
      var fresh: [(dot: Dot, bytes: [UInt8])] = []
      var chains = StackChains(stack: stack.stack)
      for event in stack.events {
        let bytes: [UInt8]
        do { bytes = try chains.append(event) } catch {
          throw CommandError(.damage, "\(stack.stack), event \(event.dot): \(error)")
        }
        if held.contains(event.dot) {
          let sequence = event.dot.sequence
          let stored = try log.events(of: event.dot.device, in: stack.stack, sequences: sequence...sequence)
          guard stored == [bytes] else {
            throw CommandError(
              .refused,
              "\(stack.stack): the store has another event called \(event.dot); nothing of this stack was taken")
          }
        } else {
          fresh.append((event.dot, bytes))
        }
      }
      try keep(fresh, of: stack, chains)
    } catch let error as LogError { throw commandError(error) }
  }

  private mutating func keep(
    _ fresh: [(dot: Dot, bytes: [UInt8])], of stack: ImportedStack, _ chains: StackChains
  ) throws {
    guard !fresh.isEmpty else { return }
    let authors = Set(fresh.map(\.dot.device)).sorted()
    waiting.append(
      LogAppend(
        stack: stack.stack, policy: stack.policy, batch: EventBatch(fresh),
        heads: authors.map {
          StoredHead(device: $0, sequence: chains.vector[$0], digest: chains.digest(of: $0))
        },
        newestTime: stack.events.map(\.timestamp.milliseconds).max() ?? 0))
    size += waiting[waiting.count - 1].batch.bytes.count
    added += fresh.count
    if size >= Self.commitBytes { try commit() }
  }

  private mutating func commit() throws {
    do { _ = try log.append(waiting) } catch { throw commandError(error) }
    waiting = []
    size = 0
  }

  mutating func finish() async throws -> Int {
    try commit()
    do { try log.close() } catch { throw commandError(error) }
    return added
  }
}

extension VersionVector {
  fileprivate init(_ heads: [StoredHead]) {
    self.init()
    for head in heads { self[head.device] = head.sequence }
  }
}

/// Nowhere: only reads, for `--dry-run`.
struct DryRun: ImportTarget {
  mutating func take(_ stack: ImportedStack) async throws {
    try forEachRun(stack, atMost: Limits()) { _, _, _, _ in }
  }

  mutating func finish() async throws -> Int { 0 }
}
