/// What a command line asks for.
package enum ParseOutcome: Sendable {
  case command(any ParsableCommand)
  /// A help screen is to be shown.
  case help(CommandDescription)
  /// The version is to be shown.
  case version
}

/// Reads a command line. Pure: it prints nothing, exits nowhere, and the environment is an argument.
///
/// - Parameters:
///   - root: the program as a command; its name is the program's.
///   - arguments: without the program's own name.
///   - environment: asked for options that aren't given and name a variable.
package func parse(
  _ root: any ParsableCommand.Type, arguments: [String], environment: [String: String] = [:]
) throws(UsageError) -> ParseOutcome {
  var command = root
  var description = CommandDescription(root)
  var rest = arguments[...]
  while !description.subcommands.isEmpty {
    if description.runsAlone, rest.first.map({ $0.hasPrefix("-") }) ?? true { break }
    guard let word = rest.popFirst() else { return .help(description) }
    switch word {
    case "--help", "-h": return .help(description)
    case "--version" where description.path.count == 1: return .version
    case "help": return .help(try find(rest, in: description))
    default:
      guard let place = description.subcommands.firstIndex(where: { $0.name == word }) else {
        throw UsageError(path: description.path, problem: unknown(word, in: description))
      }
      command = command.configuration.subcommands[place]
      description = description.subcommands[place]
    }
  }
  do {
    var words = WordReader(description: description, rest: rest)
    try words.readAll()
    if words.wantsHelp { return .help(description) }
    if words.wantsVersion { return .version }
    var matches = words.matches
    matches.environment = environment
    return .command(try fillAny(command, from: matches))
  } catch {
    throw UsageError(path: description.path, problem: error)
  }
}

private func fillAny(
  _ command: any ParsableCommand.Type, from matches: Matches
) throws(UsageError.Problem) -> any ParsableCommand {
  func open<Command: ParsableCommand>(_ type: Command.Type) throws(UsageError.Problem) -> any ParsableCommand {
    try fill(type, from: matches)
  }
  return try open(command)
}

/// The command that `help a b` names.
private func find(_ words: ArraySlice<String>, in root: CommandDescription) throws(UsageError) -> CommandDescription {
  var description = root
  for word in words where word != "--help" && word != "-h" {
    guard let next = description.subcommands.first(where: { $0.name == word }) else {
      throw UsageError(path: description.path, problem: unknown(word, in: description))
    }
    description = next
  }
  return description
}

private func unknown(_ word: String, in description: CommandDescription) -> UsageError.Problem {
  if word.hasPrefix("-"), word.count > 1 {
    let known = ["--help"] + (description.path.count == 1 ? ["--version"] : [])
    guard let near = nearest(to: word, among: known) else {
      return .invalid("options come after the command, but '\(word)' comes first; see \(description.name) --help")
    }
    return .unknownOption(word, suggestion: near)
  }
  let known = description.subcommands.filter { !$0.isHidden }.map(\.name) + ["help"]
  return .unknownCommand(word, suggestion: nearest(to: word, among: known))
}

/// Sorts the words of one command's line into options and arguments.
private struct WordReader {
  let description: CommandDescription
  var rest: ArraySlice<String>
  var matches = Matches()
  var wantsHelp = false
  var wantsVersion = false
  private var place = 0

  init(description: CommandDescription, rest: ArraySlice<String>) {
    self.description = description
    self.rest = rest
  }

  mutating func readAll() throws(UsageError.Problem) {
    // Help is given even where the rest of the line makes no sense.
    if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      wantsHelp = true
      return
    }
    while let word = rest.popFirst() {
      if word == "--" {
        for argument in rest { try readArgument(argument) }
        return
      } else if !isOption(word) {
        try readArgument(word)
      } else if word.hasPrefix("--") {
        try readLong(word)
      } else {
        try readShort(word)
      }
    }
  }

  /// `-` is a value, and so is a negative number unless a digit is declared as a short name.
  private func isOption(_ word: String) -> Bool {
    guard word.hasPrefix("-"), word.count > 1 else { return false }
    let second = word[word.index(after: word.startIndex)]
    let looksNegative = Double(word) != nil && (second.isNumber || second == ".")
    return !looksNegative || description.options.contains { $0.short == second }
  }

  private mutating func readArgument(_ word: String) throws(UsageError.Problem) {
    guard place < description.arguments.count else { throw .unexpectedArgument(word) }
    let argument = description.arguments[place]
    matches.arguments[argument.name, default: []].append(word)
    if !argument.isRest { place += 1 }
  }

  private mutating func readLong(_ word: String) throws(UsageError.Problem) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    if parts[0] == "--version", description.path.count == 1 {
      wantsVersion = true
      return
    }
    guard let option = description.options.first(where: { "--" + $0.name == parts[0] }) else {
      let known = description.options.filter { !$0.isHidden }.map { "--" + $0.name } + ["--help"]
      throw .unknownOption(parts[0], suggestion: nearest(to: parts[0], among: known))
    }
    try read(option, spelled: parts[0], attached: parts.count == 2 ? parts[1] : nil)
  }

  /// `-f`, `-n VALUE`, `-nVALUE`, `-n=VALUE`, and flags together as in `-fg`.
  private mutating func readShort(_ word: String) throws(UsageError.Problem) {
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = description.options.first(where: { $0.short == letter }) else {
        throw .unknownOption(letters.isEmpty && word.count == 2 ? word : "-\(letter)", suggestion: nil)
      }
      if option.kind == .flag, letters.first != "=" {
        try read(option, spelled: "-\(letter)", attached: nil)
      } else {
        let attached = letters.isEmpty ? nil : String(letters.first == "=" ? letters.dropFirst() : letters)
        try read(option, spelled: "-\(letter)", attached: attached)
        return
      }
    }
  }

  private mutating func read(
    _ option: OptionDescription, spelled: String, attached: String?
  ) throws(UsageError.Problem) {
    var text = attached
    if option.kind == .flag {
      if attached != nil { throw .unexpectedValue(option: spelled) }
      text = "1"
    } else if text == nil {
      guard let next = rest.first, !isOption(next) else { throw .missingValue(option: spelled, next: rest.first) }
      text = rest.popFirst()
    }
    matches.options[option.name, default: []].append(Matches.Given(text: text ?? "", source: spelled))
  }
}
