package import ArgumentParsing
import Dispatch
import Foundation
import ZeroMQ

/// A command that can be run.
package protocol RunnableCommand: ParsableCommand {
  /// Does it. Data goes to the console's output, talk to its error side.
  ///
  /// Throws a ``CommandError`` for the exit code it names; any other error ends with ``ExitCode/failed``.
  func run(on console: Console) async throws
}

/// A command that takes the terminal over until the person quits, on the process's first thread.
package protocol ScreenCommand: ParsableCommand {
  /// Does it, and ends the process.
  @MainActor func run(on console: Console) -> Never
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
///
/// Not `async`: the first suspension opens descriptors of the runtime's own.
package func runMain(_ root: any ParsableCommand.Type) -> Never {
  // Before anything is opened, lest a store gets the number of a closed standard stream and is written into by messages.
  ProcessSetup.prepare()
  ProcessSetup.leaveNoCore()
  // A closed pipe is an error of the write that met it, not the end of the process.
  signal(SIGPIPE, SIG_IGN)
  guard let words = CommandLine.exactArguments else {
    Console.standard.say("\(root.configuration.name): an argument isn't valid UTF-8; nothing was done")
    exit(ExitCode.usage.rawValue)
  }
  if case .command(let command as any ScreenCommand) = try? parse(
    root, arguments: words, environment: Console.standard.environment)
  {
    MainActor.assumeIsolated { command.run(on: .standard) }
  }
  Task { exit(await run(root, arguments: words, on: .standard).rawValue) }
  // A run loop, which serves the main queue too: a command's screen runs on it. Without a timer it would end.
  RunLoop.main.add(Timer(timeInterval: 1_000_000, repeats: true) { _ in }, forMode: .default)
  while true { RunLoop.main.run() }
}

extension CommandLine {
  /// The words after the program's name, nil if one is not UTF-8: `arguments` would repair it, and a value that nobody
  /// wrote would be kept.
  fileprivate static var exactArguments: [String]? {
    var words: [String] = []
    for index in 1..<max(1, Int(argc)) {
      guard let word = unsafeArgv[index] else { break }
      guard let text = String(validatingCString: word) else { return nil }
      words.append(text)
    }
    return words
  }
}
