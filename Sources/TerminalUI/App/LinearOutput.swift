/// What is printed where there is no screen: the whole of each new screen, then a line for each change.
struct LinearOutput {
  private var lines: [String] = []
  private var screen: ObjectIdentifier?

  /// The lines to be printed for a picture.
  ///
  /// - Parameters:
  ///   - lines: the picture; the line that has the focus begins with `> `.
  ///   - screen: which screen it is.
  ///   - announcements: what is to be announced, printed first.
  mutating func changes(to lines: [String], screen: ObjectIdentifier?, announcements: [String]) -> [String] {
    defer { (self.lines, self.screen) = (lines, screen) }
    let announced = announcements.map { "! \($0)" }
    guard screen == self.screen, !self.lines.isEmpty else {
      return announced + (self.lines.isEmpty ? [] : [""]) + lines
    }
    // A line that has only lost the focus isn't news.
    let known = Set(self.lines.map(plain))
    let changed = lines.difference(from: self.lines).insertions.compactMap { change -> String? in
      guard case .insert(_, let line, _) = change else { return nil }
      return line.hasPrefix("> ") || !known.contains(line) ? line : nil
    }
    return announced + changed
  }

  private func plain(_ line: String) -> String { line.hasPrefix("> ") ? String(line.dropFirst(2)) : line }
}

/// What a person types where there is no screen: a line at a time.
enum LinearInput {
  /// What is printed for `?`.
  static let help = [
    "Type one of these and Enter:",
    "  (nothing)   open or press what is marked with >",
    "  j, k        the next, the previous (also with a number: 5j)",
    "  t           the next control",
    "  b           back",
    "  g           to the root",
    "  l           read the screen again",
    "  /text       search",
    "  =text       type the text in the field that is marked",
    "  q           quit",
  ]

  enum Command: Equatable {
    case events([InputEvent])
    case help
    case readAgain
    case unknown
  }

  static func command(_ line: String) -> Command {
    func keys(_ keys: KeyPress.Key...) -> Command { .events(keys.map { .key(KeyPress($0)) }) }
    if line.hasPrefix("=") {
      // In place of what is there.
      return .events([.key(KeyPress(.end)), .key(KeyPress("u", .control)), .paste(String(line.dropFirst()))])
    }
    if line.hasPrefix("/") {
      let text = String(line.dropFirst())
      return .events([
        .key(KeyPress("/")), .key(KeyPress(.end)), .key(KeyPress("u", .control)), .paste(text), .key(KeyPress(.enter)),
      ])
    }
    if let key = line.last, key == "j" || key == "k", let count = line.count == 1 ? 1 : Int(line.dropLast()) {
      guard count > 0, count <= 10_000 else { return .unknown }
      return .events(Array(repeating: .key(KeyPress(key == "j" ? .down : .up)), count: count))
    }
    switch line {
    case "": return keys(.enter)
    case "t": return keys(.tab)
    case "b": return keys(.escape)
    case "g": return keys(.character("g"))
    case "l": return .readAgain
    case "?": return .help
    case "q": return .events([.key(KeyPress("c", .control))])
    default: return .unknown
    }
  }
}
