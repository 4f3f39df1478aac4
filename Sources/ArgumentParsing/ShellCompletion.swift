// Completion scripts of shells, made from the descriptions that the help screens are made from.

/// A script for bash, for all these programs.
package func bashCompletion(of programs: [CommandDescription]) -> String {
  var lines = [
    "# bash completion of \(programs.map(\.name).joined(separator: " and ")); made by '\(programs[0].name) completion bash'"
  ]
  for program in programs {
    let function = "_" + program.name
    lines += [
      "\(function)() {",
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path=\(program.name) word place=0",
      "  local -a words=(\"${COMP_WORDS[@]:1:COMP_CWORD-1}\")", "  COMPREPLY=()",
    ]
    if !program.subcommands.isEmpty {
      lines += [
        "  for word in \"${words[@]}\"; do", "    case \"$path $word\" in",
        "      \(program.visible.filter { $0.path.count > 1 }.map { "'" + $0.path.joined(separator: " ") + "'" }.joined(separator: "|"))) path=\"$path $word\" ;;",
        "      *\\ -*) ;;", "      *) place=$((place + 1)) ;;", "    esac", "  done",
      ]
    }
    lines.append("  case \"$path\" in")
    for command in program.visible {
      lines.append("    '\(command.path.joined(separator: " "))')")
      let valued = command.options.filter { !$0.isHidden && $0.kind != .flag }
      if !valued.isEmpty {
        lines.append("      case $prev in")
        for option in valued {
          let names = (["--\(option.name)"] + (option.short.map { ["-\($0)"] } ?? [])).joined(separator: "|")
          let reply =
            !option.choices.isEmpty
            ? "mapfile -t COMPREPLY < <(compgen -W '\(option.choices.joined(separator: " "))' -- \"$cur\")"
            : option.takesFile ? "compopt -o default" : ":"
          lines.append("        \(names)) \(reply); return ;;")
        }
        lines.append("      esac")
      }
      let flags =
        command.options.filter { !$0.isHidden }.flatMap { ["--\($0.name)"] + ($0.short.map { ["-\($0)"] } ?? []) }
        + ["--help", "-h"]
      lines.append(
        "      if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '\(flags.joined(separator: " "))' -- \"$cur\"); return; fi"
      )
      if !command.subcommands.isEmpty {
        let names = command.subcommands.filter { !$0.isHidden }.map(\.name) + (command.path.count == 1 ? ["help"] : [])
        lines.append("      mapfile -t COMPREPLY < <(compgen -W '\(names.joined(separator: " "))' -- \"$cur\")")
      } else if let argument = command.arguments.first {
        if !argument.choices.isEmpty {
          lines.append(
            "      mapfile -t COMPREPLY < <(compgen -W '\(argument.choices.joined(separator: " "))' -- \"$cur\")")
        } else if argument.isStack {
          lines.append(
            "      if [ $place -eq 0 ]; then mapfile -t COMPREPLY < <(compgen -W \"$(\(program.name) ls 2>/dev/null | cut -d' ' -f1)\" -- \"$cur\"); fi"
          )
          lines.append("      [ ${#COMPREPLY[@]} -gt 0 ] || compopt -o default")
        } else {
          lines.append("      compopt -o default")
        }
      }
      lines.append("      ;;")
    }
    lines += ["  esac", "}", "complete -F \(function) \(program.name)"]
  }
  return lines.joined(separator: "\n") + "\n"
}

/// A script for zsh, for all these programs.
package func zshCompletion(of programs: [CommandDescription]) -> String {
  var lines = [
    "#compdef \(programs.map(\.name).joined(separator: " "))", "# made by '\(programs[0].name) completion zsh'",
  ]
  lines += [
    "_\(programs[0].name)_stacks() {", "  local -a stacks",
    "  stacks=(${(f)\"$(\(programs[0].name) ls 2>/dev/null | cut -d' ' -f1)\"})",
    "  (( $#stacks )) && compadd -a stacks || _files", "}",
  ]
  for command in programs.flatMap(\.visible) {
    lines.append("\(zshFunction(command))() {")
    var specifications = command.options.filter { !$0.isHidden }.map(zshSpecification)
    specifications.append("'(-h --help)'{-h,--help}'[Show this help.]'")
    if command.subcommands.isEmpty {
      for argument in command.arguments {
        let action =
          !argument.choices.isEmpty
          ? "(\(argument.choices.joined(separator: " ")))"
          : argument.isStack ? "_\(programs[0].name)_stacks" : "_files"
        specifications.append("'\(argument.isRest ? "*" : argument.isRequired ? "" : ":"):\(argument.name):\(action)'")
      }
      lines.append("  _arguments -S \\")
      lines += specifications.map { "    \($0) \\" }
      lines += ["    && return 0", "}"]
      continue
    }
    lines.append("  local context state line")
    lines.append("  _arguments -C \\")
    lines += specifications.map { "    \($0) \\" }
    lines += ["    '1:command:->command' '*::arguments:->arguments'", "  case $state in", "  command)"]
    lines.append("    local -a commands=(")
    for sub in command.subcommands where !sub.isHidden {
      lines.append("      '\(sub.name):\(zshQuoted(sub.abstract))'")
    }
    lines += ["    )", "    _describe command commands ;;", "  arguments)", "    case $line[1] in"]
    for sub in command.subcommands where !sub.isHidden { lines.append("    \(sub.name)) \(zshFunction(sub)) ;;") }
    lines += ["    esac ;;", "  esac", "}"]
  }
  lines.append("case $service in")
  for program in programs { lines.append("\(program.name)) \(zshFunction(program)) \"$@\" ;;") }
  lines.append("esac")
  return lines.joined(separator: "\n") + "\n"
}

