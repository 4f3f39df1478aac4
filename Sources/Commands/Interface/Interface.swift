package import ArgumentParsing
import Foundation
import NavigationClient
import NavigationModel
import SharedNavigation
import TerminalUI

/// `navsync ui`.
package struct Interface: ScreenCommand {
  package static let configuration = CommandConfiguration(
    name: "ui", abstract: "Watch and drive a stack on a screen of its own.",
    discussion: """
      Shows the entries, what others do, the conflicts, the devices and the history, and acts as this device. Works \
      without a daemon: the last line tells how many actions wait. Letters in brackets are keys, '?' explains the \
      others. Where there is no terminal, and with --accessible, it writes lines.
      """,
    examples: [
      CommandExample("navsync ui alice/main", "One stack."),
      CommandExample("navsync ui", "Choose from the stacks that there are."),
      CommandExample("navsync ui alice/main --device tablet", "As another device, beside one that is open."),
      CommandExample("navsync ui alice/main --once", "What it shows now, as lines."),
    ])

  @Argument(help: "The stack, as space/stack; without it there is a list to choose from.") var stack: StackName?
  @Flag(help: "Write lines on a terminal, too: for a screen reader.") var accessible: Bool
  @Flag(help: "Write what is shown now as lines, and end.") var once: Bool
  @OptionGroup var device: DeviceOptions

  package init() {}

  @MainActor package func run(on console: Console) -> Never {
    let desk: Desk
    let control: StackControl?
    do {
      desk = try Desk(options: device)
      control = try stack.map { try desk.open($0) }
      if once { try desk.catchUp(control, within: .seconds(2)) }
    } catch {
      console.say("navsync: \(error)")
      exit((error as? CommandError)?.code.rawValue ?? ExitCode.failed.rawValue)
    }
    for notice in desk.device.notices { console.say("\(desk.device.folder): \(notice)") }
    TerminalProgram.run(isAccessible: accessible, once: once) {
      DeskView(desk: desk, control: control)
    } atEnd: {
      desk.close(on: console).rawValue
    }
  }
}
