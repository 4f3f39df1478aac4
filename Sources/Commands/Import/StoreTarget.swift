import EventLog
import NavigationModel
import WireFormat

/// Into a store on the disk that no daemon runs on. One that isn't there is made when the first entry is taken.
final class StoreTarget: ImportTarget {
  private let path: String
  /// Of what is there before; nil if there is no store.
  private var reader: (any EventLogReader)?
  private var log: SQLiteLog?
  /// What goes into the next commit.
  private var batches: [LogAppend] = []
  private var size = 0
  /// The entries of one stack that go into the next batch.
  private var part: Part?
  private var named: Set<DeviceID> = []

  private struct Part {
    let stack: ImportedStack
    var entries: [(dot: Dot, bytes: [UInt8])] = []
    /// The last sequence of each chain.
    var heads: [DeviceID: Int] = [:]
    var newestTime = 0
  }

  /// What a commit holds, about: an import that is interrupted has lost no more than that. With the largest event behind
  /// it, a batch still fits into a daemon's message.
  private static let commitBytes = 120 << 10

  /// - Parameter writes: whether it is kept from others at once, if it is there.
  init(path: String, writes: Bool) throws {
    self.path = path
    do {
      let reader = try SQLiteLog.openReader(at: path)
      self.reader = reader
      if writes { log = try SQLiteLog.open(at: path, program: "navsync") }
    } catch {
      guard error.code == .notFound else { throw commandError(error) }
    }
  }

  var name: String { "the store \(path)" }

  var added: Int? { nil }

  func held(_ stack: ImportedStack) throws -> [DeviceHead] {
    do {
      guard let reader, let info = try reader.info(of: stack.stack) else { return [] }
      guard info.policy == stack.policy else {
        throw CommandError(
          .refused, "\(stack.stack) has the policy \(info.policy) in \(name), but \(stack.policy) in the import")
      }
      return try reader.heads(of: stack.stack).map {
        DeviceHead(device: $0.device, sequence: $0.sequence, digest: $0.digest)
      }
    } catch let error as LogError { throw commandError(error) }
  }

  func has(_ entry: ImportedEntry, of stack: ImportedStack) throws -> Bool? {
    let sequence = entry.dot.sequence
    do {
      return try reader?.events(of: entry.dot.device, in: stack.stack, sequences: sequence...sequence) == [entry.bytes]
    } catch { throw commandError(error) }
  }

  func take(_ entry: ImportedEntry, of stack: ImportedStack) throws {
    if log == nil {
      do { log = try SQLiteLog.open(at: path, program: "navsync") } catch { throw commandError(error) }
    }
    if let part, part.stack !== stack { try close(part) }
    if part?.stack !== stack { part = Part(stack: stack) }
    part?.entries.append((entry.dot, entry.bytes))
    part?.heads[entry.dot.device] = entry.dot.sequence
    if let time = entry.time, time > part?.newestTime ?? 0 { part?.newestTime = time }
    // With what stands around an event in a batch, at most.
    size += 32 + entry.bytes.count
    guard size >= Self.commitBytes, let part else { return }
    try close(part)
    try commit()
  }

  /// Nothing more goes into the part. The stack's chains are as they were at its last entry.
  private func close(_ part: Part) throws {
    self.part = nil
    for device in part.heads.keys.sorted() where named.insert(device).inserted {
      guard let name = part.stack.names[device], !name.isEmpty else { continue }
      let key = DeviceNameFact.key(of: device)
      do {
        if try log?.fact(key) != Array(name.utf8) { try log?.setFact(key, Array(name.utf8)) }
      } catch { throw commandError(error) }
    }
    batches.append(
      LogAppend(
        stack: part.stack.stack, policy: part.stack.policy, batch: EventBatch(part.entries),
        heads: part.heads.sorted { $0.key < $1.key }.map {
          StoredHead(device: $0, sequence: $1, digest: part.stack.digest(of: $0))
        },
        newestTime: part.newestTime))
  }

  private func commit() throws {
    do { _ = try log?.append(batches) } catch { throw commandError(error) }
    batches = []
    size = 0
  }

  func finish() throws {
    if let part { try close(part) }
    try commit()
    do { try log?.close() } catch { throw commandError(error) }
  }
}
