package import Access
package import NavigationModel
import WireFormat

/// Who may do what. Asked for every request, of the rules as they are then; nothing that was allowed before counts.
extension ServerCore {
  /// What a message needs beyond a session.
  private enum Need {
    case nothing
    case space(Verbs, Substring)
    case everySpace(Verbs)
  }

  private func need(of message: Message) -> Need {
    switch message {
    case .follow(let follow): .space(.read, Self.space(of: follow.stack))
    case .range(let range): .space(.read, Self.space(of: range.stack))
    case .presence(let presence): .space(.read, Self.space(of: presence.stack))
    case .append(let append): .space(.act, Self.space(of: append.stack))
    // All that may be read is listed, which may be nothing.
    case .list(let list): list.space.isEmpty ? .nothing : .space(.read, list.space[...])
    case .statusRequest: .everySpace(.admin)
    case .hello, .welcome, .refused, .following, .events, .live, .unfollow, .accepted, .rejected, .credit, .ping, .pong,
      .listing, .statusReport, .pair, .paired:
      .nothing
    }
  }

  static func space(of stack: String) -> Substring { stack.prefix { $0 != "/" } }

  /// Whether a session may know of a stack.
  func mayRead(_ stack: String, _ session: Session) -> Bool {
    access.allows(session.principal, .read, in: Self.space(of: stack))
  }

  /// Whether a peer may have a message carried out; if not, it is told so.
  mutating func mayHave(_ message: Message, carriedOutFor peer: Peer, at moment: Moment) -> Bool {
    guard let principal = sessions[peer]?.principal else { return false }
    // The way of every message of a daemon without keys.
    if principal == .local { return true }
    let verbs: Verbs
    let place: String
    switch need(of: message) {
    case .nothing: return true
    case .space(let wanted, let space):
      if access.allows(principal, wanted, in: space) { return true }
      (verbs, place) = (wanted, "in the space \(space.prefix(Name.maximumLength))")
    case .everySpace(let wanted):
      if access.allowsEverywhere(principal, wanted) { return true }
      (verbs, place) = (wanted, "in every space")
    }
    let reason =
      "not authorised: this takes '\(verbs)' \(place), which the key doesn't have; have it allowed at the daemon"
    put(audit("request refused: not authorised", principal, [.init("may_not", verbs), .init("where", place)], peer))
    counters.add(to: .requestsRefused)
    counters.add(to: .requestsNotAuthorised)
    if case .append(let append) = message {
      reply(
        .rejected(
          Rejected(
            stack: String(append.stack.prefix(200)), dot: Dot(append.device, max(1, append.firstSequence)),
            code: .notAuthorised, detail: reason, serverTime: serverTime(moment))), to: peer, at: moment)
    } else {
      let (about, stack) = request(message) ?? (.message, "")
      reply(
        .refused(Refused(about: about, stack: String(stack.prefix(200)), code: .notAuthorised, reason: reason)),
        to: peer, at: moment)
    }
    return false
  }

  /// A line that has to be there when it is asked who did what.
  func audit(
    _ text: String, _ principal: Principal, _ fields: [LogRecord.Field], _ peer: Peer,
    _ level: LogRecord.Level = .warning
  ) -> Action {
    var record = LogRecord(
      level, text, [.init("who", access.label(principal)), .init("peer", peer.number)] + fields)
    record.isAudit = true
    return .log(record)
  }

  /// A peer that no rule knows: it is answered, and has no session.
  mutating func refuseStranger(_ principal: Principal, _ about: Subject, to peer: Peer, at moment: Moment) {
    if sessions[peer] != nil { endSession(of: peer, at: moment) }
    put(audit("session refused: no rule knows the key", principal, [], peer))
    counters.add(to: .requestsRefused)
    counters.add(to: .requestsNotAuthorised)
    let reason = "not authorised: this daemon doesn't know the key; have it allowed there"
    reply(.refused(Refused(about: about, code: .notAuthorised, reason: reason)), to: peer, at: moment)
  }

  // MARK: Pairing

  /// A code's secret that somebody with a key has: answered by `redeemed`.
  package struct Redemption: Hashable, Sendable {
    package var peer: Peer
    package var key: PublicKey
    package var secret: [UInt8]
    package var name: String
  }

  mutating func pairReceived(_ pair: Pair, from peer: Peer, as principal: Principal, at moment: Moment) {
    guard case .key(let key) = principal else {
      let reason = "a connection without keys can't be paired: use the endpoint that the code names"
      return refuse(.pair, .unsupported, reason, to: peer, at: moment)
    }
    redemptions.append(Redemption(peer: peer, key: key, secret: pair.secret, name: String(pair.name.prefix(64))))
  }

