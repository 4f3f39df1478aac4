import NavigationModel
import WireFormat

/// Into a daemon: runs are appended, many under way at once; what the daemon has already it accepts again.
final class DaemonTarget: ImportTarget {
  private let session: DaemonSession
  /// The entries of one chain that go into the next append.
  private var run: Append?
  private var runBytes = 0
  private var runDigest: () -> Digest = { .empty }
  /// Where each chain ends, as the daemon has it or was sent it.
  private var ends: [Chain: (sequence: Int, digest: Digest)] = [:]
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

  /// The offsets of the stacks' newest events before the import.
  private var before: [String: Int] = [:]
  private(set) var added: Int?

  init(_ session: DaemonSession) { self.session = session }

  var name: String { "the daemon at \(session.endpoint)" }

  func held(_ stack: ImportedStack) async throws -> [DeviceHead] {
    let following = try await session.follow(stack.stack)
    session.send(.unfollow(Unfollow(stack: stack.stack.description)))
    session.dropFollowed(stack.stack)
    if let policy = following.policy, policy != stack.policy {
      throw CommandError(
        .refused, "\(stack.stack) has the policy \(policy) at \(name), but \(stack.policy) in the import")
    }
    before[stack.stack.description] = following.head
    for head in following.heads {
      ends[Chain(stack: stack.stack.description, device: head.device)] = (head.sequence, head.digest)
    }
    return following.heads
  }

  func has(_ entry: ImportedEntry, of stack: ImportedStack) -> Bool? { nil }

  func take(_ entry: ImportedEntry, of stack: ImportedStack) async throws {
    let chain = Chain(stack: stack.stack.description, device: entry.dot.device)
    if let run, run.stack != chain.stack || run.device != chain.device { try await flush() }
    if run == nil {
      let before = ends[chain]
      let previous = before.flatMap { $0.sequence + 1 == entry.dot.sequence ? $0.digest : nil }
      run = Append(
        stack: chain.stack, policy: stack.policy, device: chain.device, firstSequence: entry.dot.sequence,
        previous: previous ?? .empty, events: [])
      runBytes = 0
    }
    run?.events.append(entry.bytes)
    runBytes += entry.bytes.count
    runDigest = { stack.digest(of: chain.device) }
    let limits = session.welcome.limits
    // One more event of the largest size would still find room.
    if runBytes >= limits.event / 2 || run?.events.count == limits.eventsAnAppend { try await flush() }
  }

  /// Sends the run. Nothing of its chain has come behind it, so the chain's digest is that at its end.
  private func flush() async throws {
    guard let append = run else { return }
    run = nil
    let chain = Chain(stack: append.stack, device: append.device)
    let through = append.firstSequence + append.events.count - 1
    ends[chain] = (through, runDigest())
    let size = runBytes + 64
    // A device's next run waits for nothing: the daemon takes a chain's runs in the order they come.
    open[chain] = (through, (open[chain]?.bytes ?? 0) + size)
    bytesOpen += size
    session.send(.append(append))
    while bytesOpen > Self.window.bytes || open.count >= Self.window.chains { try await takeAnswer() }
  }

  func finish() async throws {
    try await flush()
    while !open.isEmpty { try await takeAnswer() }
    // A daemon doesn't say how far it has chains that nothing is added to any more, so it is asked what came.
    let after = try await session.list().stacks
    added = after.reduce(0) { sum, stack in sum + (before[stack.stack].map { stack.head - $0 } ?? 0) }
  }

  private func takeAnswer() async throws {
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
