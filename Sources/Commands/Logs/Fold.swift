package import ArgumentParsing
import NavigationModel
import WireFormat

/// `navsync fold`.
package struct Fold: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "fold", abstract: "Fold events from a file of JSON lines, and show the stack and the conflicts.",
    discussion: """
      The lines may come from any source and in any order, some twice; devices may be any texts. Chains go by number; \
      'navsync verify' is the one that checks digests.
      """,
    examples: [
      CommandExample("navsync fold alice-main.jsonl", "The stack that an export comes to."),
      CommandExample("navsync fold --policy latest --json - < events.jsonl", "Another policy, for a program."),
    ])

  @Argument(help: "The file, - for the standard input; gzip is unpacked.") var file: String
  @Option(placeholder: "POLICY", help: "merge, latest or lead:DEVICE; by default the file's own, or merge.")
  var policy: PolicyArgument?
  @Option(placeholder: "SPACE/STACK", help: "Which stack, if the file has events of several.") var stack: StackName?
  @OptionGroup var output: OutputOptions

  package init() {}

  package func run(on console: Console) async throws {
    let input = try RereadableInput(path: file, on: console)
    if let export = try ExportFile(input, stack: stack), export.header.format > 1 {
      return try await fold(export, on: console)
    }
    let history = try FileHistory(try input.lines(), stack: stack, policy: policy)
    var fold = StackFold(policy: history.policy)
    for item in history.items { fold.apply(item.event) }
    let entries = fold.entries()
    let conflicts = fold.conflicts() + history.forks.map(Conflict.fork)
    if output.json {
      try console.write(
        JSONLines.result(stack: entries, conflicts: conflicts, held: history.held, deviceText: history.text) + [10])
    } else {
      try StackPrinter(console: console, names: history.names).print(entries, conflicts)
      for dot in history.held { try console.print("held back: \(history.text(dot.device)):\(dot.sequence)") }
    }
    if let problem = history.problem { throw problem }
    if history.isCut {
      throw CommandError(
        .damage, "\(history.name) ends without its trailer: it was cut; the result is of the events before the cut")
    }
  }

  /// An export in which a device id has several histories: its digests say what they are.
  private func fold(_ export: ExportFile, on console: Console) async throws {
    let history = try await History(export.stack, in: .export(export))
    var problem: CommandError?
    do { try await history.walk(rivals: true) { _ in true } } catch let error as CommandError
      where error.code == .damage
    {
      problem = error
    }
    var fold = StackFold(policy: try policy?.policy(among: export.names) ?? export.policy)
    for event in history.folded ?? [] { fold.apply(event) }
    let held = history.unfolded.filter { $0.standing == .held }.map(\.event.dot)
    let conflicts = history.withForks(fold.conflicts())
    if output.json {
      try console.write(JSONLines.result(stack: fold.entries(), conflicts: conflicts, held: held) + [10])
    } else {
      try StackPrinter(console: console, names: export.names).print(fold.entries(), conflicts)
      for dot in held { try console.print("held back: \(export.names.text(dot.device)):\(dot.sequence)") }
    }
    if let problem { throw problem }
  }
}
