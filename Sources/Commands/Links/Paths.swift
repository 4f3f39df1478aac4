package import ArgumentParsing
import Foundation
import Links
import NavigationModel
import StackHistory
import WireFormat

/// `navsync path`.
package struct PathCommands: ParsableCommand {
  package static let configuration = CommandConfiguration(
    name: "path", abstract: "Bring a stack from and to a program that saves its NavigationPath.",
    discussion: """
      The form is what SwiftUI's NavigationPath.CodableRepresentation encodes to: an array of strings, a type's name and \
      then the value's JSON, the top first.
      """,
    subcommands: [PathExport.self, PathImport.self])

  package init() {}
}

/// Which names types have in a file.
package struct PathNameOptions: ParsableOptions {
  @Option(
    placeholder: "STACK=FILE",
    help: "A type's name on the stack and in the file, if they differ, as product=Shop.Product.")
  var type: [String]

  package init() {}

  package func validate() throws { _ = try pairs() }

  /// (name on the stack, name in the file).
  func pairs() throws -> [(stack: String, file: String)] {
    try type.map { text in
      let sides = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard sides.count == 2 else { throw ValueError("--type takes two names, as in product=Shop.Product") }
      return (sides[0], sides[1])
    }
  }
}

extension SavedPath.Names: ArgumentValue {}

/// `navsync path export`.
package struct PathExport: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "export", abstract: "Write a stack as a program saves its NavigationPath.",
    examples: [
      CommandExample("navsync path export alice/main > path.json", "The stack as it is now."),
      CommandExample("navsync path export alice/main --at 14:03 -o path.json", "As it was."),
    ])

  @Argument(help: "A stack as space/stack, or a file of JSON lines; - for the standard input.") var what: String
  @Option(placeholder: "N|TIME|DEVICE:N", help: "The stack as it was then.") var at: HistoryPlace?
  @Option(help: "How the standard library's types are named: Swift.String, or SS.") var names: SavedPath.Names =
    .qualified
  @Option(short: "o", placeholder: "FILE", help: "Where to write; - is the standard output.") var output = "-"
  @Flag(help: "Replace a file that is there.") var force: Bool
  @OptionGroup var types: PathNameOptions
  @OptionGroup var looking: LookingBackOptions

  package init() {}

  package func run(on console: Console) async throws {
    let loaded = try await looking.load(what, on: console)
    try loaded.finish()
    let path = SavedPath(values: try loaded.entries(at: at).map(\.value))
    let aliases = Dictionary(try types.pairs().map { ($0.stack, $0.file) }) { $1 }
    var json = JSONWriter()
    json.raw("[")
    json.list(path.strings(names: names, aliases: aliases)) { $0.string($1) }
    json.raw("]\n")
    try writeFile(path: output, on: console, overwrites: force) { try $0.write(json.bytes) }
  }
}

/// `navsync path import`.
package struct PathImport: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "import", abstract: "Show a saved NavigationPath on a stack, as a deep link does.",
    examples: [
      CommandExample("navsync path import alice/main path.json", "What a program saved."),
      CommandExample("navsync path import alice/main - --type product=Shop.Product", "With a type of another name."),
    ])

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @Argument(help: "The file, - for the standard input.") var file: String
  @Flag(short: "n", help: "Only show what the stack would be.") var dryRun: Bool
  @OptionGroup var types: PathNameOptions
  @OptionGroup var options: ActOptions

  package init() {}

  package func run(on console: Console) async throws {
    let (name, bytes) = try readWhole(file, on: console)
    let aliases = Dictionary(try types.pairs().map { ($0.file, $0.stack) }) { $1 }
    let strings: [String]
    do { strings = try JSONDecoder().decode([String].self, from: Data(bytes)) } catch {
      throw CommandError(.damage, "\(name) is no saved path: \(reason(error)); nothing was changed")
    }
    let path: SavedPath
    do { path = try SavedPath(strings: strings, aliases: aliases) } catch {
      throw CommandError(.damage, "\(name): \(error); nothing was changed")
    }
    if dryRun { return try console.print(breadcrumbs(path.values)) }
    try await options.act(on: stack, .set(path.values), console: console)
  }

  private func reason(_ error: any Error) -> String {
    switch error as? DecodingError {
    case .dataCorrupted?: return "it is not JSON"
    case .typeMismatch(_, let context)?, .valueNotFound(_, let context)?:
      let place = context.codingPath.last?.intValue.map { "element \($0 + 1): " } ?? ""
      return place + "an array of strings is expected"
    case _: return "an array of strings is expected"
    }
  }
}

/// All bytes of a file that fits into memory, and its name for people.
func readWhole(_ path: String, atMost limit: Int = 64 << 20, on console: Console) throws -> (
  name: String, bytes: [UInt8]
) {
  let name = path == "-" ? "the standard input" : path
  let descriptor = path == "-" ? console.input : open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else {
    throw CommandError(.ofSystem(errno), "can't open '\(path)': \(systemMessage())")
  }
  defer { if path != "-" { close(descriptor) } }
  var bytes: [UInt8] = []
  var block = [UInt8](repeating: 0, count: 64 << 10)
  while true {
    let count = read(descriptor, &block, block.count)
    if count < 0, errno == EINTR { continue }
    guard count >= 0 else { throw CommandError(.failed, "reading \(name) failed: \(systemMessage())") }
    guard count > 0 else { return (name, bytes) }
    bytes += block[..<count]
    guard bytes.count <= limit else {
      throw CommandError(.damage, "\(name) is larger than \(humanSize(limit)); this isn't such a file")
    }
  }
}
