import ArgumentParsing
import Commands
import Foundation
import Testing

/// What the programs say of themselves holds.
@Suite struct HelpTests {
  /// Every command of a program with its words.
  static func all(_ description: CommandDescription) -> [CommandDescription] {
    [description] + description.subcommands.flatMap(all)
  }

  static let programs: [any ParsableCommand.Type] = [Navsync.self, DaemonCommand.self]
  static let commands = programs.flatMap { all(CommandDescription($0)) }
  static let readme =
    (try? String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../README.md"),
      encoding: .utf8)) ?? ""

  @Test(arguments: commands)
  func examplesAreCommandLines(command: CommandDescription) throws {
    let program = try #require(Self.programs.first { $0.configuration.name == command.path[0] })
    for example in command.examples {
      let words = shellWords(example.line)
      #expect(words.first == command.path[0], "\(example.line)")
      do {
        guard case .command(let parsed) = try parse(program, arguments: Array(words.dropFirst())) else {
          Issue.record("asks for help: \(example.line)")
          continue
        }
        #expect(type(of: parsed).configuration.name == command.name, "\(example.line)")
      } catch { Issue.record("\(example.line): \(error)") }
    }
    if command.subcommands.isEmpty, !command.isHidden { #expect(!command.examples.isEmpty) }
  }

  @Test(arguments: commands)
  func screensFit(command: CommandDescription) {
    for line in command.helpScreen(width: 80).split(separator: "\n") {
      let isVerbatim = line.hasPrefix("  $ ") || line.hasPrefix("  navsync")
      #expect(line.count <= 80 || isVerbatim, "\(line)")
    }
    for text in [command.abstract] + command.options.map(\.help) + command.arguments.map(\.help) {
      #expect(text.hasSuffix("."), "\(command.name): a sentence ends with a full stop: \(text)")
    }
  }

  @Test func theReadmeNamesEveryCommandVariableAndExitCode() {
    for command in Self.commands where !command.isHidden {
      #expect(Self.readme.contains("`\(command.name)"), "\(command.name)")
    }
    for variable in Set(Self.commands.flatMap(\.options).compactMap(\.environment)) {
      #expect(Self.readme.contains("`\(variable)`"), "\(variable)")
    }
    for code in Self.commands.flatMap(\.exitCodes) {
      #expect(Self.readme.contains("| \(code.code) | "), "\(code.code)")
    }
  }

  /// The words of the first command of a line, as a shell splits it.
  func shellWords(_ line: String) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for character in line {
      if let open = quote {
        if character == open { quote = nil } else { word?.append(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if "|<>#&;".contains(character) {
        break
      } else if character == " " {
        if let done = word { words.append(done) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    return words + [word].compactMap { $0 }
  }
}
