package import ArgumentParsing
import Foundation
import NavigationModel
import WireFormat

/// How values are typed on a command line: strings, unless a type is named.
package struct ValueOptions: ParsableOptions {
  @Option(placeholder: "TYPE", help: "The values are JSON of this type; without it they are strings.") var type: String?

  package init() {}

  func value(_ text: String) throws -> Value {
    if let type {
      guard !type.isEmpty else { throw CommandError(.usage, "the type's name is empty") }
      let payload = Array(text.utf8)
      do { try JSONText.check(payload) } catch {
        throw CommandError(
          .usage,
          "'\(text)' is not JSON on one line, from byte \(error.offset + 1) on; names and texts stand in double quotes, as "
            + #"in '{"id":42}'"#)
      }
      return Value(type: type, payload: payload)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return Value(type: "String", payload: Array(try encoder.encode(text)))
  }
}

/// `navsync push`.
package struct Push: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "push", abstract: "Put values on top of a stack.",
    discussion: """
      Catches up with the daemon for at most two seconds, acts on this device's replica, and waits until the daemon has \
      it. Without a daemon the action is stored and sent later; 'waiting: n' on the standard error tells how many are.
      """,
    examples: [
      CommandExample("navsync push alice/main Yosemite", "A string."),
      CommandExample("navsync push alice/main --type Product '{\"id\":42}'", "A value of a type of yours, as JSON."),
      CommandExample("navsync push alice/main list item --device tablet", "Two at once, as another device."),
    ])

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @Argument(help: "The values, one above the other.") var values: [String]
  @OptionGroup var form: ValueOptions
  @OptionGroup var options: ActOptions

  package init() {}

  package func run(on console: Console) async throws {
    try await options.act(on: stack, .push(try values.map(form.value)), console: console)
  }
}

/// `navsync pop`.
package struct Pop: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "pop", abstract: "Go back: close what is on top.",
    examples: [
      CommandExample("navsync pop alice/main", "One back."),
      CommandExample("navsync pop alice/main 3", "Three back, as one action."),
    ])

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @Argument(help: "How many; more than there are is all of them.") var count = 1
  @OptionGroup var options: ActOptions

  package init() {}

  package func validate() throws {
    if count < 1 { throw ValueError("the count must be at least 1") }
  }

  package func run(on console: Console) async throws {
    try await options.act(on: stack, .pop(count), console: console)
  }
}

/// `navsync root`.
package struct Root: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "root", abstract: "Go back to the root: close everything.",
    examples: [CommandExample("navsync root alice/main", "Close all that this device sees.")])

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @OptionGroup var options: ActOptions

  package init() {}

  package func run(on console: Console) async throws {
    try await options.act(on: stack, .popToRoot, console: console)
  }
}

/// `navsync set`.
package struct SetPath: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "set", abstract: "Make the path these values, as a deep link does.",
    discussion: """
      What the path and the values have in common at the bottom stays as it is. 'navsync root' shows nothing.
      """,
    examples: [
      CommandExample("navsync set alice/main cart pay", "Show pay, on cart, on the root."),
      CommandExample("navsync set alice/main --type Route '{\"id\":1}' '{\"id\":2}'", "Values of a type of yours."),
    ])

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @Argument(help: "The values, bottom to top.") var values: [String]
  @OptionGroup var form: ValueOptions
  @OptionGroup var options: ActOptions

  package init() {}

  package func run(on console: Console) async throws {
    try await options.act(on: stack, .set(try values.map(form.value)), console: console)
  }
}

/// `navsync replace`.
package struct Replace: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "replace", abstract: "Put a value in the place of the top one.",
    examples: [CommandExample("navsync replace alice/main item2", "Another screen in place of the shown one.")])

  @Argument(help: "The stack, as space/stack.") var stack: StackName
  @Argument(help: "The value.") var value: String
  @OptionGroup var form: ValueOptions
  @OptionGroup var options: ActOptions

  package init() {}

  package func run(on console: Console) async throws {
    try await options.act(on: stack, .replace(try form.value(value)), console: console)
  }
}
