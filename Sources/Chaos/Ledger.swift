package import NavigationModel

/// What devices told: every action that is on a device's disk, and which of them a daemon has. Nothing is ever taken back
/// but what a lost disk takes with it.
package struct Ledger: Sendable {
  package struct Entry: Hashable, Sendable, CustomStringConvertible {
    package var stack: String
    package var dot: Dot
    /// Empty for an action without a value.
    package var mark: String
    package var isAccepted = false
    /// The only disk that it was on is lost.
    package var isLost = false

    package var description: String {
      "\(stack) \(dot) \(mark.isEmpty ? "(no mark)" : mark), \(isAccepted ? "acknowledged by the daemon" : "acknowledged by the device alone")"
    }
  }

  private struct Chain: Hashable, Sendable {
    var stack: String
    var device: DeviceID
  }

  private var chains: [Chain: [Entry]] = [:]
  /// Ids that went on under another one.
  private var former: Set<DeviceID> = []
  package private(set) var actions = 0
  package private(set) var accepted = 0

  package init() {}

  package mutating func acted(_ stack: String, _ dot: Dot, mark: String) {
    chains[Chain(stack: stack, device: dot.device), default: []].append(Entry(stack: stack, dot: dot, mark: mark))
    actions += 1
  }

  package mutating func accepted(_ stack: String, _ dot: Dot) {
    let chain = Chain(stack: stack, device: dot.device)
    guard var entries = chains[chain] else { return }
    for place in entries.indices.reversed() where entries[place].dot.sequence <= dot.sequence {
      if entries[place].isAccepted { break }
      entries[place].isAccepted = true
      accepted += 1
    }
    chains[chain] = entries
  }

  /// A device acts under another id from now on; what it did is then found by its marks.
  package mutating func replaced(_ device: DeviceID) { former.insert(device) }

  /// A device's disk is lost, and with it what no daemon had.
  ///
  /// - Returns: how many actions.
  package mutating func lostDisk(of device: DeviceID) -> Int {
    var lost = 0
    for (chain, entries) in chains where chain.device == device {
      for place in entries.indices where !entries[place].isAccepted && !entries[place].isLost {
        chains[chain]![place].isLost = true
        lost += 1
      }
    }
    return lost
  }

  /// What a device acted since then may be lost, whoever acknowledged it.
  package mutating func mayBeLost(of device: DeviceID, since earlier: Ledger) {
    for (chain, entries) in chains where chain.device == device {
      for place in (earlier.chains[chain]?.count ?? 0)..<entries.count { chains[chain]![place].isLost = true }
    }
  }

  /// What was acknowledged and isn't in a store, or is there with something else in it.
  ///
  /// - Parameters:
  ///   - stacks: what the store should have; nil: all.
  ///   - promised: by whom it was acknowledged to be on its own disk; nil: by anybody.
  package func missing(in view: StoreView, stacks: Set<String>? = nil, promised: Promise? = nil) -> [Entry] {
    chains.values.flatMap(\.self).filter { entry in
      if entry.isLost || stacks?.contains(entry.stack) == false { return false }
      switch promised {
      case .daemon where !entry.isAccepted: return false
      case .device(let device) where entry.dot.device != device: return false
      case .daemon, .device, nil: break
      }
      guard let stack = view.stacks[entry.stack] else { return true }
      if stack.marks[entry.dot] == entry.mark { return false }
      guard former.contains(entry.dot.device) else { return true }
      // Without a mark there is no telling which of the events of the new id it is.
      return !entry.mark.isEmpty && !stack.allMarks.contains(entry.mark)
    }.sorted { ($0.stack, "\($0.dot)") < ($1.stack, "\($1.dot)") }
  }

  /// Who says that it is on a disk of its own.
  package enum Promise: Hashable, Sendable {
    case daemon
    /// One that is known by this id.
    case device(DeviceID)
  }
}
