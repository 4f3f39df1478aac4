import Testing

@testable import TerminalUI

@Suite struct OutputModeTests {
  func mode(
    _ environment: [String: String], colors: Int? = 256, input: Bool = true, output: Bool = true,
    accessible: Bool = false
  ) -> OutputMode {
    OutputMode(
      OutputMode.Circumstances(
        inputIsTerminal: input, outputIsTerminal: output, environment: environment, describedColors: colors,
        isAccessible: accessible))
  }

  @Test(arguments: [
    (["TERM": "xterm"], 8, ColorDepth.palette16), (["TERM": "xterm"], 256, .palette256),
    (["TERM": "xterm"], 1 << 24, .direct),
    (["TERM": "xterm"], 0, .none), (["TERM": "xterm", "NO_COLOR": "1"], 256, .none),
    (["TERM": "xterm", "NO_COLOR": ""], 256, .palette256),
    (["TERM": "xterm", "CLICOLOR": "0"], 256, .none), (["TERM": "xterm", "CLICOLOR": "1"], 256, .palette256),
    (["TERM": "xterm", "COLORTERM": "truecolor"], 8, .direct), (["TERM": "xterm", "COLORTERM": "24bit"], 256, .direct),
    (["TERM": "xterm", "COLORTERM": "yes"], 256, .palette256),
    (["TERM": "xterm", "COLORTERM": "truecolor", "NO_COLOR": "x"], 256, .none),
  ])
  func colorsFollowTheDescriptionAndTheEnvironment(environment: [String: String], colors: Int, depth: ColorDepth) {
    #expect(mode(environment, colors: colors) == OutputMode(form: .screen, colors: depth, isInteractive: true))
  }

  @Test func withoutAScreenThereAreLines() {
    let lines = OutputMode(form: .lines, colors: .none, isInteractive: true)
    #expect(mode([:]) == lines)
    #expect(mode(["TERM": "dumb"]) == lines)
    #expect(mode(["TERM": "xterm"], colors: nil) == lines)
    #expect(mode(["TERM": "xterm"], accessible: true) == lines)
    for (input, output) in [(false, true), (true, false), (false, false)] {
      let piped = mode(["TERM": "xterm", "COLORTERM": "truecolor"], input: input, output: output)
      #expect(piped == OutputMode(form: .lines, colors: .none, isInteractive: false))
    }
  }
}
