public import NavigationModel

/// The chains of all devices of one stack, as far as a replica or daemon holds them: what admits the next event.
///
/// A value: a copy is a cheap way to try something out. Made by running over the stack's log once; about 200 ns an
/// event. It knows nothing of the fold and never looks at the order in which chains arrive.
///
/// A chain is a device's own, or a copy of one of several histories under one device id (see ``Fork``). Chains are named
/// and counted by their ids, so a vector counts a copy's entries under the copy's id.
public struct StackChains: Hashable, Sendable {
  /// One chain: a device's own, or a copy.
  struct Chain: Hashable, Sendable {
    let id: DeviceID
    /// Of a copy it is that of the device whose history it is.
    var author: AuthorState
    /// Over the id and the entries.
    var digest: ChainDigest
    /// The digests at every multiple of ``ChainDigest/interval``.
    var closed: [Digest] = []
    /// Nil for a device's own chain.
    var copy: Copy?
    /// From that entry on nothing can be read, since it is of a newer format; 0: all can.
    var unreadable = 0

    init(stack: StackName, device: DeviceID) {
      id = device
      author = AuthorState(device: device)
      digest = ChainDigest(stack: stack, device: device)
    }

    /// How many entries are in.
    var count: Int { digest.sequence }

    mutating func extend(_ bytes: [UInt8], in range: Range<Int>) {
      digest.append(bytes, in: range)
      if digest.sequence % ChainDigest.interval == 0 { closed.append(digest.closed) }
    }
  }

  public let stack: StackName
  /// All that is held, by chain.
  public internal(set) var vector = VersionVector()
  var chains: [Chain] = []
  var places: [DeviceID: Int] = [:]
  var forking = Forking()

  /// No events.
  public init(stack: StackName) { self.stack = stack }

  // MARK: What is held

  /// How far each chain is held, by ascending id.
  public var heads: [DeviceHead] {
    vector.elements.map { DeviceHead(device: $0.device, sequence: $0.sequence, digest: digest(of: $0.device)) }
  }

  /// How many of each device's events are held, by any of its chains: what contexts are compared with.
  public var reach: VersionVector { forking.reach ?? vector }

  /// The digest of a device's chain as it is held: the `previous` of its next event.
  public func digest(of device: DeviceID) -> Digest { chain(of: device)?.digest.digest ?? .empty }

  /// What the device's next event is written against.
  public func authorState(of device: DeviceID) -> AuthorState {
    chain(of: device)?.author ?? AuthorState(device: device)
  }

  /// The context of an event that the device would make now. Shares its storage with the device's last one if nothing
  /// came in since.
  public func context(for device: DeviceID) -> VersionVector {
    let held = reach
    let own = held[device]
    if let chain = chain(of: device), chain.author.context.total == held.total - own { return chain.author.context }
    var context = held
    context[device] = 0
    return context
  }

  /// A digest of a device's chain at the last closed place at or below a sequence that is held, to be brought up to
  /// that sequence by appending at most 63 events from the log; nil if the sequence isn't held.
  public func closedDigest(of device: DeviceID, atOrBelow sequence: Int) -> ChainDigest? {
    guard sequence >= 0, sequence <= vector[device] else { return nil }
    let count = sequence / ChainDigest.interval
    guard count > 0 else { return ChainDigest(stack: stack, device: device) }
    return chain(of: device).map { ChainDigest(from: $0.closed[count - 1], at: count * ChainDigest.interval) }
  }

  // MARK: Receiving

  /// Takes in a chain's next entry and gives it back decoded; a throw changes nothing.
  ///
  /// - Returns: the event, of a copy with the dot that its device gave it; nil for what is no event that can be read: a
  ///   copy's first entry, one of a newer format, and all that comes after that in its chain.
  @discardableResult
  public mutating func receive(
    _ device: DeviceID, _ sequence: Int, _ bytes: [UInt8], in range: Range<Int>
  ) throws(ChainFault) -> Event? {
    guard let place = places[device] else {
      try Self.checkNext(sequence, after: 0)
      var chain = Chain(stack: stack, device: device)
      let event = try Self.admit(bytes, in: range, to: &chain, held: reach, keepsUnknown: true, stack)
      keep(chain)
      return event
    }
    try Self.checkNext(sequence, after: chains[place].count)
    let event = try Self.admit(bytes, in: range, to: &chains[place], held: reach, keepsUnknown: true, stack)
    count(place)
    return event
  }

