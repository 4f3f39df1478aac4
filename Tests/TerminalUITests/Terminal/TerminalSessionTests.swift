import Foundation
import Glibc
import TestSupport
import Testing

/// A real process on a pseudo-terminal: whatever ends it, the terminal is as it was found.
@Suite(.serialized) struct TerminalSessionTests {
  let entered = "\u{1b}[?1049h"
  let left = "\u{1b}[?1049l"

  func probe(_ environment: [String: String] = [:]) throws -> PseudoTerminal {
    // A sanitizer has handlers of its own for faults, and ends the process otherwise.
    let faults = "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0:detect_leaks=0"
    var all = [
      "TERM": "xterm-256color", "LANG": "C.UTF-8", "SWIFT_BACKTRACE": "enable=no", "ASAN_OPTIONS": faults,
      "TSAN_OPTIONS": faults,
    ]
    all.merge(environment) { $1 }
    return try PseudoTerminal(BuiltProgram.url("terminal-probe"), environment: all)
  }

  /// The number of the signal that ended a process, or its exit status as a negative number.
  func end(_ status: Int32) -> Int32 { status & 0x7F != 0 ? status & 0x7F : -(status >> 8 & 0xFF) }

  func expectRestored(_ terminal: PseudoTerminal, _ before: PseudoTerminal.Settings) {
    #expect(terminal.settings == before)
    let text = terminal.text
    #expect(text.components(separatedBy: entered).count == text.components(separatedBy: left).count)
    for mode in ["1000", "1006", "2004", "1004"] {
      let on = text.range(of: "\u{1b}[?\(mode)h", options: .backwards)
      let off = text.range(of: "\u{1b}[?\(mode)l", options: .backwards)
      #expect(on != nil && off != nil && on!.lowerBound < off!.lowerBound, "mode \(mode) stays on")
    }
    let after = text.range(of: left, options: .backwards).map { text[$0.lowerBound...] } ?? ""
    #expect(!after.contains("probe 80x24"), "something is drawn after the screen was left")
    let shown = text.range(of: "\u{1b}[?25h", options: .backwards)
    let hidden = text.range(of: "\u{1b}[?25l", options: .backwards)
    #expect(shown != nil && hidden != nil && hidden!.lowerBound < shown!.lowerBound, "the cursor stays hidden")
  }

  @Test(arguments: [
    ("q", 0), ("e", -3), ("t", SIGILL), ("a", SIGABRT), ("s", SIGSEGV), ("o", SIGSEGV),
  ])
  func everyKeyThatEndsItRestores(key: String, expected: Int32) throws {
    let terminal = try probe()
    let before = terminal.settings
    try terminal.wait(for: "last row")
    #expect(terminal.settings != before)
    try terminal.type(key)
    #expect(end(try terminal.waitForEnd()) == expected)
    expectRestored(terminal, before)
  }

  @Test(arguments: [
    SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGSEGV, SIGABRT, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGPIPE, SIGUSR1, SIGALRM,
  ])
  func everySignalThatEndsItRestores(signal: Int32) throws {
    let terminal = try probe()
    let before = terminal.settings
    try terminal.wait(for: "last row")
    terminal.signal(signal)
    #expect(end(try terminal.waitForEnd()) == signal)
    expectRestored(terminal, before)
  }

  @Test func aProgramThatHangsEndsAllTheSame() throws {
    let terminal = try probe()
    let before = terminal.settings
    try terminal.wait(for: "last row")
    try terminal.type("h")
    terminal.signal(SIGTERM)
    terminal.signal(SIGTERM)
    #expect(end(try terminal.waitForEnd()) == SIGTERM)
    expectRestored(terminal, before)
  }

