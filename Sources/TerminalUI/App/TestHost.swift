import Foundation

/// A program's views without a terminal: takes keys, gives the screen as text.
@MainActor
package final class TestHost {
  let graph: Graph
  private var time = 0.0

  /// - Parameters:
  ///   - width: columns.
  ///   - height: lines.
  ///   - content: the root view, evaluated once.
  package init<Content: View>(width: Int = 60, height: Int = 12, @ViewBuilder _ content: () -> Content) {
    let view = content()
    graph = Graph(size: CellSize(width: width, height: height)) { $0.evaluate(view, .body) }
    graph.update()
  }

  /// Everything that has changed is evaluated; returns whether anything had.
  @discardableResult
  package func update() -> Bool { graph.update() }

  /// Presses keys one after the other, as a person does who sees each picture.
  package func press(_ keys: KeyPress.Key..., modifiers: KeyPress.Modifiers = []) {
    for key in keys { send(.key(KeyPress(key, modifiers))) }
  }

  /// Types characters.
  package func type(_ text: String) {
    for character in text { send(.key(KeyPress(character))) }
  }

  /// Gives events that were read at once.
  package func send(_ events: InputEvent...) {
    graph.handle(events, at: time)
    graph.update()
  }

  /// Clicks on the first place where a text stands; false if it isn't to be seen.
  @discardableResult
  package func click(_ text: String) -> Bool {
    for (row, line) in self.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if let range = line.firstRange(of: text) {
        click(column: line[..<range.lowerBound].displayWidth, row: row)
        return true
      }
    }
    return false
  }

  /// Clicks on a cell.
  package func click(column: Int, row: Int) {
    send(.mouse(MouseEvent(.press(.left), at: CellPosition(column: column, row: row))))
  }

  /// Lets time pass, for what tells a double click from two.
  package func advance(seconds: Double) { time += seconds }

  package func resize(width: Int, height: Int) { send(.resize(CellSize(width: width, height: height))) }

  /// Opens a link from outside.
  package func open(_ url: URL) {
    graph.open(url)
    graph.update()
  }

  /// What is seen.
  package var grid: CellGrid {
    graph.update()
    return graph.picture?.canvas.grid(size: graph.size) ?? CellGrid(size: graph.size)
  }

  /// What a person reads on the screen.
  package var text: String { grid.text }

  /// What a person hears: the screen as lines.
  package var lines: [String] {
    graph.update()
    return graph.picture?.canvas.lines() ?? []
  }

  /// The line of the screen that has the focus; nil if nothing has.
  package var focusedLine: String? { lines.first { $0.hasPrefix("> ") }.map { String($0.dropFirst(2)) } }

  /// Where the cursor is to be.
  package var cursor: CellPosition? { graph.picture?.canvas.cursor }

  /// What was wrong with the views, in the order of finding.
  package var diagnostics: [Diagnostic] { graph.diagnostics }

  /// Whether the program has been told to end.
  package var isFinished: Bool { graph.isFinished }

  /// How many bodies were evaluated since the beginning.
  package var bodiesEvaluated: Int { graph.bodiesEvaluated }

  /// How many evaluations there were.
  package var passes: Int { graph.pass }

  /// The last line of the screen.
  package var statusLine: StatusLine { graph.statusLine }
}
