import NavigationModel
import Replication
import WireFormat

/// A daemon without a disk or sockets: a ``ServerCore``, a log that is an array, and devices that author real events.
/// What the core wants from the log waits until the test lets it happen.
struct ServerWorld {
  typealias Peer = ServerCore.Peer

  struct Stored {
    var policy = Policy.merge
    var batches: [(firstOffset: Int, batch: EventBatch)] = []
    var head: Int { batches.last.map { $0.firstOffset + $0.batch.count - 1 } ?? 0 }
  }

  /// A frame that reached a peer.
  struct Frame {
    var peer: Peer
    var message: Message
    var bytes: Int
  }

  var core: ServerCore
  var log: [StackName: Stored] = [:]
  var now = 0
  var wall = 1_000_000
  var pending: [ServerCore.Action] = []
  /// Peers whose socket has no room, and that are gone.
  var full: Set<Peer> = []
  /// How many frames a peer's socket takes before it is full; without one it never is by itself.
  var room: [Peer: Int] = [:]
  var gone: Set<Peer> = []
  var frames: [Frame] = []
  /// The offsets of commits that the core wasn't told of, by their numbers.
  private(set) var storedUntold: [Int: [Int]] = [:]
  var devices: [DeviceID: [StackName: StackChains]] = [:]
  /// The canonical events of each device.
  var events: [DeviceID: [StackName: [[UInt8]]]] = [:]

  static let epoch: UInt64 = 7

  init(configure: (inout ServerCore.Configuration) -> Void = { _ in }) {
    var configuration = ServerCore.Configuration(daemon: DeviceID(high: 0, low: 99), epoch: Self.epoch)
    configuration.software = "navsyncd 1"
    configure(&configuration)
    core = ServerCore(configuration)
  }

  var moment: ServerCore.Moment { ServerCore.Moment(milliseconds: now, wall: wall) }

  // MARK: What happens

  mutating func receive(_ message: Message, from peer: Peer) {
    core.received(message.encoded(), from: peer, at: moment)
  }

  /// Carries out what the core wants: sends at once, the log's work later.
  ///
  /// - Returns: what it wanted, in order, `full` and `gone` being told to the core.
  @discardableResult
  mutating func drain() -> [ServerCore.Action] {
    var all: [ServerCore.Action] = []
    while true {
      let actions = core.drain()
      guard !actions.isEmpty else { return all }
      all += actions
      for action in actions {
        switch action {
        case .send(let peers, let bytes, let kind): for peer in peers { send(bytes, kind, to: peer) }
        case .load, .commit, .read, .recall, .list: pending.append(action)
        case .keepName, .publish, .forget, .log: break
        }
      }
    }
  }

  private mutating func send(_ bytes: [UInt8], _ kind: ServerCore.SendKind, to peer: Peer) {
    if gone.contains(peer) {
      core.peerGone(peer, at: moment)
    } else if full.contains(peer) || room[peer] == 0 {
      core.socketFull(peer, for: bytes, kind, at: moment)
    } else {
      room[peer]? -= 1
      guard let message = try? Message(decoding: bytes) else { preconditionFailure("the core sends whole messages") }
      frames.append(Frame(peer: peer, message: message, bytes: bytes.count))
    }
  }

  /// The log does what was asked for at that place of `pending`.
  mutating func complete(_ place: Int) {
    switch pending.remove(at: place) {
    case .load(let stack): core.stackLoaded(load(stack), at: moment)
    case .commit(let commit):
      let offsets = storedUntold.removeValue(forKey: commit.number) ?? commit.parts.map { append($0) }
      core.appendsDurable(commit.number, firstOffsets: offsets, at: moment)
    case .read(let read): complete(read)
    case .recall(let recall): complete(recall)
    case .list(let space, let peer):
      let stacks = log.filter { space == nil || $0.key.space == space }.sorted { $0.key < $1.key }
      core.listed(
        stacks.map {
          Listing.Stack(
            stack: $0.key.description, policy: $0.value.policy, head: $0.value.head,
            devices: Set($0.value.batches.flatMap { $0.batch.authors.map(\.device) }).count, lastStored: wall)
        }, for: peer, at: moment)
    case .send, .keepName, .publish, .forget, .log: preconditionFailure("nothing that waits")
    }
  }

  /// The commit that waits is on the disk, where readers see it; the core hears of it later.
  mutating func storeUntold() {
    for case .commit(let commit) in pending where storedUntold[commit.number] == nil {
      storedUntold[commit.number] = commit.parts.map { append($0) }
    }
  }

  mutating func fail(_ place: Int, _ detail: String) {
    let failure = ServerCore.StorageFailure(detail)
    switch pending.remove(at: place) {
    case .load(let stack): core.stackNotLoaded(stack, failure, at: moment)
    case .commit(let commit): core.appendsFailed(commit.number, failure, at: moment)
    case .read(let read): core.readFailed(read, failure, at: moment)
    case .recall(let recall): core.recallFailed(recall, failure, at: moment)
    case .list(_, let peer): core.listFailed(for: peer, failure, at: moment)
    case .send, .keepName, .publish, .forget, .log: preconditionFailure("nothing that waits")
    }
  }

