import EventLog
import NavigationModel
import TestSupport
import WireFormat

/// Makes appends from a seed, and remembers what a log that stored them must give.
struct LogFixture {
  struct Stored {
    var policy: Policy
    var events: [(dot: Dot, bytes: [UInt8])] = []
    /// Of each batch its first offset, its end and the time it was stored.
    var batches: [(first: Int, count: Int, time: Int)] = []
    var heads: [DeviceID: StoredHead] = [:]
    var chains: [DeviceID: ChainDigest] = [:]

    var head: Int { events.count }
  }

  var random: SeededGenerator
  var stored: [StackName: Stored] = [:]
  var now = 1_700_000_000_000
  let devices: [DeviceID]

  init(seed: UInt64, devices count: Int = 4) {
    var random = SeededGenerator(seed: seed)
    devices = (0..<count).map { _ in DeviceID(high: random.next(), low: random.next()) }
    self.random = random
  }

  /// A batch that follows what is stored; it becomes part of that.
  mutating func append(to stack: StackName, events count: Int, by authors: [DeviceID]? = nil, size: Int = 40)
    -> LogAppend
  {
    var known = stored[stack] ?? Stored(policy: .latest)
    var events: [(dot: Dot, bytes: [UInt8])] = []
    for _ in 0..<count {
      let device = (authors ?? devices).randomElement(using: &random)!
      let sequence = (known.heads[device]?.sequence ?? 0) + 1
      let bytes = (0..<Int.random(in: 1...size, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      known.chains[device, default: ChainDigest(stack: stack, device: device)].append(bytes)
      known.heads[device] = StoredHead(device: device, sequence: sequence, digest: known.chains[device]!.digest)
      events.append((Dot(device, sequence), bytes))
    }
    let batch = EventBatch(events)
    if count > 0 {
      known.batches.append((known.head + 1, count, now))
      known.events += events
      stored[stack] = known
    }
    return LogAppend(
      stack: stack, policy: .latest, batch: batch, heads: batch.authors.map { known.heads[$0.device]! },
      newestTime: now)
  }

  /// One large event.
  mutating func filled(_ size: Int) -> LogAppend {
    var append = append(to: .main, events: 1, by: [devices[0]])
    append.batch = EventBatch([(append.heads[0].dot, [UInt8](repeating: 7, count: size))])
    return append
  }
}

extension StoredHead {
  fileprivate var dot: Dot { Dot(device, sequence) }
}

extension StackName {
  static let main = try! StackName("alice/main")
}

/// All events of a stack that a reader gives, page by page.
func allEvents(
  _ reader: any EventLogReader, _ stack: StackName, after: Int = 0, page: Int = 1 << 16
) throws -> [(dot: Dot, bytes: [UInt8])] {
  var result: [(dot: Dot, bytes: [UInt8])] = []
  var offset = after
  while true {
    let batches = try reader.read(stack, after: offset, maximumBytes: page)
    guard let last = batches.last else { return result }
    for stored in batches {
      var at = stored.firstOffset
      let take = { (record: EventBatch.Record) in
        if at > offset { result.append((record.dot, Array(stored.batch.bytes[record.range]))) }
        at += 1
      }
      stored.batch.forEach(take)
    }
    offset = last.firstOffset + last.batch.count - 1
  }
}

func equal(_ left: [(dot: Dot, bytes: [UInt8])], _ right: some Sequence<(dot: Dot, bytes: [UInt8])>) -> Bool {
  left.elementsEqual(right) { $0.dot == $1.dot && $0.bytes == $1.bytes }
}
