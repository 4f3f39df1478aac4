package import NavigationModel
import Specification

/// Every history of so many steps by so many devices under one policy, each folded in every order of arrival and
/// compared with the specification.
///
/// A step is a device's action (push, pop of one or two, to the root, a deep link, a replacement) or a pull of all that
/// another device holds. A history that has a step which changes nothing is the one without that step, and is checked
/// as that. Pure and deterministic; a search splits into parts that can run beside each other.
package struct ExhaustiveSearch: Sendable, CustomStringConvertible {
  package let policy: Policy
  /// How far each device's clock is ahead, in steps; as many as there are devices.
  package let skews: [Int]
  package let steps: Int
  /// Arrival orders tried of one history, at most.
  package let orderLimit: Int

  package init(policy: Policy, skews: [Int], steps: Int, orderLimit: Int = 1000) {
    self.policy = policy
    self.skews = skews
    self.steps = steps
    self.orderLimit = orderLimit
  }

  /// What a search went through.
  package struct Counts: Hashable, Sendable {
    /// Sequences of exactly so many steps that the search stands for.
    package var sequences = 0
    /// Histories that were checked, shorter ones among them.
    package var histories = 0
    /// Orders of arrival that were folded.
    package var orders = 0
    /// Histories that have more orders than were tried.
    package var cutShort = 0

    package init() {}

    package static func += (left: inout Counts, right: Counts) {
      left.sequences += right.sequences
      left.histories += right.histories
      left.orders += right.orders
      left.cutShort += right.cutShort
    }
  }

  private var moves: [SmallWorld.Move] { SmallWorld.moves(devices: skews.count) }

  /// How many parts the search has: one for each first step.
  package var parts: Int { moves.count }

  /// Goes through one part.
  package func run(part: Int) throws(Counterexample) -> Counts {
    var walk = Walk(search: self, moves: moves)
    try walk.step(moves[part], SmallWorld(policy: policy, skews: skews))
    return walk.counts
  }

  package var description: String {
    let name =
      switch policy {
      case .merge: "merge"
      case .latest: "latest"
      case .lead: "lead:A"
      }
    return "\(skews.count) devices, \(steps) steps, \(name), clocks ahead by \(skews)"
  }
}

/// A walk through the tree of histories.
private struct Walk {
  let search: ExhaustiveSearch
  let moves: [SmallWorld.Move]
  var counts = ExhaustiveSearch.Counts()
  private var path: [SmallWorld.Move] = []

  init(search: ExhaustiveSearch, moves: [SmallWorld.Move]) {
    self.search = search
    self.moves = moves
  }

  mutating func step(_ move: SmallWorld.Move, _ before: SmallWorld) throws(Counterexample) {
    var world = before
    path.append(move)
    defer { path.removeLast() }
    do throws(Counterexample) {
      let isChange = try world.make(move)
      let left = search.steps - path.count
      guard isChange else {
        counts.sequences += power(moves.count, left)
        return
      }
      if case .act = move { try check(world) }
      guard left > 0 else {
        counts.sequences += 1
        return
      }
    } catch {
      var located = error
      if located.history.isEmpty { located.history = "\(search)\n" + path.map { "  \($0)\n" }.joined() }
      throw located
    }
    for next in moves { try step(next, world) }
  }

  private func power(_ base: Int, _ exponent: Int) -> Int { (0..<exponent).reduce(1) { product, _ in product * base } }

  private mutating func check(_ world: SmallWorld) throws(Counterexample) {
    counts.histories += 1
    var specification = SpecificationFold(policy: search.policy)
    for event in world.events { specification.apply(event) }
    let entries = specification.entries
    let conflicts = specification.conflicts.sorted()
    let orders = ArrivalOrders(world.events, limit: search.orderLimit)
    let count = try orders.forEach { (order) throws(Counterexample) in
      var fold = StackFold(policy: search.policy)
      for place in order { fold.apply(world.events[place]) }
      guard fold.entries() == entries, fold.conflicts() == conflicts else {
        throw Counterexample("the fold differs from the specification when events arrive as \(order)")
      }
      if search.policy == .merge { try checkForgetting(world, order, entries, conflicts) }
    }
    counts.orders += count
    if count == search.orderLimit { counts.cutShort += 1 }
  }

  /// A replica that forgets as soon as it may shows and reports the same.
  private func checkForgetting(
    _ world: SmallWorld, _ order: [Int], _ entries: [Entry], _ conflicts: [Conflict]
  ) throws(Counterexample) {
    var fold = StackFold(policy: search.policy)
    var newest: [DeviceID: VersionVector] = [:]
    for place in order {
      let event = world.events[place]
      fold.apply(event)
      var known = event.context
      known[event.dot.device] = event.dot.sequence
      newest[event.dot.device] = known
      guard newest.count == world.devices.count else { continue }
      let stable = newest.values.reduce(known) { $0.met(with: $1) }
      fold.forget(stable: stable)
    }
    guard fold.entries() == entries, fold.conflicts() == conflicts else {
      throw Counterexample("a fold that forgets differs from one that doesn't when events arrive as \(order)")
    }
  }
}

extension ExhaustiveSearch {
  /// Two devices by five steps and three by four under every policy, with clocks that agree and clocks that don't.
  package static let full = searches(stepsOfTwo: 5, stepsOfThree: 4)

  /// A bound that takes a moment, for tests.
  package static let small = searches(stepsOfTwo: 3, stepsOfThree: 2)

  private static func searches(stepsOfTwo: Int, stepsOfThree: Int) -> [ExhaustiveSearch] {
    let policies: [Policy] = [.merge, .latest, .lead(SmallWorld.id(0))]
    return policies.flatMap { policy in
      [[0, 0], [0, 100], [100, 0]].map { ExhaustiveSearch(policy: policy, skews: $0, steps: stepsOfTwo) }
        + [[0, 0, 0], [0, 100, 50]].map { ExhaustiveSearch(policy: policy, skews: $0, steps: stepsOfThree) }
    }
  }
}
