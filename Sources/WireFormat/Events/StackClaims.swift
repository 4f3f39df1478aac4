public import NavigationModel

/// All that is held of a stack, for who folds it where events can't be folded as they come: where a device id has several
/// histories, or events are of a newer format. What is folded is a pure function of what is held (see
/// ``NavigationModel/Admission``).
///
/// Keeps every event: a few hundred bytes each.
public struct StackClaims: Sendable {
  public private(set) var chains: StackChains
  private var claims: [DeviceID: [Claim]] = [:]

  public init(stack: StackName) { chains = StackChains(stack: stack) }

  /// Takes in a chain's next entry, as ``StackChains/receive(_:_:_:in:)``.
  @discardableResult
  public mutating func receive(
    _ chain: DeviceID, _ sequence: Int, _ bytes: [UInt8], in range: Range<Int>
  ) throws(ChainFault) -> Event? {
    let before = chains.history(of: chain)
    guard let event = try chains.receive(chain, sequence, bytes, in: range) else { return nil }
    claims[chain, default: []].append(
      Claim(event: event, previous: before, digest: chains.history(of: chain)))
    return event
  }

  @discardableResult
  public mutating func receive(_ dot: Dot, _ bytes: [UInt8]) throws(ChainFault) -> Event? {
    try receive(dot.device, dot.sequence, bytes, in: 0..<bytes.count)
  }

  /// All of a retired chain is in copies.
  public mutating func settled(_ chain: DeviceID) { chains.settled(chain) }

  /// Takes in what this replica made.
  public mutating func append(_ event: Event) throws(ChainFault) -> [UInt8] {
    let before = chains.history(of: event.dot.device)
    let bytes = try chains.append(event)
    claims[event.dot.device, default: []].append(
      Claim(event: event, previous: before, digest: chains.history(of: event.dot.device)))
    return bytes
  }

  /// As ``StackChains/replaceLast(_:after:)``.
  public mutating func replaceLast(
    _ event: Event, after state: StackChains.ChainState
  ) throws(ChainFault) -> [UInt8] {
    let bytes = try chains.replaceLast(event, after: state)
    claims[event.dot.device]?.removeLast()
    claims[event.dot.device, default: []].append(
      Claim(event: event, previous: state.chain.digest.digest, digest: chains.history(of: event.dot.device)))
    return bytes
  }

  /// Each event once, by whichever chains it came: what ``admission`` is made of. Of retired chains only what no copy has
  /// yet.
  public var all: Set<Claim> { all(of: nil) }

  private func all(of vetted: VersionVector?) -> Set<Claim> {
    var result: Set<Claim> = []
    for (chain, events) in claims where !chains.retired.contains(chain) || chains.unsettled.contains(chain) {
      guard let vetted else {
        result.formUnion(events)
        continue
      }
      let entries = vetted[chain] - (chains.author(of: chain) == chain ? 0 : StackChains.copyOffset)
      result.formUnion(events.prefix(max(0, entries)))
    }
    return result
  }

  /// What is to be folded, in the order to fold it in; what the rest is.
  public var admission: Admission { admission(of: nil) }

  /// The same of so many entries of each chain.
  ///
  /// - Parameter vetted: nil for all.
  public func admission(of vetted: VersionVector?) -> Admission { Admission(all(of: vetted)) }
}

extension StackChains {
  /// The digest of a device's history as a chain has it: of a copy not the chain's own.
  public func history(of chain: DeviceID) -> Digest {
    guard let copy = self.chain(of: chain)?.copy else { return digest(of: chain) }
    return copy.marks.last?.digest ?? .empty
  }
}
