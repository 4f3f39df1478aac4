import ArgumentParsing
import TestSupport
import Testing

@Suite struct ScreenTests {
  @Test(arguments: [
    ["sample"], ["sample", "plant"], ["sample", "pick"], ["sample", "shed"], ["sample", "shed", "clean"],
  ])
  func helpScreensAreAsRecorded(path: [String]) throws {
    var description = CommandDescription(Sample.self)
    for word in path.dropFirst() { description = try #require(description.subcommands.first { $0.name == word }) }
    try expectGolden(description.helpScreen(width: 80), "help-\(path.joined(separator: "-")).txt")
  }

  @Test func helpScreensFitTheWidth() throws {
    let plant = CommandDescription(Sample.self).subcommands[0]
    try expectGolden(plant.helpScreen(width: 50), "help-narrow.txt")
    for line in plant.helpScreen(width: 50).split(separator: "\n") where !line.hasPrefix("  sample plant") {
      #expect(line.count <= 50, "\(line)")
    }
  }

  @Test func messagesAreAsRecorded() throws {
    let lines: [[String]] = [
      ["plnt"], ["harvest"], ["he"], ["--garden", "x", "plant"], ["--hlep"], ["shed", "claen"], ["help", "pik"],
      ["plant"], ["plant", "1"], ["plant", "one", "x"], ["plant", "1", "x", "--saeson", "spring"],
      ["plant", "1", "x", "--moon-phas", "1"], ["plant", "1", "x", "--season", "winter"],
      ["plant", "1", "x", "--depth"], ["plant", "1", "x", "--depth", "--dry-run"], ["plant", "1", "x", "-dx"],
      ["plant", "1", "x", "--dry-run=1"], ["plant", "1", "x", "-n=1"], ["plant", "1", "x", "-z"],
      ["plant", "1", "x", "-nz"], ["plant", "1", "x", "--unheard-of"], ["plant", "1", "x", "-nq"], ["pick"],
      ["pick", "1", "2", "3"], ["pick", "--basket", "b", "x"], ["dig", "x\u{1B}[2J\ny"],
      ["plant", "1", "x", "--version"],
      ["plant", "1", "x", "--water-for", "soon"],
    ]
    var screen = ""
    for words in lines {
      screen += "$ sample " + words.map { $0.debugDescription.dropFirst().dropLast() }.joined(separator: " ") + "\n"
      do {
        _ = try parse(Sample.self, arguments: words, environment: [:])
        Issue.record("no error: \(words)")
      } catch {
        #expect(!error.description.contains("\n"))
        screen += error.description + "\n"
      }
    }
    do {
      _ = try parse(Sample.self, arguments: ["plant", "1", "x"], environment: ["SAMPLE_QUIET": "perhaps"])
      Issue.record("no error")
    } catch {
      screen += "$ SAMPLE_QUIET=perhaps sample plant 1 x\n\(error)\n"
    }
    try expectGolden(screen, "messages.txt")
  }
}