/// A script for fish, for all these programs.
package func fishCompletion(of programs: [CommandDescription]) -> String {
  var lines = ["# made by '\(programs[0].name) completion fish'"]
  for program in programs {
    lines.append("complete -c \(program.name) -f")
    for command in program.visible {
      // Where the words typed so far are this command's: its own name is there, and none of its subcommands' is.
      var condition = command.path.dropFirst().map { "__fish_seen_subcommand_from \($0)" }
      let below = command.subcommands.filter { !$0.isHidden }.map(\.name)
      if !below.isEmpty { condition.append("not __fish_seen_subcommand_from \(below.joined(separator: " "))") }
      let when = condition.isEmpty ? "" : " -n '\(condition.joined(separator: "; and "))'"
      for sub in command.subcommands where !sub.isHidden {
        lines.append("complete -c \(program.name)\(when) -a \(sub.name) -d '\(fishQuoted(sub.abstract))'")
      }
      for option in command.options where !option.isHidden {
        var line = "complete -c \(program.name)\(when) -l \(option.name)"
        if let short = option.short { line += " -s \(short)" }
        if option.kind != .flag {
          line += option.takesFile && option.choices.isEmpty ? " -r -F" : " -x"
          if !option.choices.isEmpty { line += " -a '\(option.choices.joined(separator: " "))'" }
        }
        lines.append(line + " -d '\(fishQuoted(option.help))'")
      }
      if let argument = command.arguments.first, command.subcommands.isEmpty {
        if !argument.choices.isEmpty {
          lines.append("complete -c \(program.name)\(when) -a '\(argument.choices.joined(separator: " "))'")
        } else {
          if argument.isStack {
            lines.append(
              "complete -c \(program.name)\(when) -a '(\(program.name) ls 2>/dev/null | string replace -r \" .*\" \"\")'"
            )
          }
          if argument.takesFile { lines.append("complete -c \(program.name)\(when) -F") }
        }
      }
    }
  }
  return lines.joined(separator: "\n") + "\n"
}

extension ArgumentDescription {
  /// Whether stacks are offered for it.
  fileprivate var isStack: Bool { name == "stack" || name == "what" }
  fileprivate var takesFile: Bool { name == "what" || name == "file" || name == "backup" }
}

extension OptionDescription {
  fileprivate var takesFile: Bool { ["PATH", "FILE", "FOLDER"].contains(placeholder) }
}

private func zshFunction(_ command: CommandDescription) -> String { "_" + command.path.joined(separator: "_") }

private func zshSpecification(_ option: OptionDescription) -> String {
  let repeated = option.kind == .repeated ? "*" : ""
  let action =
    option.kind == .flag
    ? ""
    : ":\(option.placeholder):"
      + (!option.choices.isEmpty
        ? "(\(option.choices.joined(separator: " ")))" : option.takesFile ? "_files" : " ")
  let help = "[\(zshQuoted(option.help))]\(action)"
  guard let short = option.short else {
    return "'\(repeated)--\(option.name)\(option.kind == .flag ? "" : "=")\(help)'"
  }
  let names = "{-\(short)\(option.kind == .flag ? "" : "+"),--\(option.name)\(option.kind == .flag ? "" : "=")}"
  return repeated.isEmpty ? "'(-\(short) --\(option.name))'\(names)'\(help)'" : "'*'\(names)'\(help)'"
}

private func zshQuoted(_ text: String) -> String {
  var result = ""
  for character in text {
    switch character {
    case "'": result += "'\\''"
    case "[", "]", ":", "\\": result += "\\\(character)"
    case _: result.append(character)
    }
  }
  return result
}

private func fishQuoted(_ text: String) -> String {
  var result = ""
  for character in text {
    if character == "'" || character == "\\" { result.append("\\") }
    result.append(character)
  }
  return result
}
