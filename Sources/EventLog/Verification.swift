public import NavigationModel
import WireFormat

/// What walking a whole log found.
public struct Verification: Hashable, Sendable {
  /// Where a log is not as it was written.
  public struct Problem: Hashable, Sendable, CustomStringConvertible {
    /// Nil for what belongs to no stack.
    public var stack: StackName?
    /// The first bad place of the stack; what stands before it is whole. Nil if it isn't about a place.
    public var offset: Int?
    public var what: String

    public var description: String {
      let place = offset.map { " at offset \($0)" } ?? ""
      return (stack.map { "\($0)\(place): " } ?? "") + what
    }
  }

  public var stacks = 0
  public var events = 0
  /// Of the batches.
  public var bytes = 0
  /// The first of each stack, by stack, and what is wrong with the log as a whole.
  public var problems: [Problem] = []

  public var isWhole: Bool { problems.isEmpty }
}

/// Walks a log and computes all anew: the batches' checksums (as they are read), offsets and sequences without holes,
/// the index, the devices' digest chains and heads. Works beside a running writer: it checks what was stored when it
/// came to the stack.
///
/// - Parameters:
///   - log: the log, or a reader of it.
///   - only: one stack; all of them, the facts and the file itself if nil.
///   - progress: called after each page, with what was found so far.
/// - Throws: What isn't damage: that is among the problems.
public func verify(
  _ log: any EventLogReader, only: StackName? = nil, progress: (Verification) -> Void = { _ in }
) throws(LogError) -> Verification {
  var walk = VerifyingWalk(log: log, reader: log as? SQLiteReader ?? (log as? SQLiteLog)?.reader)
  if let only {
    try walk.stack(only, progress)
  } else {
    try walk.whole(progress)
  }
  return walk.found
}

private struct VerifyingWalk {
  let log: any EventLogReader
  /// Of a log that has a file and an index.
  let reader: SQLiteReader?
  var found = Verification()

  mutating func whole(_ progress: (Verification) -> Void) throws(LogError) {
    try noting(nil) { (walk) throws(LogError) in
      if let problem = try walk.reader?.fileProblem() { walk.note(nil, "SQLite says of its file: \(problem)") }
      _ = try walk.log.facts(prefixed: "")
    }
    var stacks: [StackInfo] = []
    try noting(nil) { (walk) throws(LogError) in stacks = try walk.log.stacks(in: nil) }
    for info in stacks { try stack(info.stack, progress) }
  }

  mutating func stack(_ stack: StackName, _ progress: (Verification) -> Void) throws(LogError) {
    var next = 1
    var chains: [DeviceID: ChainDigest] = [:]
    try noting(stack) { (walk) throws(LogError) in
      // Heads first: the events up to them are stored, whatever is appended meanwhile.
      let heads = try walk.log.heads(of: stack)
      guard let info = try walk.log.info(of: stack) else { return }
      walk.found.stacks += 1
      let stated = Dictionary(heads.map { ($0.device, $0) }) { first, _ in first }
      while next <= info.head {
        let page: [StoredBatch]
        do throws(LogError) {
          page = try walk.log.read(stack, after: next - 1, maximumBytes: 1 << 20)
        } catch {
          guard error.code == .damaged else { throw error }
          return walk.note(stack, at: next, error.detail)
        }
        for stored in page {
          guard stored.firstOffset == next else { return walk.note(stack, at: next, "events are lacking here") }
          if let problem = try walk.check(stored, stack, stated, &chains) { return walk.note(stack, at: next, problem) }
          next += stored.batch.count
          walk.found.events += stored.batch.count
          walk.found.bytes += stored.batch.bytes.count
        }
        progress(walk.found)
        if page.isEmpty { return walk.note(stack, at: next, "the events up to \(info.head) are not there") }
      }
      for head in heads where chains[head.device]?.sequence ?? 0 < head.sequence {
        return walk.note(
          stack,
          "device \(head.device) has events up to \(chains[head.device]?.sequence ?? 0), its head is \(head.sequence)")
      }
    }
  }

  /// Checks a batch against what came before it; returns what is wrong.
  private func check(
    _ stored: StoredBatch, _ stack: StackName, _ stated: [DeviceID: StoredHead], _ chains: inout [DeviceID: ChainDigest]
  ) throws(LogError) -> String? {
    for author in stored.batch.authors {
      let held = chains[author.device]?.sequence ?? 0
      guard author.firstSequence == held + 1 else {
        return "device \(author.device) goes on at \(author.firstSequence) after \(held)"
      }
      if let reader, let offset = try reader.indexedOffset(of: author.device, in: stack, at: author.firstSequence),
        offset != stored.firstOffset
      {
        return "the index of device \(author.device) says offset \(offset) for its event \(author.firstSequence)"
      }
    }
    var problem: String?
    let take = { (record: EventBatch.Record) in
      let device = record.dot.device
      chains[device, default: ChainDigest(stack: stack, device: device)].append(stored.batch.bytes, in: record.range)
      if let head = stated[device], head.sequence == record.dot.sequence, head.digest != chains[device]!.digest {
        problem = problem ?? "the digest of device \(device) at \(head.sequence) is not its head's"
      }
    }
    stored.batch.forEach(take)
    return problem
  }

  /// Runs a part; damage becomes a problem.
  private mutating func noting(
    _ stack: StackName?, _ body: (inout VerifyingWalk) throws(LogError) -> Void
  ) throws(LogError) {
    do throws(LogError) {
      try body(&self)
    } catch {
      guard error.code == .damaged else { throw error }
      note(stack, stack == nil ? error.description : error.detail)
    }
  }

  private mutating func note(_ stack: StackName?, at offset: Int? = nil, _ what: String) {
    found.problems.append(Verification.Problem(stack: stack, offset: offset, what: what))
  }
}
