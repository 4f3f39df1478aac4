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

  /// Each event once, by whichever chains it came: what ``admission`` is made of. Of retired chains only what no copy has
  /// yet.
  public var all: Set<Claim> {
    var result: Set<Claim> = []
    for (chain, events) in claims
    where !chains.retired.contains(chain) || chains.unsettled.contains(chain) { result.formUnion(events) }
    return result
  }

  /// What is to be folded, in the order to fold it in; what the rest is.
  public var admission: Admission { Admission(all) }
}

extension StackChains {
  /// The digest of a device's history as a chain has it: of a copy not the chain's own.
  public func history(of chain: DeviceID) -> Digest {
    guard let copy = self.chain(of: chain)?.copy else { return digest(of: chain) }
    return copy.marks.last?.digest ?? .empty
  }
}