  /// Takes in a chain's next entry.
  @discardableResult
  public mutating func receive(_ dot: Dot, _ bytes: [UInt8]) throws(ChainFault) -> Event? {
    try receive(dot.device, dot.sequence, bytes, in: 0..<bytes.count)
  }

  /// How far a run of one device's events was taken in.
  public struct TakenRun: Sendable {
    /// How many events, from the first on.
    public var count = 0
    /// The highest timestamp of them, in milliseconds since 1970; 0 if none.
    public var newestTime = 0
    /// The author's state before the run.
    public var before: AuthorState
    /// Why the rest was not taken in; nil also if an event came too late.
    public var fault: ChainFault?
    /// The event that is later than allowed, at which the run ended.
    public var ahead: Event?
  }

  /// Takes in a run of a device's next events as far as they are admissible, in place: what a daemon does.
  ///
  /// - Parameters:
  ///   - firstSequence: after all that is held of the device.
  ///   - previous: the sender's digest before the first event; nil if it was compared already.
  ///   - latest: the highest timestamp that is taken in, in milliseconds since 1970.
  ///   - keepsUnknown: whether events of a newer format are taken in, unread.
  public mutating func take(
    _ device: DeviceID, firstSequence: Int, previous: Digest?, events: [[UInt8]], notAfter latest: Int,
    keepsUnknown: Bool = false
  ) -> TakenRun {
    guard !forking.retired.contains(device) else {
      var run = TakenRun(before: authorState(of: device))
      run.fault = .fork(Dot(device, firstSequence))
      return run
    }
    guard let place = places[device] else {
      var chain = Chain(stack: stack, device: device)
      let run = Self.take(firstSequence, previous, events, latest, to: &chain, held: reach, keepsUnknown, stack)
      if run.count > 0 { keep(chain) }
      return run
    }
    let run = Self.take(firstSequence, previous, events, latest, to: &chains[place], held: reach, keepsUnknown, stack)
    if run.count > 0 { count(place) }
    return run
  }

  private static func take(
    _ firstSequence: Int, _ previous: Digest?, _ events: [[UInt8]], _ latest: Int, to chain: inout Chain,
    held: VersionVector, _ keepsUnknown: Bool, _ stack: StackName
  ) -> TakenRun {
    var run = TakenRun(before: chain.author)
    guard firstSequence == chain.count + 1 else {
      run.fault = .gap(expected: chain.count + 1)
      return run
    }
    if let previous, previous != chain.digest.digest {
      run.fault = .fork(Dot(chain.id, firstSequence))
      return run
    }
    for bytes in events {
      let before = chain.author
      do throws(ChainFault) {
        let event = try admit(
          bytes, in: 0..<bytes.count, to: &chain, held: held, notAfter: latest, keepsUnknown: keepsUnknown, stack)
        if let event, event.timestamp.milliseconds > latest {
          chain.author = before
          run.ahead = event
          return run
        }
        run.newestTime = max(run.newestTime, event?.timestamp.milliseconds ?? 0)
        run.count += 1
      } catch {
        run.fault = error
        return run
      }
    }
    return run
  }

  /// Takes in an event that this replica made: the next of its author, its context held. Gives its canonical bytes; a
  /// throw changes nothing.
  public mutating func append(_ event: Event) throws(ChainFault) -> [UInt8] {
    let device = event.dot.device
    guard !forking.retired.contains(device) else { throw .fork(event.dot) }
    guard let place = places[device] else {
      var chain = Chain(stack: stack, device: device)
      let bytes = try Self.write(event, to: &chain, held: reach)
      keep(chain)
      return bytes
    }
    let bytes = try Self.write(event, to: &chains[place], held: reach)
    count(place)
    return bytes
  }

  /// A chain as it was at some moment, to have its last event in another form.
  public struct ChainState: Sendable {
    let chain: Chain

    /// The author's state.
    public var author: AuthorState { chain.author }
    /// The device's digest.
    public var digest: Digest { chain.digest.digest }
  }

