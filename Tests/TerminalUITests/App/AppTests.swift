import Foundation
import TestSupport
import Testing

@testable import TerminalUI

/// Whole programs on real terminals.
@Suite(.serialized) struct AppTests {
  private func program() throws -> URL { try BuiltProgram.url("app-probe") }

  /// The program without a terminal: its output, its errors, its exit code.
  private func run(_ arguments: String...) throws -> (output: String, errors: String, code: Int32) {
    let process = Process()
    process.executableURL = try program()
    process.arguments = arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    // What is piped in isn't read as keys: case 22.
    let input = Pipe()
    process.standardInput = input
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data("qqq\u{1b}".utf8))
    try input.fileHandleForWriting.close()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let problems = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (text, problems, process.terminationStatus)
  }

  /// Case 21.
  @Test func withoutATerminalLinesArePrinted() throws {
    let result = try run("--once")
    #expect(
      result.output == """
        Colors
        > Mint
        Pink
        Teal
        Rows
        Unknown
        Form
        Ticks: 0

        """)
    #expect(result.errors == "" && result.code == 0)
  }

  /// The value of an option isn't a link, though it looks like one.
  @Test func whichArgumentsAreLinks() throws {
    let arguments = [
      "--accessible", "app://a", "--daemon", "ipc:///run/sync", "--daemon=tcp://host:1", "app://b", "word", "--once",
      "app://c",
    ]
    #expect(links(in: arguments).map(\.absoluteString) == ["app://a", "app://b", "app://c"])
    let result = try run("--once", "--daemon", "ipc:///tmp/somewhere")
    #expect(result.output.hasPrefix("Colors\n> Mint"))
  }

  /// Case 20: a link at a cold start arrives once.
  @Test func aLinkAtTheStart() throws {
    let result = try run("--once", "myapp://shop/Mint/Dark")
    #expect(result.output == "‹ Colors › Mint › Dark\nThis is Dark.\n> Darker\n")
  }

  @Test(.enabled(if: TmuxSession.isAvailable)) func aPersonAtATerminal() throws {
    let session = try TmuxSession(columns: 60, rows: 12, "'\(try program().path)'", tellsEnd: true)
    try session.wait(for: "▸ Mint")
    try session.press("Down", "Enter")
    let screen = try session.wait(for: "This is Pink.")
    #expect(screen == "‹ Colors › Pink\nThis is Pink.\n▸Darker ›")
    try session.press("Enter")
    try session.wait(for: "‹ Colors › Pink › Dark Pink")
    try session.press("g")
    try session.wait(for: "▸ Pink")
    // Many rows, far down, in a small window that grows.
    try session.press("Down", "Down", "Enter")
    try session.wait(for: "row 10")
    try session.press("End")
    try session.wait(for: "▸ row 9999")
    try session.resize(columns: 40, rows: 6)
    let small = try session.wait("the small screen") {
      $0.components(separatedBy: "\n").count == 6 && $0.contains("10000/10000")
    }
    #expect(small.hasSuffix("▸ row 9999"))
    try session.resize(columns: 60, rows: 12)
    try session.wait("the large screen") { $0.components(separatedBy: "\n").count == 12 && $0.contains("row 9989") }
    try session.press("?")
    try session.wait(for: "Shift-Tab")
    try session.press("x")
    try session.press("BSpace")
    try session.wait(for: "▸ Rows")
    // What changes by itself is drawn by itself.
    try session.press("End", "Enter")
    try session.wait(for: "Ticks: 3")
    // Typing.
    try session.press("Up", "Enter")
    try session.wait(for: "Hello, you!")
    try session.press("Zoë q", "Home")
    try session.wait(for: "Hello, Zoë q!")
    try session.press("Escape")
    try session.wait(for: "▸ Form")
    // Stopped and continued, as a shell does it.
    try session.press("q")
    try session.wait(for: "ended with 0")
    #expect(try session.value("alternate_on") == "0")
  }

  /// A mistake in the views is told when the screen is gone.
  @Test(.enabled(if: TmuxSession.isAvailable)) func mistakesAreToldAtTheEnd() throws {
    let session = try TmuxSession(columns: 60, rows: 12, "'\(try program().path)'", tellsEnd: true)
    try session.wait(for: "▸ Mint")
    try session.press("Down", "Down", "Down", "Down", "Enter")
    try session.wait(for: "no screen for values of type Double")
    try session.press("C-c")
    let screen = try session.wait(for: "ended with")
    #expect(screen.replacing("\n", with: "").contains("of the stack says how to show it; add .navigationDestination"))
  }

  @Test func accessibleLinesOnATerminal() throws {
    let terminal = try PseudoTerminal(try program(), ["--accessible"])
    try terminal.wait(for: "Ticks: 0")
    terminal.clearOutput()
    try terminal.type("j\n")
    try terminal.wait(for: "> Pink")
    terminal.clearOutput()
    try terminal.type("\n")
    try terminal.wait(for: "This is Pink.")
    try terminal.type("b\n?\n4j\n\n")
    try terminal.wait(for: "Hello, you!")
    try terminal.type("=Ada\n")
    try terminal.wait(for: "Hello, Ada!")
    #expect(!terminal.output.contains(0x1b))
    try terminal.type("q\n")
    #expect(try terminal.waitForEnd() == 0)
  }

  @Test func dumbTerminalsGetLines() throws {
    let terminal = try PseudoTerminal(try program(), environment: ["TERM": "dumb"])
    try terminal.wait(for: "Ticks: 0")
    #expect(!terminal.output.contains(0x1b))
    // The end of the input is the end of the program.
    try terminal.type("\u{4}")
    #expect(try terminal.waitForEnd() == 0)
  }

  @Test func terminatedByASignal() throws {
    let terminal = try PseudoTerminal(try program())
    try terminal.wait(for: "Mint")
    terminal.signal(SIGTERM)
    #expect(try terminal.waitForEnd() & 0x7f == SIGTERM)
    #expect(terminal.text.contains("\u{1b}[?1049l"))
  }
}