  /// Everything that waits, until nothing does.
  mutating func settle() {
    drain()
    while !pending.isEmpty {
      complete(0)
      drain()
    }
  }

  // MARK: The log

  private func load(_ stack: StackName) -> StackLoader {
    var loader = StackLoader(stack, policy: log[stack]?.policy)
    for stored in log[stack]?.batches ?? [] {
      do { try loader.add(stored.batch) } catch { preconditionFailure("the log has what was admitted: \(error)") }
    }
    return loader
  }

  private mutating func append(_ part: ServerCore.CommitPart) -> Int {
    let first = (log[part.stack]?.head ?? 0) + 1
    if log[part.stack] == nil { log[part.stack] = Stored(policy: part.policy) }
    log[part.stack]!.batches.append((first, part.batch))
    return first
  }

  private mutating func complete(_ read: ServerCore.Read) {
    let batches = log[read.stack]?.batches ?? []
    let start =
      switch read.start {
      case .offset(let offset): offset
      case .vector(let vector):
        batches.first { $0.batch.authors.contains { vector[$0.device] < $0.lastSequence } }.map { $0.firstOffset - 1 }
          ?? log[read.stack]?.head ?? 0
      }
    var bytes = 0
    var result: [ServerCore.ReadBatch] = []
    for stored in batches where stored.firstOffset + stored.batch.count - 1 > start {
      bytes += stored.batch.bytes.count
      if !result.isEmpty, bytes > read.maximumBytes { break }
      result.append(ServerCore.ReadBatch(firstOffset: stored.firstOffset, batch: stored.batch))
    }
    core.batchesRead(read, after: start, result, at: moment)
  }

  private mutating func complete(_ recall: ServerCore.Recall) {
    var found: [[UInt8]] = []
    var offset = 0
    for stored in log[recall.stack]?.batches ?? [] {
      var place = stored.firstOffset
      stored.batch.forEach { record in
        if record.dot.device == recall.device, recall.sequences.contains(record.dot.sequence) {
          found.append(Array(stored.batch.bytes[record.range]))
          offset = place
        }
        place += 1
      }
    }
    core.recalled(recall, ServerCore.Recalled(events: found, offset: offset), at: moment)
  }

  // MARK: Devices

  func chains(of device: DeviceID, on stack: StackName) -> StackChains {
    devices[device]?[stack] ?? StackChains(stack: stack)
  }

  /// A device pushes values, knowing all that it holds.
  mutating func act(_ device: DeviceID, on stack: StackName, values: [String], milliseconds: Int? = nil) {
    var chains = chains(of: device, on: stack)
    for value in values {
      let before = chains.authorState(of: device)
      let event = Event(
        dot: Dot(device, before.sequence + 1), context: chains.context(for: device),
        timestamp: Timestamp(
          milliseconds: max(milliseconds ?? wall, before.timestamp.milliseconds),
          counter: before.timestamp.counter + 1),
        action: .push(on: nil, values: [Value(type: "String", payload: Array("\"\(value)\"".utf8))]))
      do {
        events[device, default: [:]][stack, default: []].append(try chains.append(event))
      } catch { preconditionFailure("a device's own event is admissible: \(error)") }
    }
    devices[device, default: [:]][stack] = chains
  }

  /// A device takes in all events of another.
  mutating func learn(_ device: DeviceID, from other: DeviceID, on stack: StackName) {
    var chains = chains(of: device, on: stack)
    for (place, bytes) in (events[other]?[stack] ?? []).enumerated() where place >= chains.vector[other] {
      do { try chains.receive(Dot(other, place + 1), bytes) } catch { preconditionFailure("\(error)") }
    }
    devices[device, default: [:]][stack] = chains
  }

  /// A device takes in all that another holds.
  mutating func learnAll(_ device: DeviceID, on stack: StackName, from other: DeviceID) {
    let limit = chains(of: other, on: stack).vector
    var chains = chains(of: device, on: stack)
    var isNew = true
    while isNew {
      isNew = false
      for element in limit.elements where element.device != device {
        let next = chains.vector[element.device] + 1
        guard next <= element.sequence else { continue }
        let bytes = events[element.device]![stack]![next - 1]
        if (try? chains.receive(Dot(element.device, next), bytes)) != nil { isNew = true }
      }
    }
    devices[device, default: [:]][stack] = chains
  }

  /// The append of a device's events of these sequences.
  func append(
    _ device: DeviceID, on stack: StackName, _ sequences: ClosedRange<Int>, policy: Policy? = nil
  ) -> Append {
    let all = events[device]?[stack] ?? []
    var digest = ChainDigest(stack: stack, device: device)
    for bytes in all.prefix(sequences.lowerBound - 1) { digest.append(bytes) }
    return Append(
      stack: stack.description, policy: policy, device: device, firstSequence: sequences.lowerBound,
      previous: sequences.lowerBound == 1 ? .empty : digest.digest,
      events: Array(all[(sequences.lowerBound - 1)..<min(sequences.upperBound, all.count)]))
  }
}
