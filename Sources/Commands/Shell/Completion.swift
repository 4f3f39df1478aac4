package import ArgumentParsing

/// `navsync completion`.
package struct Completion: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "completion", abstract: "Print a shell's completion of navsync and navsyncd.",
    discussion: "Made from the same descriptions as the help screens. Names of stacks are asked of the daemon.",
    examples: [
      CommandExample("navsync completion bash > ~/.local/share/bash-completion/completions/navsync", "For bash."),
      CommandExample("navsync completion zsh > ~/.zfunc/_navsync", "For zsh, in a folder of its fpath."),
      CommandExample("navsync completion fish > ~/.config/fish/completions/navsync.fish", "For fish."),
    ])

  package enum Shell: String, CaseIterable, ArgumentValue {
    case bash
    case zsh
    case fish
  }

  @Argument(help: "Which shell.") var shell: Shell

  package init() {}

  package func run(on console: Console) async throws {
    let programs = [CommandDescription(Navsync.self), CommandDescription(DaemonCommand.self)]
    switch shell {
    case .bash: try console.write(bashCompletion(of: programs))
    case .zsh: try console.write(zshCompletion(of: programs))
    case .fish: try console.write(fishCompletion(of: programs))
    }
  }
}

/// `navsync man`.
package struct ManualPages: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "man", abstract: "Print a manual page, or write all of them into a folder.",
    discussion: "Made from the same descriptions as the help screens.",
    examples: [
      CommandExample("navsync man log | man -l -", "The page of a command."),
      CommandExample("navsync man --all ~/.local/share/man/man1", "All pages, into a folder of man's path."),
    ])

  @Argument(isRequired: false, help: "The command's words; without them the program's own page.") var command: [String]
  @Option(placeholder: "FOLDER", help: "Write the pages of all commands there.") var all: String?

  package init() {}

  package func validate() throws {
    if all != nil, !command.isEmpty { throw ValueError("--all writes all pages; name no command") }
  }

  package func run(on console: Console) async throws {
    let programs = [CommandDescription(Navsync.self), CommandDescription(DaemonCommand.self)]
    guard let all else {
      var page = programs[0]
      let isDaemon = command.first == programs[1].name
      if isDaemon { page = programs[1] }
      for word in command.dropFirst(isDaemon ? 1 : 0) {
        guard let next = page.subcommands.first(where: { $0.name == word }) else {
          throw CommandError(
            .notFound, "there is no command '\(command.joined(separator: " "))'; 'navsync help' lists them")
        }
        page = next
      }
      return try console.write(page.manualPage(version: Version.number))
    }
    let pages = programs.flatMap(\.visible)
    for page in pages {
      try writeFile(path: "\(all)/\(page.path.joined(separator: "-")).1", on: console, overwrites: true) {
        try $0.write(page.manualPage(version: Version.number).utf8)
      }
    }
    console.say("\(all): \(counted(pages.count, "page"))")
  }
}