  /// What is to be asked of the daemon's folder, once.
  package mutating func takeRedemptions() -> [Redemption] {
    defer { redemptions = [] }
    return redemptions
  }

  /// A secret was redeemed, and the rules are known by ``accessChanged(_:at:)``; or it was refused.
  package mutating func redeemed(_ redemption: Redemption, _ rule: AccessRule?, reason: String, at moment: Moment) {
    if let rule {
      put(audit("paired", .key(redemption.key), [], redemption.peer, .info))
      let paired = Paired(name: "\(rule.name)", space: "\(rule.scope)", may: "\(rule.verbs)")
      return reply(.paired(paired), to: redemption.peer, at: moment)
    }
    put(audit("pairing refused", .key(redemption.key), [.init("reason", reason)], redemption.peer))
    counters.add(to: .requestsRefused)
    counters.add(to: .requestsNotAuthorised)
    let refused = Refused(about: .pair, code: .notAuthorised, reason: "not authorised: \(reason)")
    reply(.refused(refused), to: redemption.peer, at: moment)
  }

  // MARK: Whose a device is

  /// A device id belongs to the key that used it first, for as long as any rule knows that key. What is local takes none,
  /// and may use any: it is who has the daemon.
  ///
  /// - Returns: what is wrong with it.
  mutating func claim(_ device: DeviceID, for principal: Principal) -> (code: RefusalCode, reason: String)? {
    guard case .key(let key) = principal else { return nil }
    if let owner = owners[device] {
      if owner == key { return nil }
      if let name = access.name(of: owner) {
        return (
          .notAuthorised,
          "not authorised: the device id \(device) belongs to the key of \(name), which used it first; a device moves to "
            + "another key when that one is revoked"
        )
      }
      owned[owner, default: 1] -= 1
    } else if owners.count >= Self.maximumNames {
      return (.tooMany, "\(owners.count) device ids belong to keys, which is the most that this daemon keeps")
    }
    guard owned[key, default: 0] < Self.devicesAKey else {
      return (.tooMany, "\(Self.devicesAKey) device ids belong to this key, which is the most that one can have")
    }
    owners[device] = key
    owned[key, default: 0] += 1
    claims.append(Claim(device: device, key: key))
    return nil
  }

  /// A device id that a key used first: to be kept beside the log.
  package struct Claim: Hashable, Sendable {
    package var device: DeviceID
    package var key: PublicKey

    package init(device: DeviceID, key: PublicKey) {
      self.device = device
      self.key = key
    }
  }

  /// What is to be kept, once.
  package mutating func takeClaims() -> [Claim] {
    defer { claims = [] }
    return claims
  }

  /// The most device ids that belong to one key; each incarnation is one.
  static let devicesAKey = 1024

  // MARK: Changes

  /// The rules are others now. Sessions of keys that lost everything are gone; those of keys of which anything changed
  /// begin anew, and what they follow is asked of the new rules.
  package mutating func accessChanged(_ rules: AccessRules, at moment: Moment) {
    let (gone, new) = access.difference(to: rules)
    for (text, changes) in [("rule taken back", gone), ("rule added", new)] {
      for rule in changes {
        var record = LogRecord(
          .info, text,
          [.init("who", "\(rule.name) (\(rule.key))"), .init("space", rule.scope), .init("may", rule.verbs)])
        record.isAudit = true
        put(.log(record))
      }
    }
    access = rules
    for case .key(let key) in budgets.keys where !rules.knows(key) { budgets[.key(key)] = nil }
    let changed = Set((gone + new).map(\.key))
    for (peer, session) in sessions.sorted(by: { $0.key.number < $1.key.number }) {
      guard case .key(let key) = session.principal, changed.contains(key) else { continue }
      endSession(of: peer, at: moment)
      guard rules.knows(key) else {
        put(.forget(peer))
        continue
      }
      let reason = "the rules for this key have changed: say Hello again"
      reply(.refused(Refused(about: .message, code: .helloNeeded, reason: reason)), to: peer, at: moment)
    }
  }

  /// All connections to one of the sockets are gone.
  package mutating func socketReopened(where isOfSocket: (Peer) -> Bool, at moment: Moment) {
    for peer in sessions.keys.filter(isOfSocket).sorted(by: { $0.number < $1.number }) { peerGone(peer, at: moment) }
  }
}
