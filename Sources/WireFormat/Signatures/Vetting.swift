public import NavigationModel

/// Who may write in a space, as a replica was told.
public struct SpaceTrust: Hashable, Sendable {
  public enum Mode: String, Hashable, Sendable, CaseIterable {
    /// Nothing is signed or checked.
    case off
    /// Events are signed, and what isn't vouched for is shown as such.
    case optional
    /// What nobody vouches for is held back, and never folded.
    case required
  }

  public var space: Name
  public var mode: Mode
  public var owner: VerifyingKey

  public init(space: Name, mode: Mode, owner: VerifyingKey) {
    self.space = space
    self.mode = mode
    self.owner = owner
  }
}

/// Lets through, of one stack's events, those that are vouched for: signed by their author, whom the space's owner granted
/// to write, and resting on nothing but such. Holds the rest back until that changes, in bounded memory.
///
/// A value; pure. Takes every chain from its first entry on. Costs decoding and hashing once more, and a check of one
/// signature for each author in what is taken in before ``settle()``: about 60 µs.
public struct Vetting: Sendable {
  /// Why events are not let through.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// Nobody signed them.
    case unsigned
    /// Their author has no grant of the space's owner.
    case notGranted
    /// They are later than the grant.
    case expired
    /// They rest on events that aren't let through.
    case waiting
    /// A newer version has to check them.
    case unreadable
  }

  /// What a chain comes to.
  public struct Standing: Hashable, Sendable {
    /// Whose events they are.
    public var device: DeviceID
    /// What the owner calls it; nil without a valid grant.
    public var name: String?
    /// How many entries were let through.
    public var passed: Int
    /// How many are held back.
    public var held: Int
    /// Why; nil if nothing is.
    public var reason: Reason?
    /// How many entries were dropped because their signature isn't their author's, or they were no events.
    public var refused: Int
  }

  /// An entry that is let through.
  public typealias Passed = (dot: Dot, bytes: [UInt8])

  public let stack: StackName
  public let owner: VerifyingKey
  /// How much was let through, by chain.
  public private(set) var passed = VersionVector()
  /// Entries that were dropped because their signature is not their author's, they can't be read, or there was no room.
  public private(set) var refused = 0

  private var lines: [DeviceID: Line] = [:]
  private var touched: Set<DeviceID> = []
  private var waiting: Set<DeviceID> = []
  /// Of devices, by any of their chains: what contexts are compared with.
  private var reach = VersionVector()
  private var heldBytes = 0
  private var room: Int

  /// What is held back of a stack, with a kilobyte an entry counted on top.
  public static let room = 4 << 20

  public init(stack: StackName, owner: VerifyingKey, room: Int = Vetting.room) {
    self.stack = stack
    self.owner = owner
    self.room = room
  }

  /// What each chain comes to, by device.
  public var standings: [Standing] {
    lines.values.map { line in
      Standing(
        device: line.author, name: line.granted.map { "\($0.name)" }, passed: line.passed, held: line.held.count,
        reason: line.held.isEmpty ? nil : line.vouched > line.passed ? .waiting : line.reason, refused: line.refused)
    }.sorted { $0.device < $1.device }
  }

  /// How many entries are held back.
  public var held: Int { lines.values.reduce(0) { $0 + $1.held.count } }

  /// How many signatures of events were checked: what this costs.
  var checks: Int { lines.values.reduce(0) { $0 + $1.checks } }

  /// How many entries of a chain are here, held ones included.
  public func count(of chain: DeviceID) -> Int { lines[chain]?.chain.count ?? 0 }

  // MARK: Taking in

  /// Takes in an entry; what comes of it ``settle()`` says.
  ///
  /// - Throws: `.gap`, if entries before it are lacking that weren't refused.
  public mutating func offer(_ id: DeviceID, _ sequence: Int, _ bytes: [UInt8]) throws(ChainFault) {
    var line = lines.removeValue(forKey: id) ?? Line(stack, id)
    defer { lines[id] = line }
    if sequence <= line.chain.count {
      // What comes again in another form takes the place of what nobody vouches for.
      let place = sequence - line.passed - 1
      guard place >= 0, sequence > line.vouched, line.held[place].bytes != bytes else { return }
      heldBytes -= line.cut(to: place)
    }
    guard sequence == line.chain.count + 1 else {
      guard line.isBroken else { throw .gap(expected: line.chain.count + 1) }
      refuse(&line)
      return
    }
    guard heldBytes + Line.cost(bytes) <= room, line.take(bytes) else {
      refuse(&line)
      return
    }
    heldBytes += Line.cost(bytes)
    touched.insert(id)
  }

  private mutating func refuse(_ line: inout Line) {
    line.isBroken = true
    line.refused += 1
    refused += 1
  }

  /// Takes in an entry that needs no vouching: what this replica itself did or held before.
  public mutating func note(_ id: DeviceID, _ sequence: Int, _ bytes: [UInt8]) {
    guard sequence > count(of: id), (try? offer(id, sequence, bytes)) != nil else { return }
    lines[id]?.vouched = sequence
    _ = release(id, checksContext: false)
    touched.remove(id)
  }

  /// Checks the signatures of what came in, and lets through what is vouched for and rests on nothing else, every chain
  /// in order.
  public mutating func settle() -> [Passed] {
    for id in touched.sorted() {
      guard var line = lines[id] else { continue }
      lines[id] = nil
      let cut = line.check(owner)
      heldBytes -= cut.bytes
      refused += cut.count
      lines[id] = line
      if line.vouched > line.passed { waiting.insert(id) }
    }
    touched = []
    var result: [Passed] = []
    var isNews = true
    while isNews, !waiting.isEmpty {
      isNews = false
      for id in waiting.sorted() {
        let released = release(id, checksContext: true)
        isNews = isNews || !released.isEmpty
        result += released
      }
    }
    return result
  }

  private mutating func release(_ id: DeviceID, checksContext: Bool) -> [Passed] {
    guard var line = lines.removeValue(forKey: id) else { return [] }
    var count = 0
    for entry in line.held.prefix(line.vouched - line.passed) {
      guard !checksContext || entry.context.map(reach.covers) ?? true else { break }
      count += 1
      let own = line.passed + count - (line.chain.copy == nil ? 0 : StackChains.copyOffset)
      if reach[line.author] < own { reach[line.author] = own }
    }
    let first = line.passed + 1
    let entries = line.held.prefix(count)
    heldBytes -= line.release(count)
    passed[id] = line.passed
    if line.vouched == line.passed { waiting.remove(id) }
    lines[id] = line
    return entries.enumerated().map { (Dot(id, first + $0.offset), $0.element.bytes) }
  }
}
