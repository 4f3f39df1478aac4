import ArgumentParsing
import Testing

/// The filled command of a line, spelled in words.
func parsed<Command: ParsableCommand>(
  _ type: Command.Type, _ words: [String], environment: [String: String] = [:],
  sourceLocation: SourceLocation = #_sourceLocation
) throws -> Command {
  guard case .command(let command) = try parse(Sample.self, arguments: words, environment: environment) else {
    Issue.record("not a command: \(words)", sourceLocation: sourceLocation)
    throw ValueError("not a command")
  }
  return try #require(command as? Command, sourceLocation: sourceLocation)
}

@Suite struct ParserTests {
  @Test func argumentsOptionsAndFlagsAreFilled() throws {
    let plant = try parsed(
      Plant.self, ["plant", "3", "carrot", "--depth", "2", "--depth=5", "leek", "--dry-run", "--garden", "roof"])
    #expect(plant.row == 3)
    #expect(plant.seeds == ["carrot", "leek"])
    #expect(plant.depth == [2, 5])
    #expect(plant.dryRun)
    #expect(plant.garden.garden == "roof")
  }

  @Test func whatIsNotGivenHasItsDefault() throws {
    let plant = try parsed(Plant.self, ["plant", "3", "carrot"])
    #expect(plant.garden.garden == "backyard")
    #expect(!plant.garden.quiet)
    #expect(plant.season == .spring)
    #expect(plant.depth == [])
    #expect(plant.gardenerToken == nil)
    #expect(plant.moonPhase == nil)
    #expect(plant.waterFor == .seconds(90))
    let pick = try parsed(Pick.self, ["pick", "--basket", "b"])
    #expect(pick.row == nil)
    #expect(pick.count == 1)
  }

  @Test(arguments: [
    (["-d4"], [4]), (["-d", "4"], [4]), (["-d=4"], [4]), (["-nd4"], [4]), (["-nd", "-4"], [-4]),
    (["-d", "1", "-d2"], [1, 2]),
  ])
  func shortOptionsTakeTheirValueInEveryWay(words: [String], depth: [Int]) throws {
    #expect(try parsed(Plant.self, ["plant", "1", "x"] + words).depth == depth)
  }

  @Test func shortFlagsStandTogether() throws {
    let clean = try parsed(Plant.self, ["plant", "-n", "1", "x", "-g", "roof"])
    #expect(clean.dryRun && clean.garden.garden == "roof")
    #expect(throws: UsageError.self) { try parsed(Plant.self, ["plant", "-nq", "1", "x"]) }
  }

  @Test func theLastValueCounts() throws {
    #expect(try parsed(Plant.self, ["plant", "1", "x", "--season", "summer", "--season=autumn"]).season == .autumn)
  }

  @Test func dashAndNegativeNumbersAreValues() throws {
    let plant = try parsed(Plant.self, ["plant", "-3", "-", "-0.5", "--depth", "-7", "--garden", "-"])
    #expect(plant.row == -3)
    #expect(plant.seeds == ["-", "-0.5"])
    #expect(plant.depth == [-7])
    #expect(plant.garden.garden == "-")
  }

  @Test func afterTwoDashesAllAreArguments() throws {
    let plant = try parsed(Plant.self, ["plant", "1", "--", "--depth", "-n", "--", "--help"])
    #expect(plant.seeds == ["--depth", "-n", "--", "--help"])
    #expect(!plant.dryRun)
  }

  @Test func valuesMayBeEmptyAndHoldEqualSigns() throws {
    #expect(try parsed(Plant.self, ["plant", "1", "x", "--garden="]).garden.garden == "")
    #expect(try parsed(Plant.self, ["plant", "1", "x", "--garden=a=b"]).garden.garden == "a=b")
    #expect(try parsed(Plant.self, ["plant", "1", "x", "--garden", ""]).garden.garden == "")
    #expect(try parsed(Plant.self, ["plant", "1", "x", "--garden=--roof"]).garden.garden == "--roof")
  }

