extension CommandDescription {
  /// The help screen: text of lines at most `width` columns wide, where words allow, ending with a line break.
  package func helpScreen(width: Int = 80) -> String {
    let width = max(width, 40)
    var lines = wrapped("\(path.joined(separator: " ")): \(abstract)", width: width, indent: "")
    func section(_ title: String, _ body: [String]) {
      if !body.isEmpty { lines += ["", title] + body }
    }
    section("USAGE", ["  " + usageLine])
    for paragraph in discussion.split(separator: "\n\n") {
      lines += [""] + wrapped(String(paragraph), width: width, indent: "")
    }
    section("COMMANDS", table(subcommands.filter { !$0.isHidden }.map { ($0.name, $0.abstract) }, width: width))
    section("ARGUMENTS", table(arguments.map { ("<\($0.name)>", $0.fullHelp) }, width: width))
    section("OPTIONS", table(optionRows, width: width))
    section(
      "EXAMPLES",
      examples.flatMap { ["  $ \($0.line)"] + wrapped($0.explanation, width: width, indent: "      ") })
    section("EXIT CODES", table(exitCodes.map { (String($0.code), $0.meaning) }, width: width))
    if !subcommands.isEmpty {
      lines += ["", "\(path.joined(separator: " ")) help COMMAND tells more of one of them."]
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// How the command is called, in one line.
  package var usageLine: String {
    var words = [path.joined(separator: " ")]
    if !subcommands.isEmpty { words.append(runsAlone ? "[COMMAND]" : "COMMAND") }
    words += options.filter { $0.isRequired && $0.environment == nil }.map { "--\($0.name) \($0.placeholder)" }
    if options.contains(where: { !$0.isHidden }) { words.append("[options]") }
    words += arguments.map { argument in
      let name = "<\(argument.name)>" + (argument.isRest ? "..." : "")
      return argument.isRequired ? name : "[\(name)]"
    }
    return words.joined(separator: " ")
  }

  /// The options with their help, as on screens.
  var optionRows: [(String, String)] {
    var rows = options.filter { !$0.isHidden }.map { ($0.spelling, $0.fullHelp) }
    rows.append(("-h, --help", "Show this help."))
    if path.count == 1 { rows.append(("    --version", "Show the version.")) }
    return rows
  }
}

extension ArgumentDescription {
  /// The help with what else a reader must know.
  var fullHelp: String {
    annotated(help, [choices.oneOf, defaultText.map { "default: \($0)" }])
  }
}

extension OptionDescription {
  /// `-d, --device NAME`, with room where there is no short name.
  fileprivate var spelling: String {
    (short.map { "-\($0), " } ?? "    ") + "--\(name)" + (kind == .flag ? "" : " \(placeholder)")
  }

  /// The help with what else a reader must know.
  var fullHelp: String {
    annotated(
      help,
      [
        choices.oneOf, isRequired ? "required" : nil, kind == .repeated ? "may be repeated" : nil,
        environment.map { "env: \($0)" }, defaultText.map { "default: \($0.isEmpty ? "''" : $0)" },
      ])
  }
}

extension [String] {
  fileprivate var oneOf: String? { isEmpty ? nil : "one of: " + joined(separator: ", ") }
}

private func annotated(_ help: String, _ notes: [String?]) -> String {
  let notes = notes.compactMap(\.self)
  return notes.isEmpty ? help : "\(help) (\(notes.joined(separator: "; ")))"
}

/// Two columns, the second wrapped; a long first one has its line to itself.
private func table(_ rows: [(String, String)], width: Int) -> [String] {
  let most = min(width / 3, 28)
  let column = rows.map(\.0.count).filter { $0 <= most }.max() ?? most
  let indent = String(repeating: " ", count: column + 4)
  return rows.flatMap { left, right in
    var lines = wrapped(right, width: width, indent: indent)
    if lines.isEmpty || left.count > column { return ["  " + left] + lines }
    lines[0] = "  " + left + String(repeating: " ", count: column - left.count + 2) + lines[0].dropFirst(indent.count)
    return lines
  }
}

private func wrapped(_ text: String, width: Int, indent: String) -> [String] {
  var lines: [String] = []
  var line = ""
  for word in text.split(whereSeparator: \.isWhitespace) {
    if !line.isEmpty, indent.count + line.count + 1 + word.count > width {
      lines.append(indent + line)
      line = ""
    }
    line += (line.isEmpty ? "" : " ") + word
  }
  return line.isEmpty ? lines : lines + [indent + line]
}
