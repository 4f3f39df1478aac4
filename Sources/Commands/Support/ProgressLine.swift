import ArgumentParsing
import Foundation

/// One line on the error side that tells how far a long command is, drawn anew at most ten times a second. Silent where
/// the error side isn't a terminal.
package struct ProgressLine {
  private let console: Console
  private var nextDrawing = ContinuousClock.now
  private var isDrawn = false

  package init(on console: Console) { self.console = console }

  /// Shows a text. It is not even made when it isn't shown.
  package mutating func update(_ text: @autoclosure () -> String) {
    guard console.errorIsTerminal, ContinuousClock.now >= nextDrawing else { return }
    nextDrawing = .now + .milliseconds(100)
    isDrawn = true
    draw(String(escapingControls(text()).prefix(console.width - 1)))
  }

  /// Takes the line away.
  package mutating func clear() {
    guard isDrawn else { return }
    isDrawn = false
    draw("")
  }

  private func draw(_ text: String) {
    try? writeAll(Array("\r\u{1B}[K\(text)".utf8), to: console.error, named: "the standard error")
  }
}
