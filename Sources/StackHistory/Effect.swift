package import NavigationModel

/// What lies between two stacks: what stayed, what was closed, what was opened.
package struct Effect: Hashable, Sendable {
  /// One entry and what became of it.
  package struct Line: Hashable, Sendable {
    package enum Change: String, Hashable, Sendable {
      case same
      case closed
      case opened
      /// It was shown before, at another place among those that stay.
      case moved
    }

    package var change: Change
    package var entry: Entry
  }

  /// Bottom to top: the entries of the later stack, with the closed ones where they stood.
  package var lines: [Line]

  /// - Parameters:
  ///   - before: distinct entries, bottom to top.
  ///   - after: the same.
  package init(from before: [Entry], to after: [Entry]) {
    self.init(from: before, to: after, isUnique: true, identity: \.id)
  }

  /// Compares the values only, for stacks that share no history.
  package init(valuesFrom before: [Entry], to after: [Entry]) {
    self.init(from: before, to: after, isUnique: false, identity: \.value)
  }

  /// - Parameter isUnique: no two entries of a stack are identical, so that one which went and came has moved.
  private init(from before: [Entry], to after: [Entry], isUnique: Bool, identity: (Entry) -> some Hashable) {
    var lines: [Line] = []
    // The common beginning and end first: nearly always one of them is all but a few.
    let begin = zip(before, after).prefix { identity($0) == identity($1) }.count
    lines += after[..<begin].map { Line(change: .same, entry: $0) }
    let old = before[begin...]
    let new = after[begin...]
    let difference = new.map(identity).difference(from: old.map(identity))
    var removed: Set<Int> = []
    var added: Set<Int> = []
    for change in difference {
      switch change {
      case .remove(let place, _, _): removed.insert(place)
      case .insert(let place, _, _): added.insert(place)
      }
    }
    var (left, right) = (0, 0)
    let gone = Set((isUnique ? removed : []).map { identity(old[old.startIndex + $0]) })
    let come = Set((isUnique ? added : []).map { identity(new[new.startIndex + $0]) })
    while left < old.count || right < new.count {
      if removed.contains(left), come.contains(identity(old[old.startIndex + left])) {
        left += 1
      } else if removed.contains(left) {
        lines.append(Line(change: .closed, entry: old[old.startIndex + left]))
        left += 1
      } else if added.contains(right) {
        let entry = new[new.startIndex + right]
        lines.append(Line(change: gone.contains(identity(entry)) ? .moved : .opened, entry: entry))
        right += 1
      } else {
        lines.append(Line(change: .same, entry: new[new.startIndex + right]))
        left += 1
        right += 1
      }
    }
    self.lines = lines
  }

  package var isEmpty: Bool { lines.allSatisfy { $0.change == .same } }
  package var opened: [Entry] { lines.filter { $0.change == .opened }.map(\.entry) }
  package var closed: [Entry] { lines.filter { $0.change == .closed }.map(\.entry) }
}

extension Timeline {
  /// What the n-th event did to the shown stack.
  package mutating func effect(of number: Int) -> Effect {
    Effect(from: entries(at: number - 1), to: entries(at: number))
  }

  /// The path without what an event did: what it opened is closed, what it closed stands again where it stood, and what
  /// came after it stays. nil if nothing of it is left to undo.
  package mutating func pathUndoing(_ number: Int) -> [Value]? {
    let before = entries(at: number - 1)
    let effect = effect(of: number)
    let opened = Set(effect.opened.map(\.id))
    let now = entries(at: count)
    var result = now.filter { !opened.contains($0.id) }
    let closed = Set(effect.closed.map(\.id)).subtracting(result.map(\.id))
    for (place, entry) in before.enumerated() where closed.contains(entry.id) {
      let beneath = before[..<place].last { lower in result.contains { $0.id == lower.id } }
      let at = beneath.flatMap { lower in result.firstIndex { $0.id == lower.id } }.map { $0 + 1 } ?? 0
      result.insert(entry, at: at)
    }
    return result == now ? nil : result.map(\.value)
  }
}
