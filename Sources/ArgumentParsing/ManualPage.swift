extension CommandDescription {
  /// This command and all below it that are listed.
  package var visible: [CommandDescription] { [self] + subcommands.filter { !$0.isHidden }.flatMap(\.visible) }

  /// The manual page in the man macros (man(7)), section 1.
  package func manualPage(version: String) -> String {
    let title = path.joined(separator: "-")
    var lines = [
      ".TH \(roff(title.uppercased())) 1 \"\" \"\(roff(path[0])) \(roff(version))\" \"User Commands\"",
      ".SH NAME", "\(roff(title)) \\- \(roff(abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract))",
      ".SH SYNOPSIS", ".nf", ".B \(roff(usageLine))", ".fi",
    ]
    if !discussion.isEmpty {
      lines.append(".SH DESCRIPTION")
      for (place, paragraph) in discussion.split(separator: "\n\n").enumerated() {
        if place > 0 { lines.append(".PP") }
        lines.append(roff(String(paragraph)))
      }
    }
    func section(_ title: String, _ rows: [(String, String)]) {
      guard !rows.isEmpty else { return }
      lines.append(".SH \(title)")
      for (term, text) in rows { lines += [".TP", "\\fB\(roff(term))\\fR", roff(text)] }
    }
    let commands = subcommands.filter { !$0.isHidden }
    section("COMMANDS", commands.map { ($0.name, $0.abstract) })
    section("ARGUMENTS", arguments.map { ($0.name, $0.fullHelp) })
    section("OPTIONS", optionRows.map { ($0.trimmed, $1) })
    let variables = options.filter { !$0.isHidden }.compactMap { option in
      option.environment.map { ($0, "Stands for --\(option.name).") }
    }
    section("ENVIRONMENT", variables)
    if !examples.isEmpty {
      lines.append(".SH EXAMPLES")
      for example in examples {
        lines += [".PP", roff(example.explanation), ".RS", ".nf", "$ " + roff(example.line), ".fi", ".RE"]
      }
    }
    section("EXIT STATUS", exitCodes.map { (String($0.code), $0.meaning) })
    let others =
      commands.map { (path + [$0.name]).joined(separator: "-") }
      + (path.count > 1 ? [path.dropLast().joined(separator: "-")] : [])
    if !others.isEmpty {
      lines += [".SH SEE ALSO", others.map { "\\fB\(roff($0))\\fR(1)" }.joined(separator: ", ")]
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// A text in which roff sees no request and no escape.
private func roff(_ text: String) -> String {
  var result = ""
  for character in text {
    switch character {
    case "\\": result += "\\e"
    case "-": result += "\\-"
    case "'": result += "\\(aq"
    case "\"": result += "\\(dq"
    case "`": result += "\\(ga"
    case "^": result += "\\(ha"
    case "~": result += "\\(ti"
    case _: result.append(character)
    }
  }
  return result.hasPrefix(".") ? "\\&" + result : result
}

extension String {
  fileprivate var trimmed: String { String(drop { $0 == " " }) }
}