  @Test func theEnvironmentComesBetweenLineAndDefault() throws {
    let environment = ["SAMPLE_GARDEN": "roof", "SAMPLE_QUIET": "yes", "SAMPLE_TOKEN": ""]
    let plant = try parsed(Plant.self, ["plant", "1", "x"], environment: environment)
    #expect(plant.garden.garden == "roof")
    #expect(plant.garden.quiet)
    #expect(plant.gardenerToken == nil)
    let typed = try parsed(Plant.self, ["plant", "1", "x", "--garden=y"], environment: environment)
    #expect(typed.garden.garden == "y")
    #expect(try parsed(Pick.self, ["pick"], environment: ["SAMPLE_BASKET": "b"]).basket == "b")
    #expect(try !parsed(Plant.self, ["plant", "1", "x"], environment: ["SAMPLE_QUIET": "off"]).garden.quiet)
  }

  @Test func subcommandsNest() throws {
    #expect(try parsed(Clean.self, ["shed", "clean", "rake"]).tools == ["rake"])
    #expect(try parsed(Clean.self, ["shed", "clean"]).tools == [])
    _ = try parsed(Dig.self, ["dig"])
  }

  @Test(arguments: [
    ("500ms", Duration.milliseconds(500)), ("5s", .seconds(5)), ("5", .seconds(5)), ("1.5m", .seconds(90)),
    ("2h", .seconds(7200)), ("1d", .seconds(86400)), ("0", .zero),
  ])
  func durationsAreRead(text: String, duration: Duration) throws {
    #expect(try Duration(argument: text) == duration)
    #expect(try Duration(argument: duration.argumentText) == duration)
  }

  @Test(arguments: ["", "s", "-1s", "5 s", "5y", "nan", "inf", "1e300"])
  func otherDurationsAreRefused(text: String) {
    #expect(throws: ValueError.self) { try Duration(argument: text) }
  }

  @Test(arguments: [
    ([], ["sample"]), (["--help"], ["sample"]), (["help"], ["sample"]), (["-h"], ["sample"]),
    (["help", "plant"], ["sample", "plant"]), (["plant", "--nonsense", "-h"], ["sample", "plant"]),
    (["shed"], ["sample", "shed"]), (["help", "shed", "clean"], ["sample", "shed", "clean"]),
    (["shed", "help", "clean"], ["sample", "shed", "clean"]), (["help", "dig"], ["sample", "dig"]),
    (["help", "plant", "--help"], ["sample", "plant"]),
  ])
  func helpIsGiven(words: [String], path: [String]) throws {
    guard case .help(let description) = try parse(Sample.self, arguments: words) else {
      Issue.record("no help")
      return
    }
    #expect(description.path == path)
  }

  @Test func theVersionIsAskedOfTheProgram() throws {
    guard case .version = try parse(Sample.self, arguments: ["--version"]) else {
      Issue.record("no version")
      return
    }
    guard case .version = try parse(Dig.self, arguments: ["--version"]) else {
      Issue.record("no version of a program without subcommands")
      return
    }
    #expect(throws: UsageError.self) { try parse(Sample.self, arguments: ["dig", "--version"]) }
  }

  @Test func theDescriptionHoldsAll() {
    let description = CommandDescription(Sample.self)
    #expect(description.subcommands.map(\.name) == ["plant", "pick", "shed", "dig"])
    let plant = description.subcommands[0]
    #expect(plant.arguments.map(\.name) == ["row", "seed"])
    #expect(
      plant.options.map(\.name)
        == ["garden", "quiet", "season", "depth", "gardener-token", "moon-phase", "water-for", "dry-run"])
    #expect(plant.options[0].environment == "SAMPLE_GARDEN")
    #expect(plant.exitCodes.map(\.code) == [0, 2])
  }
}
