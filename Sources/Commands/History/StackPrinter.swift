import NavigationModel

/// Prints a stack for people, the top last, with what the fold had to decide.
struct StackPrinter {
  let console: Console
  let names: DeviceNames

  func print(_ entries: [Entry], _ conflicts: [Conflict]) throws {
    if entries.isEmpty { try console.print(console.styled("(root)", .dim)) }
    for (place, entry) in entries.enumerated() {
      let name = "\(names.text(entry.id.dot.device)):\(entry.id.dot.sequence):\(entry.id.index)"
      let value = place == entries.count - 1 ? console.styled(text(of: entry.value), .bold) : text(of: entry.value)
      try console.print("\(place + 1)  \(value)  \(console.styled(name, .dim))")
    }
    guard !conflicts.isEmpty else { return }
    var values: [EntryID: Value] = [:]
    for entry in entries { values[entry.id] = entry.value }
    // Of a long history the void and overridden events are counted; the rest concerns what is shown.
    let shown = conflicts.filter { conflict in
      switch conflict {
      case .branches, .kept, .fork: true
      case .noop, .overridden: false
      }
    }
    for conflict in shown { try console.print(console.styled("! \(text(of: conflict, names, values))", .yellow)) }
    let others = conflicts.filter { !shown.contains($0) }
    for conflict in others.suffix(5) { try console.print("! \(text(of: conflict, names, values))") }
    if others.count > 5 {
      try console.print("! and \(others.count - 5) more void or overridden events; --json has all")
    }
  }
}
