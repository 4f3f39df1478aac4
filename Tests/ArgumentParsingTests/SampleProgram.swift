import ArgumentParsing

/// A program that declares one of everything.
struct Sample: ParsableCommand {
  static let configuration = CommandConfiguration(
    name: "sample", abstract: "Plant and pick.",
    discussion: """
      A garden is a folder. It is made by the first command that needs it, and nothing else is ever written.

      Plants keep growing while nobody looks.
      """,
    exitCodes: [ExitCodeDescription(0, "All went well."), ExitCodeDescription(2, "The command line makes no sense.")],
    subcommands: [Plant.self, Pick.self, Shed.self, Dig.self])
}

struct Garden: ParsableOptions {
  @Option(short: "g", placeholder: "FOLDER", environment: "SAMPLE_GARDEN", help: "The garden.")
  var garden = "backyard"
  @Flag(short: "q", environment: "SAMPLE_QUIET", help: "Say nothing.") var quiet: Bool
}

enum Season: String, CaseIterable, ArgumentValue {
  case spring, summer, autumn
}

struct Plant: ParsableCommand {
  static let configuration = CommandConfiguration(
    name: "plant", abstract: "Put seeds into a row.",
    discussion: "The seeds go in from left to right.",
    examples: [CommandExample("sample plant 3 carrot leek", "One of each in the third row.")])
  @Argument(help: "The row, counted from the house.") var row: Int
  @Argument(name: "seed", help: "What to plant.") var seeds: [String]
  @OptionGroup var garden: Garden
  @Option(help: "When it is to be done.") var season = Season.spring
  @Option(short: "d", placeholder: "CM", help: "How deep, for each seed.") var depth: [Int] = []
  @Option(environment: "SAMPLE_TOKEN", help: "Who plants.") var gardenerToken: String?
  @Option(isHidden: true, help: "For tests.") var moonPhase: Double?
  @Option(help: "How long to water.") var waterFor = Duration.seconds(90)
  @Flag(short: "n", help: "Only show what would be done.") var dryRun = false

  func validate() throws {
    if dryRun, garden.quiet { throw ValueError("--dry-run and --quiet together do nothing; leave one out") }
  }
}

struct Pick: ParsableCommand {
  static let configuration = CommandConfiguration(name: "pick", abstract: "Take what is ripe.")
  @Argument(help: "The row.") var row: Int?
  @Argument(help: "How many.") var count = 1
  @Option(environment: "SAMPLE_BASKET", help: "Where to put it.") var basket: String
}

struct Shed: ParsableCommand {
  static let configuration = CommandConfiguration(
    name: "shed", abstract: "Look after the tools.", subcommands: [Clean.self])
}

struct Clean: ParsableCommand {
  static let configuration = CommandConfiguration(
    name: "clean", abstract: "Clean a tool.", exitCodes: [ExitCodeDescription(1, "It stays dirty.")])
  @Argument(isRequired: false, help: "The tools.") var tools: [String]
}

struct Dig: ParsableCommand {
  static let configuration = CommandConfiguration(name: "dig", abstract: "Dig.", isHidden: true)
}
