/// One event as somebody holds it, with what links it into its author's chain.
public struct Claim: Hashable, Sendable {
  public var event: Event
  /// The chain's digest before the event.
  public var previous: Digest
  /// The chain's digest after the event.
  public var digest: Digest
  /// What decides a fork between events of one timestamp; the digest unless something else must stand in for it.
  public var tieBreak: Digest

  public init(event: Event, previous: Digest, digest: Digest, tieBreak: Digest? = nil) {
    self.event = event
    self.previous = previous
    self.digest = digest
    self.tieBreak = tieBreak ?? digest
  }
}

/// What a set of claims comes to.
public struct Admission: Hashable, Sendable {
  /// What can be folded, in an order that extends causality: by the sum of the context's numbers, then by dot. Where a dot
  /// has more than one event, the earlier by (timestamp, digest) and what goes on from it.
  ///
  /// Where there are forks, an author may have held another history than the one that is folded, so that what its context
  /// names rests on what it doesn't name. Whoever holds an event holds its past, so contexts are closed; and if two events
  /// then rest on each other, the earlier one in the order doesn't name the later.
  public private(set) var folded: [Claim] = []
  /// What is whole and isn't folded: of the other histories under a device's id. In the same order.
  public private(set) var rivals: [Claim] = []
  /// What isn't whole yet: something of its chain or of its context is missing. In the same order.
  public private(set) var waiting: [Claim] = []
  /// Dots that have more than one event; one of them is among `folded`.
  public var forks: [Dot] = []

  /// The events of `folded`.
  public var events: [Event] { folded.map(\.event) }
  /// The dots of `waiting`, each once, in ascending order.
  public var held: [Dot] { Set(waiting.map(\.event.dot)).sorted() }

  /// Admits a set of events by device chains: sequences without holes, each on the digest of the one before, every
  /// number of the context held by any chain. A pure function of the set: order and duplicates don't matter.
  ///
  /// A context that lacks what its author's previous event had counts as if it had it: the author did hold that.
  /// O(n log n) for n claims whose contexts are whole.
  public init(_ claims: some Sequence<Claim>) {
    let all = Set(claims)
    var whole: [Dot: [Claim]] = [:]
    var waiting = all.sorted { Admission.precedes($0.event, $1.event) }
    while true {
      var still: [Claim] = []
      for claim in waiting {
        if Admission.isWhole(claim, whole) {
          whole[claim.event.dot, default: []].append(claim)
        } else {
          still.append(claim)
        }
      }
      if still.count == waiting.count { break }
      waiting = still
    }
    self.waiting = waiting
    for device in Set(whole.keys.map(\.device)) {
      var previous = Digest.empty
      var sequence = 1
      var context = VersionVector()
      while let candidates = whole[Dot(device, sequence)]?.filter({ $0.previous == previous }),
        var chosen = candidates.min(by: Admission.isEarlierClaim)
      {
        if candidates.count > 1 { forks.append(chosen.event.dot) }
        whole[chosen.event.dot]?.removeAll { $0 == chosen }
        context.join(chosen.event.context)
        chosen.event.context = context
        folded.append(chosen)
        previous = chosen.digest
        sequence += 1
      }
    }
    rivals = whole.values.flatMap(\.self)
    folded.sort { Admission.precedes($0.event, $1.event) }
    if !forks.isEmpty { closeContexts() }
    rivals.sort {
      Admission.precedes($0.event, $1.event)
        || !Admission.precedes($1.event, $0.event) && Admission.isEarlierClaim($0, $1)
    }
    forks.sort()
  }

  /// Takes into each context what the events that it names rest on, and sorts anew. Events that rest on each other come
  /// about where two devices each saw a history of the other that isn't folded. O(n·d) a pass for d devices; a pass more
  /// for each step in which one closure leads to another, which are as many as histories are woven together: few.
  private mutating func closeContexts() {
    let places = Dictionary(uniqueKeysWithValues: folded.enumerated().map { ($0.element.event.dot, $0.offset) })
    var counts = VersionVector()
    for claim in folded {
      counts[claim.event.dot.device] = max(counts[claim.event.dot.device], claim.event.dot.sequence)
    }
    var isNews = true
    while isNews {
      isNews = false
      for place in folded.indices {
        let event = folded[place].event
        var context = event.context
        func join(_ dot: Dot) {
          if let place = places[dot] { context.join(folded[place].event.context) }
        }
        // The folded history may be the shorter one: then its last event stands for what is named.
        for element in event.context.elements {
          join(Dot(element.device, min(element.sequence, counts[element.device])))
        }
        join(Dot(event.dot.device, event.dot.sequence - 1))
        context[event.dot.device] = 0
        guard context != event.context else { continue }
        folded[place].event.context = context
        isNews = true
      }
    }
    folded.sort { Admission.precedes($0.event, $1.event) }
    var held = VersionVector()
    for place in folded.indices {
      let event = folded[place].event
      if !held.covers(event.context) {
        for element in event.context.elements where element.sequence > held[element.device] {
          let next = Dot(element.device, held[element.device] + 1)
          if places[next] != nil { folded[place].event.context[element.device] = held[element.device] }
        }
      }
      held[event.dot.device] = event.dot.sequence
    }
  }

  private static func isWhole(_ claim: Claim, _ whole: [Dot: [Claim]]) -> Bool {
    let event = claim.event
    if event.dot.sequence == 1 {
      guard claim.previous == .empty else { return false }
    } else {
      let before = whole[Dot(event.dot.device, event.dot.sequence - 1)]
      guard let before, before.contains(where: { $0.digest == claim.previous }) else { return false }
    }
    return event.context.elements.allSatisfy { whole[Dot($0.device, $0.sequence)] != nil }
  }

  private static func isEarlierClaim(_ left: Claim, _ right: Claim) -> Bool {
    left.event.timestamp != right.event.timestamp
      ? left.event.timestamp < right.event.timestamp : left.tieBreak < right.tieBreak
  }

  /// The order by the sum of all that the author held, then by dot: causality's, with ties settled.
  private static func precedes(_ left: Event, _ right: Event) -> Bool {
    let leftSum = left.context.total + left.dot.sequence
    let rightSum = right.context.total + right.dot.sequence
    return leftSum != rightSum ? leftSum < rightSum : left.dot < right.dot
  }
}
