package import ArgumentParsing
import Commands

/// The program `navsync-chaos`: what `deploy/chaos` and `deploy/soak` run.
package struct ChaosCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    name: "navsync-chaos", abstract: "Faults on real processes, and what is left of them.",
    subcommands: [RoundsCommand.self, SoakCommand.self, DeviceCommand.self])

  package init() {}
}
