import NavigationModel
import StackHistory

/// What became of the stack, on a line: `list › item › -photo › +reviews`. What stayed far beneath is only counted.
func text(of effect: Effect, on console: Console) -> String {
  let lines = effect.lines
  guard !lines.isEmpty else { return console.styled("(root)", .dim) }
  let first = lines.firstIndex { $0.change != .same } ?? lines.count
  let hidden = max(0, first - 3)
  var parts: [String] = hidden > 1 ? ["…\(hidden)"] : []
  let shown = lines[(hidden > 1 ? hidden : 0)...]
  for line in shown.prefix(12) {
    let value = text(of: line.entry.value)
    switch line.change {
    case .same: parts.append(value)
    case .closed: parts.append(console.styled("-\(value)", .red))
    case .moved: parts.append(console.styled("^\(value)", .cyan))
    case .opened: parts.append(console.styled("+\(value)", .green))
    }
  }
  if shown.count > 12 { parts.append("and \(shown.count - 12) more") }
  return parts.joined(separator: " › ")
}

/// Why an event does nothing.
func reasonForVoid(_ number: Int, in loaded: LoadedHistory) -> String {
  if loaded.timeline.isLate(number) {
    return "its clock is not above what its author had seen"
  }
  let event = loaded.timeline.event(number)
  let named: [EntryID] =
    switch event.action {
    case .push(let on, let values): values.isEmpty ? [] : [on].compactMap(\.self)
    case .pop(let entries): entries
    case .popToRoot: []
    case .set(let keep, _): keep
    case .replace(let entry, _): [entry]
    }
  guard let first = named.first else { return "it names nothing" }
  let what = named.count == 1 ? loaded.text(first) : "\(loaded.text(first)) and \(named.count - 1) more"
  return "it names \(what), which its author could not act on: not open, or something on it was"
}

/// A moment for people on a terminal, in their own time; for programs, in UTC.
func timeText(_ milliseconds: Int, on console: Console) -> String {
  console.isTerminal ? localTime(milliseconds: milliseconds) : rfc3339(milliseconds: milliseconds)
}

extension LoadedHistory {
  /// An entry's name for people.
  func text(_ id: EntryID) -> String { "\(text(id.dot)):\(id.index)" }

  /// The values of what an event's conflicts can name.
  func values(of entries: [Entry]) -> [EntryID: Value] {
    Dictionary(entries.map { ($0.id, $0.value) }) { first, _ in first }
  }
}
