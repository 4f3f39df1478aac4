package import ArgumentParsing
import NavigationClient
import NavigationModel

/// `navsync sync`.
package struct Sync: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "sync", abstract: "Bring a device up to date without acting: send what waits, fetch what others did.",
    discussion: """
      Acting commands do this too. It is for a device that was away and has nothing to do, and for the moment before a \
      machine is taken along.
      """,
    examples: [
      CommandExample("navsync sync alice/main", "This device and the daemon then hold the same."),
      CommandExample("navsync sync alice/main --within 1m", "With patience for a long history."),
    ])

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @Option(placeholder: "TIME", help: "How long to wait for the daemon, as 500ms, 5s or 1m.") var within =
    Duration.seconds(10)
  @OptionGroup var device: DeviceOptions

  package init() {}

  package func run(on console: Console) async throws {
    try await device.withDevice(on: console) { device, connects in
      guard connects else {
        throw CommandError(.unreachable, "there is no daemon; start one with 'navsyncd', or name it by --daemon")
      }
      let stack = try await device.stack(stack.description)
      try await self.device.catchUp(stack, within: within, on: console)
      try await stack.accepted(within: within)
      say(stack.state.withheld, of: self.stack, on: console)
      try console.print(breadcrumbs(stack.state.entries))
    }
  }
}
