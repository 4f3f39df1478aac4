import NavigationModel

extension Vetting {
  struct Entry {
    var bytes: [UInt8]
    /// Nil of what is no event that can be read.
    var context: VersionVector?
    /// What is to be checked of a signed one.
    var signed: Signed?
    /// What stood in the chain last.
    var credentials: Credentials
    /// Why its signature vouches for nothing, once that was found: it stays so, whatever comes behind it.
    var verdict: Reason?
  }

  struct Signed {
    var dot: Dot
    var timestamp: Timestamp
    var previous: Digest
    var key: VerifyingKey
  }

  struct Credentials: Hashable {
    var key: VerifyingKey?
    var grant: Grant?
  }

  /// A chain as it came, of which some is let through.
  struct Line {
    let stack: StackName
    /// With all that is held.
    private(set) var chain: StackChains.Chain
    /// As it was when `passed` were in, if any is held.
    private var base: StackChains.Chain?
    private var baseCredentials = Credentials()
    private(set) var passed = 0
    /// How many entries are signed and granted.
    var vouched = 0
    private(set) var held: [Entry] = []
    /// The grant that was found to be the owner's last.
    private(set) var granted: Grant?
    private(set) var reason = Reason.unsigned
    /// How many signatures of events were checked.
    private(set) var checks = 0
    var refused = 0
    /// An entry was refused, so what comes after it has no place.
    var isBroken = false

    init(_ stack: StackName, _ id: DeviceID) {
      self.stack = stack
      chain = StackChains.Chain(stack: stack, device: id)
    }

    var author: DeviceID { chain.copy?.fork.device ?? chain.id }

    static func cost(_ bytes: [UInt8]) -> Int { bytes.count + 1024 }

    /// False for what is no entry.
    mutating func take(_ bytes: [UInt8]) -> Bool {
      if held.isEmpty { base = chain }
      let previous = chain.copy.map(\.history.digest) ?? chain.digest.digest
      let event: Event?
      do { event = try extend(&chain, bytes) } catch {
        if held.isEmpty { base = nil }
        return false
      }
      isBroken = false
      var entry = Entry(
        bytes: bytes, context: event?.context, credentials: held.last?.credentials ?? baseCredentials)
      if let event, !event.unknownFields.isEmpty {
        let seal = EventSeal(event.unknownFields)
        if let key = seal.key ?? seal.grant?.key { entry.credentials = Credentials(key: key, grant: seal.grant) }
        if seal.signature != nil, let key = entry.credentials.key, key.device == event.dot.device {
          entry.signed = Signed(dot: event.dot, timestamp: event.timestamp, previous: previous, key: key)
        }
      }
      held.append(entry)
      return true
    }

    /// Takes the chain's next entry in without asking what it rests on: that is compared later.
    private func extend(_ chain: inout StackChains.Chain, _ bytes: [UInt8]) throws(ChainFault) -> Event? {
      try StackChains.admit(bytes, in: 0..<bytes.count, to: &chain, held: nil, keepsUnknown: true, stack)
    }

    /// Looks for the newest signature that vouches for the chain; those before it needn't be looked at. Cuts off what
    /// a wrong one stands in. Checks none twice.
    mutating func check(_ owner: VerifyingKey) -> (bytes: Int, count: Int) {
      var place = held.count - 1
      var wrong: Int?
      var reason: Reason?
      while passed + place + 1 > vouched, place >= 0 {
        defer { place -= 1 }
        guard let signed = held[place].signed else { continue }
        if let known = held[place].verdict {
          reason = reason ?? known
          continue
        }
        checks += 1
        guard EventSeal.isValid(held[place].bytes, signed.dot, of: stack, previous: signed.previous, by: signed.key)
        else {
          wrong = place
          continue
        }
        if let verdict = verdict(on: held[place].credentials.grant, of: signed, owner) {
          held[place].verdict = verdict
          reason = reason ?? verdict
          continue
        }
        vouched = passed + place + 1
        break
      }
      self.reason = reason ?? (chain.unreadable > 0 ? .unreadable : .unsigned)
      guard let wrong, passed + wrong + 1 > vouched else { return (0, 0) }
      let count = held.count - wrong
      let bytes = cut(to: wrong)
      isBroken = true
      refused += count
      return (bytes, count)
    }

    /// Why a grant doesn't cover an event, nil if it does.
    private mutating func verdict(on grant: Grant?, of signed: Signed, _ owner: VerifyingKey) -> Reason? {
      guard let grant, isValid(grant, for: signed, owner) else { return .notGranted }
      return grant.covers(signed.timestamp) ? nil : .expired
    }

    private mutating func isValid(_ grant: Grant, for signed: Signed, _ owner: VerifyingKey) -> Bool {
      guard grant.key == signed.key, grant.space == stack.space else { return false }
      if grant == granted { return true }
      guard grant.isSigned(by: owner) else { return false }
      granted = grant
      return true
    }

    /// Forgets the entries from a place among the held ones on.
    ///
    /// - Returns: what they cost.
    mutating func cut(to place: Int) -> Int {
      let cost = held[place...].reduce(0) { $0 + Self.cost($1.bytes) }
      held.removeLast(held.count - place)
      if let base {
        chain = base
        // What was taken in once is taken in again.
        for entry in held { _ = try? extend(&chain, entry.bytes) }
      }
      if held.isEmpty { base = nil }
      return cost
    }

    /// The first so many held entries are let through.
    ///
    /// - Returns: what they cost.
    mutating func release(_ count: Int) -> Int {
      guard count > 0 else { return 0 }
      passed += count
      baseCredentials = held[count - 1].credentials
      let cost = held.prefix(count).reduce(0) { $0 + Self.cost($1.bytes) }
      if count == held.count {
        base = nil
      } else if var base {
        self.base = nil
        for entry in held.prefix(count) { _ = try? extend(&base, entry.bytes) }
        self.base = base
      }
      held.removeFirst(count)
      return cost
    }
  }
}
