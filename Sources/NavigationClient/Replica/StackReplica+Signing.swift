import EventLog
public import NavigationModel
import Replication
import WireFormat

/// What of a stack nobody vouches for, where the space wants everything signed.
public struct WithheldEvents: Hashable, Sendable {
  /// Whose they are.
  public var device: DeviceID
  /// How many are held back until somebody vouches for them. They are neither stored nor shown.
  public var held: Int
  /// Why, for a person; empty if none are.
  public var reason: String
  /// How many were dropped since the stack was opened, because they are not what their device signed.
  public var refused: Int
}

// MARK: Signing

extension StackReplica {
  /// The newest own event, as long as it isn't stored.
  struct Unsealed {
    var event: Event
    var before: StackChains.ChainState
  }

  /// Signs the newest own event that isn't stored, and with it all before it.
  func seal() {
    guard let unsealed, let signing, unsealed.event.dot.device == signing.key.verifyingKey.device
    else { return }
    self.unsealed = nil
    let dot = unsealed.event.dot
    let seal = signing.seal == carried ? EventSeal() : signing.seal
    guard let place = pending.lastIndex(where: { $0.dot == dot }),
      let event = try? seal.seal(
        unsealed.event, of: name, after: unsealed.before.author, previous: unsealed.before.digest, by: signing.key)
    else { return }
    let bytes: [UInt8]
    do { bytes = try replaceLast(event, after: unsealed.before) } catch {
      preconditionFailure("\(dot) was taken once and isn't with its signature: \(error)")
    }
    pendingBytes += bytes.count - pending[place].bytes.count
    pending[place].bytes = bytes
    carried = signing.seal
  }

  private func replaceLast(_ event: Event, after state: StackChains.ChainState) throws(ChainFault) -> [UInt8] {
    guard claims != nil else { return try chains.replaceLast(event, after: state) }
    chains = StackChains(stack: name)
    defer { chains = claims!.chains }
    return try claims!.replaceLast(event, after: state)
  }

  /// An own event of the log says which key and grant its readers have.
  func noteCarried(_ event: Event) {
    guard !event.unknownFields.isEmpty, event.dot.device == rules.signer?.verifyingKey.device else { return }
    let seal = EventSeal(event.unknownFields)
    if seal.signature != nil, seal.key != nil || seal.grant != nil {
      carried = EventSeal(key: seal.key, grant: seal.grant)
    }
  }
}

// MARK: Vetting

extension StackReplica {
  /// Nobody vouched for anything yet.
  func beginVetting() {
    vetting = rules.trust.flatMap { $0.mode == .required ? Vetting(stack: name, owner: $0.owner) : nil }
  }

  /// What a page of the log has: the device's own is its own, the rest must be vouched for.
  func vet(_ batch: EventBatch) {
    guard vetting != nil else { return }
    for record in batch.records { offer(record.dot, Array(batch.bytes[record.range])) }
    _ = vetting!.settle()
  }

  private func offer(_ dot: Dot, _ bytes: [UInt8]) {
    if dot.device == rules.signer?.verifyingKey.device {
      vetting!.note(dot.device, dot.sequence, bytes)
    } else {
      // The chain took it, so it has no gap; what it is of, the signatures say.
      try? vetting!.offer(dot.device, dot.sequence, bytes)
    }
  }

  /// Takes in what this device's own stores have. It is stored whoever vouches for it, and shown only if somebody does.
  func takeKept(_ dot: Dot, _ bytes: [UInt8]) throws(ChainFault) {
    let event = try receive(dot, bytes, in: 0..<bytes.count)
    if vetting != nil {
      offer(dot, bytes)
      // Folds what is vouched for.
      needsRefold = true
    }
    take(event, dot, bytes, isOwn: true)
    try takeVetted()
  }

  /// Whether the log holds what nobody vouches for: from before the space wanted it.
  var holdsUnvouched: Bool { vetting.map { $0.passed != chains.vector } ?? false }

  /// What is about to be stored of the device's own needs no vouching. The rest was vetted when it came.
  func noteStored() {
    guard vetting != nil, let own = rules.signer?.verifyingKey.device else { return }
    for entry in pending where entry.dot.device == own { vetting!.note(own, entry.dot.sequence, entry.bytes) }
  }

  /// Takes in what came and is vouched for now.
  func takeVetted() throws(ChainFault) {
    guard vetting != nil else { return }
    for (dot, bytes) in vetting!.settle() {
      guard !chains.vector.contains(dot) else {
        // It was in the log before anybody vouched for it.
        needsRefold = true
        continue
      }
      do throws(ChainFault) { take(try receive(dot, bytes, in: 0..<bytes.count), dot, bytes, isOwn: false) } catch {
        guard mayLack(error) else { throw error }
        passedOver = true
        continue
      }
      agreed?[dot.device] = dot.sequence
    }
  }

  /// Whether these events of our own id, which we don't have, are signed by our key: then somebody else has it. If not,
  /// somebody made them up.
  func isVouched(_ own: [(dot: Dot, bytes: [UInt8])]) -> Bool {
    guard var probe = vetting else { return true }
    for entry in own {
      guard (try? probe.offer(entry.dot.device, entry.dot.sequence, entry.bytes)) != nil else { break }
    }
    return probe.settle().contains { $0.dot.device == own.first?.dot.device }
  }

  /// What is held back or was refused, by device.
  package var withheld: [WithheldEvents] {
    (vetting?.standings ?? []).filter { $0.held > 0 || $0.refused > 0 }.map {
      WithheldEvents(device: $0.device, held: $0.held, reason: $0.reason?.text ?? "", refused: $0.refused)
    }
  }
}

extension Vetting.Reason {
  /// For a person.
  package var text: String {
    switch self {
    case .unsigned: "nobody signed them"
    case .notGranted: "their device has no grant of the space's owner"
    case .expired: "their device's grant has expired"
    case .waiting: "they rest on events that are held back"
    case .unreadable: "a newer version is needed to check them"
    }
  }
}
