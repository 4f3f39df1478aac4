/// The keys of what is to be seen, and what they do.
@MainActor
struct KeyHelp {
  private var rows: [(keys: String, meaning: String)] = []

  /// - Parameters:
  ///   - order: what can have the focus, and the program's own keys.
  ///   - hasStack: whether there are screens to go back to.
  init(_ order: FocusOrder, hasStack: Bool) {
    var own: [(keys: [String], meaning: String)] = []
    // A key means what the innermost view says, which has it last; so the modifiers of a view come in their order.
    var taken: Set<KeyPress> = []
    for key in order.shortcuts.reversed() where taken.insert(key.press).inserted {
      guard let meaning = key.meaning else { continue }
      if let place = own.firstIndex(where: { $0.meaning == meaning }) {
        own[place].keys.append(key.press.text)
      } else {
        own.append(([key.press.text], meaning))
      }
    }
    rows = own.map { ($0.keys.joined(separator: " "), $0.meaning) }
    let hasFocus = !order.items.isEmpty
    func add(_ presses: [KeyPress], _ keys: String, _ meaning: String, if isOfUse: Bool = true) {
      if isOfUse, presses.contains(where: { !taken.contains($0) }) { rows.append((keys, meaning)) }
    }
    add([KeyPress(.up), KeyPress("k")], "↑ ↓  k j", "move", if: hasFocus)
    add([KeyPress(.tab)], "Tab  Shift-Tab", "next, previous control", if: hasFocus)
    add([KeyPress(.enter), KeyPress(.right)], "Enter  →", "open, press", if: hasFocus)
    add([KeyPress(.escape), KeyPress(.backspace), KeyPress(.left)], "Esc  Backspace  ←", "back", if: hasStack)
    add([KeyPress("g")], "g", "to the root", if: hasStack)
    add([KeyPress(.pageUp), KeyPress(.home)], "PgUp PgDn Home End", "move far", if: hasFocus)
    add([KeyPress("/")], "/", "search", if: order.searchField != nil)
    let hasTabs = (1...9).contains { taken.contains(KeyPress(Character("\($0)"))) }
    if hasTabs { rows.append(("1 to 9", "a tab")) }
    add([KeyPress(.delete)], "Delete", "delete the row, where rows can be", if: hasFocus)
    rows += [("Ctrl-L", "draw again"), ("?", "this help"), ("q  Ctrl-C", "quit")]
  }

  func place(in rect: CellRect, on canvas: Canvas) {
    var place = rect.origin
    canvas.write("Keys", at: place, style: CellStyle(attributes: [.bold, .underline]))
    place.row += 1
    let width = rows.map { $0.keys.displayWidth }.max() ?? 0
    for (key, meaning) in rows {
      canvas.write(key, at: place, style: .plain)
      canvas.write(meaning, at: CellPosition(column: place.column + width + 2, row: place.row), style: .plain)
      place.row += 1
    }
    canvas.write("Any key closes this.", at: place, style: CellStyle(attributes: .dim))
  }
}

extension KeyPress {
  /// As the help spells it.
  fileprivate var text: String {
    let name: String =
      switch key {
      case .character(" "): "Space"
      case .character(let character): String(character)
      case .enter: "Enter"
      case .tab: "Tab"
      case .escape: "Esc"
      case .backspace: "Backspace"
      case .delete: "Delete"
      case .insert: "Insert"
      case .up: "↑"
      case .down: "↓"
      case .left: "←"
      case .right: "→"
      case .home: "Home"
      case .end: "End"
      case .pageUp: "PgUp"
      case .pageDown: "PgDn"
      case .function(let number): "F\(number)"
      }
    return (modifiers.contains(.control) ? "Ctrl-" : "") + (modifiers.contains(.alt) ? "Alt-" : "") + name
  }
}
