import Foundation
import TerminalUI

// What the tests of real terminals drive: shows the events that come, and leaves in every way there is.
//   terminal-probe            keys on a screen
//   terminal-probe mode       how the process would show itself, in one line
//   terminal-probe measure    what drawing costs
MainActor.assumeIsolated {
  let mode = OutputMode(isAccessible: CommandLine.arguments.contains("--accessible"))
  if CommandLine.arguments.dropFirst().first == "mode" {
    print("\(mode.form) \(mode.colors) \(mode.isInteractive)")
    exit(0)
  }
  if CommandLine.arguments.dropFirst().first == "measure" {
    measure()
    exit(0)
  }
  do {
    let probe = Probe()
    try probe.open(mode)
    // The process ends by `exit` or a signal.
    withExtendedLifetime(probe) { RunLoop.main.run() }
  } catch {
    FileHandle.standardError.write(Data("terminal-probe: \(error)\n".utf8))
    exit(1)
  }
}
