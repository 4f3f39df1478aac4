/// What a view does when it comes into sight and when it goes.
struct Appearance {
  var appear: () -> Void = {}
  var disappear: () -> Void = {}
}

/// Which views are seen, and which were before.
@MainActor
struct Appearances {
  private struct Seen {
    /// Held, so that no new node has the identity of one that is told to be gone.
    var node: Node
    var appearance: Appearance
  }

  private var before: [Seen] = []
  private var now: [Seen] = []

  mutating func begin() { now = [] }

  mutating func met(_ node: Node, _ appearance: Appearance) { now.append(Seen(node: node, appearance: appearance)) }

  /// What is to be told: to the views that went, and then to those that came.
  mutating func end() -> [() -> Void] {
    let known = Set(before.map { ObjectIdentifier($0.node) })
    let seen = Set(now.map { ObjectIdentifier($0.node) })
    let gone = before.filter { !seen.contains(ObjectIdentifier($0.node)) }
    let new = now.filter { !known.contains(ObjectIdentifier($0.node)) }
    before = now
    now = []
    return gone.map(\.appearance.disappear) + new.map(\.appearance.appear)
  }
}
