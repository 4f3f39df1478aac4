/// A command as data: what the parser, the help screens, and writers of man pages and shell completions walk.
package struct CommandDescription: Hashable, Sendable {
  /// The words that call it: `["navsync", "push"]`.
  package var path: [String]
  package var abstract: String
  package var discussion: String
  package var arguments: [ArgumentDescription]
  /// In the order declared, those of groups where the group stands.
  package var options: [OptionDescription]
  package var subcommands: [CommandDescription]
  package var examples: [CommandExample]
  package var exitCodes: [ExitCodeDescription]
  package var isHidden: Bool
  /// Whether it may be called without one of its subcommands.
  package var runsAlone: Bool

  package var name: String { path.last ?? "" }
}

/// An argument that is known by its place.
package struct ArgumentDescription: Hashable, Sendable {
  /// In kebab case: `<name>` on help screens.
  package var name: String
  package var help: String
  package var isRequired: Bool
  /// Takes all that is left; only the last argument may.
  package var isRest: Bool
  /// The default as it would be typed.
  package var defaultText: String?
  /// All the values that are allowed; empty: not a closed list.
  package var choices: [String]
}

/// An option or a flag.
package struct OptionDescription: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// Takes no value.
    case flag
    /// Takes one value; the last one given counts.
    case value
    /// May be given many times; all count.
    case repeated
  }

  /// Without the dashes.
  package var name: String
  package var short: Character?
  package var kind: Kind
  /// What stands for the value on help screens, such as `NAME`.
  package var placeholder: String
  package var help: String
  /// The environment variable that is asked when the option isn't given.
  package var environment: String?
  package var isRequired: Bool
  package var isHidden: Bool
  package var defaultText: String?
  package var choices: [String]
}

extension CommandDescription {
  /// The description of a command and of all below it.
  ///
  /// Traps on a declaration that can't work: two options of one name, an argument after one that may be left out.
  package init(_ command: any ParsableCommand.Type) {
    self.init(command, parent: [], inheritedExitCodes: [])
  }

  private init(
    _ command: any ParsableCommand.Type, parent: [String], inheritedExitCodes: [ExitCodeDescription]
  ) {
    let configuration = command.configuration
    path = parent + [configuration.name]
    abstract = configuration.abstract
    discussion = configuration.discussion
    examples = configuration.examples
    exitCodes = configuration.exitCodes.isEmpty ? inheritedExitCodes : configuration.exitCodes
    isHidden = configuration.isHidden
    runsAlone = configuration.runsAlone
    arguments = []
    options = []
    subcommands = []
    for declaration in declarations(of: command.init()) {
      switch declaration {
      case .argument(let argument): arguments.append(argument)
      case .option(let option): options.append(option)
      }
    }
    for subcommand in configuration.subcommands {
      subcommands.append(CommandDescription(subcommand, parent: path, inheritedExitCodes: exitCodes))
    }
    checkDeclaration()
  }

  private func checkDeclaration() {
    let spelled = path.joined(separator: " ")
    var names: Set<String> = ["help", "version"]
    for name in options.map(\.name) {
      precondition(names.insert(name).inserted, "'\(spelled)' declares --\(name) twice")
    }
    var shorts: Set<Character> = ["h"]
    for short in options.compactMap(\.short) {
      precondition(shorts.insert(short).inserted, "'\(spelled)' declares -\(short) twice")
    }
    for (left, right) in zip(arguments, arguments.dropFirst()) {
      precondition(!left.isRest, "'\(spelled)' has an argument after one that takes the rest")
      precondition(left.isRequired || !right.isRequired, "'\(spelled)' requires an argument after an optional one")
    }
    precondition(subcommands.isEmpty || arguments.isEmpty, "'\(spelled)' has both arguments and subcommands")
  }
}
