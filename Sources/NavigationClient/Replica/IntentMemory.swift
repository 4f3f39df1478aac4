import EventLog
import NavigationModel
import WireFormat

/// The intent ids that were last used on a stack, and what they came to: so that the same action delivered twice, by a
/// retry or a double tap, is done once. It never leaves the device.
///
/// Kept in the log's facts. A fact is written before the event that it is about, so one whose event never came to be
/// may be there: its digest tells.
struct IntentMemory {
  static let limit = 1024

  private let stack: StackReplica
  private let device: DeviceID
  private var known: [String: StackReplica.Acted] = [:]
  /// The oldest first; those of ids that changed something.
  private var order: [String] = []

  init(_ stack: StackReplica, device: DeviceID, log: (any EventLog)?) throws(ClientError) {
    self.stack = stack
    self.device = device
    guard let log else { return }
    do throws(LogError) {
      var found: [(id: String, sequence: Int)] = []
      for (key, value) in try log.facts(prefixed: prefix) {
        guard let (sequence, digest) = Self.read(value), sequence <= stack.chains.vector[device],
          try stack.digest(of: device, at: sequence, log: log) == digest
        else {
          try log.setFact(key, nil)
          continue
        }
        found.append((String(key.dropFirst(prefix.count)), sequence))
      }
      for entry in found.sorted(by: { $0.sequence < $1.sequence }) {
        known[entry.id] = StackReplica.Acted(dot: Dot(device, entry.sequence), action: nil, reason: nil)
        order.append(entry.id)
      }
    } catch { throw ClientError(error) }
  }

  private var prefix: String { "intent/\(stack.name)/" }

  subscript(id: String) -> StackReplica.Acted? { known[id] }

  mutating func remember(
    _ id: String, _ acted: StackReplica.Acted, digest: Digest, log: (any EventLog)?
  ) throws(LogError) {
    guard let dot = acted.dot else {
      // Nothing changed, so nothing happens if it is done again.
      return
    }
    try log?.setFact(prefix + id, Self.written(dot.sequence, digest))
    known[id] = acted
    order.append(id)
    if order.count > Self.limit {
      let oldest = order.removeFirst()
      known[oldest] = nil
      try log?.setFact(prefix + oldest, nil)
    }
  }

  /// Three big-endian words: the sequence, the digest after the event.
  private static func written(_ sequence: Int, _ digest: Digest) -> [UInt8] {
    [UInt64(sequence), digest.high, digest.low].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
    }
  }

  private static func read(_ bytes: [UInt8]) -> (Int, Digest)? {
    guard bytes.count == 24 else { return nil }
    let words = (0..<3).map { place in bytes[place * 8..<place * 8 + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
    guard words[0] >= 1, words[0] <= UInt64(Dot.maximumSequence) else { return nil }
    return (Int(words[0]), Digest(high: words[1], low: words[2]))
  }
}
