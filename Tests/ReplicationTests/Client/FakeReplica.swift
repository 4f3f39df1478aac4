import NavigationModel
import Replication
import WireFormat

/// A device's log without a disk or a codec: an event is its dot's text. It answers what a `ClientCore` asks.
struct FakeReplica {
  struct StackLog {
    var events: [(dot: Dot, bytes: [UInt8])] = []
    var vector = VersionVector()
    /// A device's digest after each of its events, as stands in for the real one.
    var digests: [DeviceID: [Digest]] = [:]

    mutating func add(_ dot: Dot, _ bytes: [UInt8]) {
      let chain = digests[dot.device] ?? []
      precondition(dot.sequence == chain.count + 1, "\(dot) doesn't continue its chain")
      digests[dot.device] = chain + [fakeDigest(after: chain.last ?? .empty, bytes)]
      vector[dot.device] = dot.sequence
      events.append((dot, bytes))
    }

    func digest(of device: DeviceID, at sequence: Int) -> Digest {
      sequence == 0 ? .empty : digests[device]?[sequence - 1] ?? .empty
    }

    var heads: [DeviceHead] {
      vector.elements.map {
        DeviceHead(device: $0.device, sequence: $0.sequence, digest: digest(of: $0.device, at: $0.sequence))
      }
    }
  }

  var device: DeviceID?
  var logs: [StackName: StackLog] = [:]
  var acknowledged: [StackName: Int] = [:]
  var maximumEvents = 512
  /// Makes events differ from those of another run with the same dots.
  var salt = 0

  /// Carries out what needs the log; the rest is left to the caller.
  mutating func answer(_ output: ClientOutput, of core: inout ClientCore, now: Int) {
    switch output {
    case .readHeads(let stack):
      let log = logs[stack] ?? StackLog()
      core.headsRead(stack, start: .vector(log.heads), localHead: log.events.count)
    case .checkHeads(let stack, let heads):
      let log = logs[stack] ?? StackLog()
      var has = VersionVector()
      var forked: [DeviceID] = []
      for head in heads {
        has[head.device] = head.sequence
        let ours = log.vector[head.device]
        if head.sequence <= ours ? log.digest(of: head.device, at: head.sequence) != head.digest : head.device == device
        {
          forked.append(head.device)
        }
      }
      core.headsChecked(stack, forked: forked, isBehind: !has.covers(log.vector), now: now)
    case .readEvents(let order):
      let log = logs[order.stack] ?? StackLog()
      var runs: [EventRun] = []
      var at = order.after ?? 0
      var count = 0
      while at < log.events.count, count < min(order.maximumEvents, maximumEvents) {
        let (dot, bytes) = log.events[at]
        at += 1
        if order.lackedBy.contains(dot) { continue }
        count += 1
        if let last = runs.last, last.device == dot.device {
          runs[runs.count - 1].events.append(bytes)
        } else {
          runs.append(
            EventRun(
              device: dot.device, firstSequence: dot.sequence,
              previous: log.digest(of: dot.device, at: dot.sequence - 1), events: [bytes]))
        }
      }
      core.eventsRead(order.stack, runs: runs, through: at)
    case .deliver(let stack, let batch, _, let bytes):
      var log = logs[stack] ?? StackLog()
      for record in batch.records where !log.vector.contains(record.dot) {
        log.add(record.dot, Array(batch.bytes[record.range]))
      }
      logs[stack] = log
      core.persisted(stack, localHead: log.events.count, own: false, policy: .merge)
      core.consumed(bytes)
    case .acknowledged(let stack, let device, let through):
      if device == self.device { acknowledged[stack] = through }
    case .connect, .disconnect, .send, .policy, .rejected, .refused, .forked, .live, .presence, .answer, .state,
      .opened, .time:
      break
    }
  }

  /// What the author of an event held, from the event's text.
  static func context(in bytes: [UInt8]) -> VersionVector {
    var result = VersionVector()
    let parts = String(decoding: bytes, as: UTF8.self).split(separator: "|", omittingEmptySubsequences: false)
    guard parts.count > 1 else { return result }
    for part in parts[1].split(separator: ",") {
      let halves = part.split(separator: ":")
      result[ReplicationTests.device(halves[0])] = Int(halves[1]) ?? 0
    }
    return result
  }

  /// The device acts so many times.
  mutating func act(_ count: Int, on stack: StackName, of core: inout ClientCore) {
    guard let device else { return }
    for _ in 0..<count {
      let log = logs[stack] ?? StackLog()
      let dot = Dot(device, log.vector[device] + 1)
      let context = log.vector.elements.map { "\(letter($0.device)):\($0.sequence)" }.joined(separator: ",")
      logs[stack, default: StackLog()].add(dot, Array("\(letter(device))\(dot.sequence)|\(context)|\(salt)".utf8))
    }
    core.persisted(stack, localHead: logs[stack]?.events.count ?? 0, own: true, policy: .merge)
  }
}

/// Depends on all that came before, as the real one does (FNV-1a).
func fakeDigest(after previous: Digest, _ bytes: [UInt8]) -> Digest {
  var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ previous.low
  for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
  return Digest(high: 1, low: hash)
}

/// Devices are letters in these tests.
func device(_ letter: some StringProtocol) -> DeviceID {
  DeviceID(high: 0, low: UInt64(letter.utf8.first ?? 0))
}

func letter(_ device: DeviceID) -> String {
  device.low < 128 ? String(UnicodeScalar(UInt8(device.low))) : device.description
}
