package import ArgumentParsing
import Foundation

/// A command that can be run.
package protocol RunnableCommand: ParsableCommand {
  /// Does it. Data goes to the console's output, talk to its error side.
  ///
  /// Throws a ``CommandError`` for the exit code it names; any other error ends with ``ExitCode/failed``.
  func run(on console: Console) async throws
}

/// Runs a program's command line, and says how it ends; the messages are on the console by then.
package func run(
  _ root: any ParsableCommand.Type, arguments: [String], on console: Console
) async -> ExitCode {
  let program = root.configuration.name
  do {
    switch try parse(root, arguments: arguments, environment: console.environment) {
    case .help(let description):
      try console.write(description.helpScreen(width: min(console.width, 100)))
    case .version:
      try console.print("\(program) \(Version.number)")
    case .command(let command):
      guard let command = command as? any RunnableCommand else {
        preconditionFailure("\(type(of: command)) is a command without subcommands, and can't be run")
      }
      try await command.run(on: console)
    }
    return .ok
  } catch is OutputClosed {
    return .ok
  } catch let error as UsageError {
    console.say("\(error)")
    return .usage
  } catch {
    console.say("\(program): \(error)")
    return (error as? CommandError)?.code ?? .failed
  }
}

/// The `main` of a program: runs the process's own command line on the standard streams, and exits.
package func runMain(_ root: any ParsableCommand.Type) async -> Never {
  // A closed pipe is an error of the write that met it, not the end of the process.
  signal(SIGPIPE, SIG_IGN)
  let code = await run(root, arguments: Array(CommandLine.arguments.dropFirst()), on: .standard)
  exit(code.rawValue)
}
