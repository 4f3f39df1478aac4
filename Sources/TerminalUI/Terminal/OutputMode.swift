/// How a program shows itself: decided once, from what the process was started with.
package struct OutputMode: Hashable, Sendable {
  package enum Form: Hashable, Sendable {
    /// A screen of cells on a terminal, driven by keys.
    case screen
    /// A line a change, without any escape code. Lines may be read from a terminal; piped input isn't read as keys.
    case lines
  }

  package var form: Form
  package var colors: ColorDepth
  /// Whether a person at a terminal can answer.
  package var isInteractive: Bool

  /// What the decision depends on.
  package struct Circumstances: Hashable, Sendable {
    package var inputIsTerminal: Bool
    package var outputIsTerminal: Bool
    /// The process's environment.
    package var environment: [String: String]
    /// The terminal's colours by its description (terminfo's `colors`, or 2^24 where it has direct ones); nil if there
    /// is no description or it can't move the cursor.
    package var describedColors: Int?
    /// `--accessible`.
    package var isAccessible: Bool

    package init(
      inputIsTerminal: Bool, outputIsTerminal: Bool, environment: [String: String], describedColors: Int?,
      isAccessible: Bool = false
    ) {
      self.inputIsTerminal = inputIsTerminal
      self.outputIsTerminal = outputIsTerminal
      self.environment = environment
      self.describedColors = describedColors
      self.isAccessible = isAccessible
    }
  }

  package init(form: Form, colors: ColorDepth, isInteractive: Bool) {
    self.form = form
    self.colors = colors
    self.isInteractive = isInteractive
  }

  /// - `NO_COLOR` with any text, and `CLICOLOR=0`: no colours (no-color.org, bixense.com/clicolors). Bold, reverse and
  ///   underline stay, since they aren't colours.
  /// - `TERM` unset, empty or `dumb`, or without a description: lines.
  /// - `COLORTERM=truecolor` or `24bit`: direct colours, whatever the description says.
  package init(_ given: Circumstances) {
    let environment = given.environment
    let term = environment["TERM"] ?? ""
    isInteractive = given.inputIsTerminal && given.outputIsTerminal
    guard isInteractive, !given.isAccessible, term != "", term != "dumb", let described = given.describedColors else {
      form = .lines
      colors = .none
      return
    }
    form = .screen
    if environment["NO_COLOR", default: ""] != "" || environment["CLICOLOR"] == "0" {
      colors = .none
    } else if ["truecolor", "24bit"].contains(environment["COLORTERM"]?.lowercased()) || described >= 1 << 24 {
      colors = .direct
    } else {
      colors = described >= 256 ? .palette256 : described >= 8 ? .palette16 : .none
    }
  }
}

/// How many colours a terminal shows.
package enum ColorDepth: Int, Hashable, Sendable, Comparable {
  case none
  case palette16
  case palette256
  case direct

  package static func < (one: ColorDepth, other: ColorDepth) -> Bool { one.rawValue < other.rawValue }
}