  /// A device's chain as it is.
  public func state(of device: DeviceID) -> ChainState {
    ChainState(chain: chain(of: device) ?? Chain(stack: stack, device: device))
  }

  /// Puts another form of its last event at a chain's end: of one that this replica made and nobody has seen yet.
  ///
  /// - Parameter state: the chain before the event.
  public mutating func replaceLast(_ event: Event, after state: ChainState) throws(ChainFault) -> [UInt8] {
    let device = event.dot.device
    precondition(
      event.dot.sequence == state.chain.count + 1 && vector[device] == event.dot.sequence
        && !forking.retired.contains(device),
      "\(event.dot) isn't the last event")
    var chain = state.chain
    let bytes = try Self.write(event, to: &chain, held: reach)
    keep(chain)
    return bytes
  }

  // MARK: Parts

  static func checkNext(_ sequence: Int, after held: Int) throws(ChainFault) {
    guard sequence > held else { throw .duplicate }
    guard sequence == held + 1 else { throw .gap(expected: held + 1) }
  }

  func chain(of device: DeviceID) -> Chain? { places[device].map { chains[$0] } }

  /// Puts a chain in the place of an older one of its id.
  mutating func keep(_ chain: Chain) {
    let place = places[chain.id] ?? chains.count
    if place < chains.count {
      chains[place] = chain
    } else {
      places[chain.id] = place
      chains.append(chain)
    }
    count(place)
  }

  /// Counts what a chain holds.
  private mutating func count(_ place: Int) {
    vector[chains[place].id] = chains[place].count
    if forking.reach != nil || chains[place].copy != nil { noteForking(place) }
  }

  /// Decodes a chain's next entry, checks its context against what is held (nil: against nothing), and hashes it unless
  /// it is later than allowed; a throw leaves the chain as it was.
  static func admit(
    _ bytes: [UInt8], in range: Range<Int>, to chain: inout Chain, held: VersionVector?,
    notAfter latest: Int = .max, keepsUnknown: Bool = false, _ stack: StackName
  ) throws(ChainFault) -> Event? {
    if chain.unreadable > 0 || chain.copy != nil {
      return try admitOther(bytes, in: range, to: &chain, notAfter: latest, keepsUnknown: keepsUnknown)
    }
    if chain.count == 0, Fork.mayBeCopy(chain.id), let fork = Fork(bytes, in: range, under: chain.id) {
      chain.copy = Copy(fork, stack: stack)
      chain.author = AuthorState(device: fork.device)
      chain.extend(bytes, in: range)
      return nil
    }
    let before = chain.author
    let event: Event
    do { event = try EventCodec.decode(bytes, in: range, after: &chain.author) } catch {
      guard error.code == .unsupported, keepsUnknown else { throw .malformed(error) }
      chain.extend(bytes, in: range)
      chain.unreadable = chain.count
      return nil
    }
    if let held, let lacking = lacking(event.context, after: before.context, held: held) {
      chain.author = before
      throw .missingContext(lacking)
    }
    if event.timestamp.milliseconds <= latest { chain.extend(bytes, in: range) }
    return event
  }

  /// Encodes a chain's next event, its context being held, and hashes it; a throw leaves the chain as it was.
  private static func write(
    _ event: Event, to chain: inout Chain, held vector: VersionVector
  ) throws(ChainFault) -> [UInt8] {
    try checkNext(event.dot.sequence, after: chain.count)
    if let lacking = lacking(event.context, after: chain.author.context, held: vector) {
      throw .missingContext(lacking)
    }
    let bytes: [UInt8]
    do { bytes = try EventCodec.encode(event, after: &chain.author) } catch { throw .unwritable(error) }
    chain.extend(bytes, in: 0..<bytes.count)
    return bytes
  }

  /// What a context has that isn't held, nil if nothing. The author's previous context is held.
  private static func lacking(
    _ context: VersionVector, after previous: VersionVector, held vector: VersionVector
  ) -> VersionVector? {
    if context.total == previous.total || vector.covers(context) { return nil }
    var result = VersionVector()
    for element in context.elements where vector[element.device] < element.sequence {
      result[element.device] = element.sequence
    }
    return result
  }
}
