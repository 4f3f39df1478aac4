/// A command of a program, declared as a type: its arguments and options are properties marked with ``Argument``,
/// ``Option``, ``Flag`` and ``OptionGroup``.
///
/// Every stored property must be one of these. The conformance to `Decodable` is synthesised, and is only how the parser
/// makes a filled value; nothing is ever decoded from data.
///
///     struct Push: ParsableCommand {
///       static let configuration = CommandConfiguration(name: "push", abstract: "Put values on a stack.")
///       @Argument(help: "The stack, as space/stack.") var stack: String
///       @Option(help: "The device that acts.") var device = "laptop"
///     }
package protocol ParsableCommand: ParsableOptions {
  static var configuration: CommandConfiguration { get }
}

/// A set of options that several commands share by an ``OptionGroup``.
package protocol ParsableOptions: Decodable, Sendable {
  init()

  /// Checks what no single option can, such as two that exclude each other. Throws a ``ValueError``.
  func validate() throws
}

extension ParsableOptions {
  package func validate() throws {}
}

/// What a command says of itself beside its arguments and options.
package struct CommandConfiguration: Sendable {
  /// One word.
  package var name: String
  /// One sentence, for lists.
  package var abstract: String
  /// Paragraphs, separated by blank lines.
  package var discussion: String
  package var examples: [CommandExample]
  /// Empty: those of the command that this one belongs to.
  package var exitCodes: [ExitCodeDescription]
  /// A command with subcommands takes no arguments of its own.
  package var subcommands: [any ParsableCommand.Type]
  /// Whether it is a command also without a subcommand: then it may have options.
  package var runsAlone: Bool
  /// Works, but isn't listed.
  package var isHidden: Bool

  package init(
    name: String, abstract: String, discussion: String = "", examples: [CommandExample] = [],
    exitCodes: [ExitCodeDescription] = [], subcommands: [any ParsableCommand.Type] = [], runsAlone: Bool = false,
    isHidden: Bool = false
  ) {
    self.name = name
    self.abstract = abstract
    self.discussion = discussion
    self.examples = examples
    self.exitCodes = exitCodes
    self.subcommands = subcommands
    self.runsAlone = runsAlone
    self.isHidden = isHidden
  }
}

/// A command line that works as it stands, and what it does.
package struct CommandExample: Hashable, Sendable {
  package var line: String
  package var explanation: String

  package init(_ line: String, _ explanation: String) {
    self.line = line
    self.explanation = explanation
  }
}

/// An exit code and when it comes.
package struct ExitCodeDescription: Hashable, Sendable {
  package var code: Int
  package var meaning: String

  package init(_ code: Int, _ meaning: String) {
    self.code = code
    self.meaning = meaning
  }
}
