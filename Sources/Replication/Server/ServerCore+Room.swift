import Access
import WireFormat

/// What peers may have wait and ask for, so that one that wants much doesn't take it from the others.
extension ServerCore {
  // MARK: Memory

  /// Whether so many bytes more of a peer may wait: it may have as much waiting as is free then. However many want
  /// all, there is always room for one more that wants little (dynamic thresholds; Choudhury and Hahne 1998).
  func hasRoom(for bytes: Int, of peer: Peer) -> Bool {
    held[peer, default: 0] + bytes <= configuration.maximumBacklog - backlog
  }

  mutating func hold(_ bytes: Int, of peer: Peer) {
    guard bytes > 0 else { return }
    backlog += bytes
    held[peer, default: 0] += bytes
  }

  mutating func letGo(_ bytes: Int, of peer: Peer) {
    guard bytes > 0 else { return }
    backlog -= bytes
    held[peer]! -= bytes
    if held[peer] == 0 { held[peer] = nil }
  }

  /// A request waits for its stack.
  mutating func startWaiting(_ waiting: Stack.Waiting, _ slot: Int) {
    hold(waiting.bytes, of: waiting.peer)
    asked[waiting.peer, default: 0] += 1
    stacks[slot]!.waiting.append(waiting)
  }

  /// It waits no more; the caller has taken it out.
  mutating func endWaiting(_ waiting: Stack.Waiting) {
    letGo(waiting.bytes, of: waiting.peer)
    asked[waiting.peer]! -= 1
    if asked[waiting.peer] == 0 { asked[waiting.peer] = nil }
  }

  /// Requests of one peer that wait for stacks to be loaded.
  static let maximumAsked = 256

  // MARK: Work

  /// What somebody may still ask for, in requests.
  struct Budget: Sendable {
    enum Owner: Hashable, Sendable {
      /// All sessions of a key together.
      case key(PublicKey)
      /// A connection without keys, for all its sessions.
      case peer(Peer)
    }

    var left: Int
    var countedAt: Int
  }

  /// Counts a request, if there is anything left: by as much as it costs, so that it may go below 0 by one. At first a
  /// session may ask for every stack that it can follow, and then goes by the second.
  ///
  /// - Parameter principal: nil for that of the peer's session.
  mutating func mayRequest(_ message: Message, _ peer: Peer, as principal: Principal? = nil, at moment: Moment) -> Bool
  {
    let most = max(configuration.limits.follows, configuration.requestsASecond)
    let owner: Budget.Owner =
      if case .key(let key)? = principal ?? sessions[peer]?.principal { .key(key) } else { .peer(peer) }
    var budget = budgets[owner] ?? Budget(left: most, countedAt: moment.milliseconds)
    let passed = moment.milliseconds - budget.countedAt
    let earned = min(passed, 60_000) * configuration.requestsASecond / 1000
    if earned > 0 {
      budget.left = min(budget.left + earned, most)
      budget.countedAt = moment.milliseconds
    }
    let isAllowed = budget.left > 0
    if isAllowed { budget.left -= cost(of: message) }
    budgets[owner] = budget
    // Of connections that never had a session nobody says that they went.
    if budgets.count > 4 * configuration.maximumSessions {
      budgets = budgets.filter { if case .peer(let peer) = $0.key { sessions[peer] != nil } else { true } }
    }
    return isAllowed
  }

  /// How many requests it counts for: by what it takes to answer.
  private func cost(of message: Message) -> Int {
    switch message {
    // A device's name and time are kept for it.
    case .hello(let hello): hello.device == nil ? 1 : Self.sessionCost
    // Each head may have to be compared with the log.
    case .follow(let follow): if case .vector(let heads) = follow.start { 1 + heads.count } else { 1 }
    // It is sent to all.
    case .presence(let presence):
      1 + (slots[presence.stack].map { stacks[$0]!.followers.count } ?? 0) / Self.presencesARequest
    // All stacks are read, and all devices sorted.
    case .list: 1 + (names.count + slots.count) / Self.listedAMessage
    case .welcome, .refused, .following, .events, .live, .unfollow, .append, .accepted, .rejected, .credit, .ping,
      .pong,
      .range, .listing, .statusRequest, .statusReport, .pair, .paired:
      1
    }
  }

  private static let sessionCost = 16
  private static let presencesARequest = 16
}