  /// What is written to the standard error comes when the screen was left, and not into it.
  @Test(arguments: [("q", "a message"), ("t", "Fatal error: the probe was told to trap"), ("\u{1a}", "a message")])
  func errorsAreShownAfterwards(key: String, message: String) throws {
    let terminal = try probe()
    try terminal.wait(for: "last row")
    try terminal.type("m")
    try terminal.wait(for: #"character("m")"#)
    try terminal.type(key)
    try terminal.wait(for: message)
    let text = terminal.text
    let leaving = try #require(text.range(of: left))
    let written = try #require(text.range(of: message))
    #expect(leaving.upperBound < written.lowerBound)
    #expect(text.components(separatedBy: message).count == 2)
    if key == "\u{1a}" {
      // Nobody could continue it, so it wasn't stopped.
      try terminal.wait(for: "resumed")
      try terminal.type("mq")
      try terminal.wait("twice") { terminal.text.components(separatedBy: message).count == 3 }
    }
    _ = try terminal.waitForEnd()
  }

  /// Nothing is read at the other end: the frames stand still, and so would what puts the terminal back.
  @Test func aTerminalThatTakesNothingDoesNotKeepIt() throws {
    let terminal = try probe()
    try terminal.wait(for: "last row")
    try terminal.type("w")
    try terminal.waitUntilFull()
    terminal.signal(SIGTERM)
    terminal.signal(SIGTERM)
    #expect(end(try terminal.waitForEnd(isReading: false)) == SIGTERM)
  }

  @Test func aResizeOfHeightAloneIsHeardAndDrawnOnce() throws {
    let terminal = try probe()
    try terminal.wait(for: "last row")
    terminal.clearOutput()
    terminal.resize(columns: 80, rows: 30)
    try terminal.wait(for: "1 resize 80x30")
    try terminal.wait(for: "\u{1b}[?2026l")
    #expect(terminal.text.contains("\u{1b}[30;1Hlast row"))
    #expect(terminal.text.components(separatedBy: "probe 80x30").count == 2)
    terminal.clearOutput()
    // The same size again is no news.
    terminal.signal(SIGWINCH)
    terminal.resize(columns: 100, rows: 30)
    try terminal.wait(for: "2 resize 100x30")
  }

  /// The shell sees it stop, finds its terminal as it was, and continues it.
  @Test(arguments: ["\u{1a}", "signal"]) func itIsSuspendedAndResumed(how: String) throws {
    let program = try BuiltProgram.url("terminal-probe").path
    let script = """
      set -m
      echo before; read line
      '\(program)'
      echo "stopped $?"; read line
      fg >/dev/null
      echo "ended $?"; read line
      """
    let terminal = try PseudoTerminal(URL(fileURLWithPath: "/bin/bash"), ["-c", script])
    try terminal.wait(for: "before")
    let before = terminal.settings
    try terminal.type("\n")
    try terminal.wait(for: "last row")
    if how == "signal" {
      let pid = try #require(try childOf(terminal.process))
      kill(pid, SIGTSTP)
    } else {
      try terminal.type(how)
    }
    try terminal.wait(for: "stopped 148")
    #expect(terminal.settings == before)
    #expect(terminal.text.contains(left))
    terminal.clearOutput()
    try terminal.type("\n")
    try terminal.wait(for: "resumed")
    #expect(terminal.text.contains(entered) && terminal.text.contains("last row"))
    #expect(terminal.settings != before)
    try terminal.type("q")
    try terminal.wait(for: "ended 0")
    #expect(terminal.settings == before)
    try terminal.type("\n")
    #expect(end(try terminal.waitForEnd()) == 0)
  }

  /// Stopped without a chance to leave: what the shell did to the terminal meanwhile is undone.
  @Test func itIsContinuedAfterAStopThatNobodyCanHear() throws {
    let terminal = try probe()
    try terminal.wait(for: "last row")
    terminal.signal(SIGSTOP)
    terminal.clearOutput()
    terminal.signal(SIGCONT)
    try terminal.wait(for: "1 resumed")
    #expect(terminal.text.contains(entered))
  }

  @Test func keysMouseAndPasteCome() throws {
    let terminal = try probe()
    try terminal.wait(for: "last row")
    // Two bytes of one key, apart.
    try terminal.type("\u{1b}")
    try terminal.type("[Z")
    try terminal.wait(for: "1 key tab 1")
    try terminal.type("\u{1b}[<0;3;2M")
    try terminal.wait(for: "2 mouse press(")
    try terminal.type("\u{1b}[200~pasted q\u{1b}[201~")
    try terminal.wait(for: "3 paste pasted q")
    try terminal.type("\u{1b}")
    try terminal.wait(for: "4 key escape 0")
    try terminal.type("\u{3}")
    try terminal.wait(for: #"5 key character("c") 4"#)
    try terminal.type("q")
    #expect(try terminal.waitForEnd() == 0)
  }

  /// What comes while the last news are being taken isn't left lying.
  @Test func nothingIsLostWhileTheScreenIsDrawn() throws {
    let terminal = try probe()
    try terminal.wait(for: "last row")
    for number in 1...300 {
      try terminal.type("x")
      terminal.resize(columns: 80 + number % 2, rows: 24)
    }
    try terminal.type("\u{1b}[200~end\u{1b}[201~")
    try terminal.wait(for: "paste end")
    terminal.resize(columns: 90, rows: 24)
    try terminal.wait(for: "resize 90x24")
  }

  @Test func theModeIsDecidedFromTheProcess() throws {
    func mode(_ environment: [String: String], _ arguments: [String] = []) throws -> String {
      let terminal = try PseudoTerminal(
        BuiltProgram.url("terminal-probe"), ["mode"] + arguments, environment: environment)
      #expect(try terminal.waitForEnd() == 0)
      return terminal.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    #expect(try mode(["TERM": "xterm-256color"]) == "screen palette256 true")
    #expect(try mode(["TERM": "xterm-256color", "COLORTERM": "truecolor"]) == "screen direct true")
    #expect(try mode(["TERM": "linux"]) == "screen palette16 true")
    #expect(try mode(["TERM": "vt100"]) == "screen none true")
    #expect(try mode(["TERM": "xterm-256color", "NO_COLOR": "1"]) == "screen none true")
    #expect(try mode(["TERM": "dumb"]) == "lines none true")
    #expect(try mode(["TERM": "no-such-terminal"]) == "lines none true")
    #expect(try mode([:]) == "lines none true")
    #expect(try mode(["TERM": "xterm-256color"], ["--accessible"]) == "lines none true")
    // No terminal at all.
    let process = Process()
    process.executableURL = try BuiltProgram.url("terminal-probe")
    process.arguments = ["mode"]
    let output = Pipe()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(text == "lines none false\n")
  }

  @Test func aTerminalWithoutADescriptionIsNamed() throws {
    let terminal = try probe(["TERM": "no-such-terminal"])
    #expect(end(try terminal.waitForEnd()) == -1)
    #expect(terminal.text.contains("no description of the terminal 'no-such-terminal'; set TERM"))
  }

  private func childOf(_ process: pid_t) throws -> pid_t? {
    let children = try String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
    return children.split(separator: " ").first.flatMap { pid_t($0) }
  }
}
