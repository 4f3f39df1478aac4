import Foundation
import Glibc

/// Runs views until a person quits, on a terminal's screen or as lines.
///
/// Everything happens on the main actor, in the order of arrival: what was typed, what was evaluated because something
/// changed, and then the drawing of what is different.
@MainActor
package final class TerminalProgram {
  private let graph: Graph
  private let mode: OutputMode
  private var terminal: Terminal?
  /// The evaluation whose picture was drawn last.
  private var drawnPass = -1
  private var linear = LinearOutput()
  private var events: [InputEvent] = []
  private let clock = ContinuousClock()
  private let start = ContinuousClock().now
  private var atEnd: () -> Int32

  /// Called before the process ends, whatever ends it but a fault, after the terminal was put back.
  package static var beforeEnd: [@MainActor () -> Void] = []

  /// The loop has no use for it that would keep it.
  private static var running: TerminalProgram?

  private init(_ graph: Graph, _ mode: OutputMode, atEnd: @escaping () -> Int32) {
    self.graph = graph
    self.mode = mode
    self.atEnd = atEnd
  }

  /// Runs until a person quits, and ends the process.
  ///
  /// - Parameters:
  ///   - isAccessible: prints lines on a terminal too.
  ///   - once: prints what is shown at first as lines, and ends.
  ///   - links: opened as soon as a view wants them.
  ///   - content: the root view, evaluated once.
  ///   - atEnd: called before the process ends, after the terminal was put back; gives the exit code.
  package static func run<Content: View>(
    isAccessible: Bool, once: Bool = false, links: [URL] = [], @ViewBuilder content: () -> Content,
    atEnd: @escaping () -> Int32 = { 0 }
  ) -> Never {
    let view = content()
    var mode = OutputMode(isAccessible: isAccessible || once)
    if once { mode.isInteractive = false }
    let graph = Graph(size: linearSize, sink: .ofProcess) { $0.evaluate(view, .body) }
    let program = TerminalProgram(graph, mode, atEnd: atEnd)
    running = program
    for link in links { graph.open(link) }
    program.begin()
    if once { program.end() }
    // What has nothing to wait for would end the loop.
    RunLoop.main.add(Timer(timeInterval: 1_000_000, repeats: true) { _ in }, forMode: .default)
    while true { RunLoop.main.run() }
  }

  /// The room for lines: as wide as is usual, and high enough for what a person wants to hear at once.
  private static var linearSize: CellSize { CellSize(width: 100, height: 30) }

  private func begin() {
    graph.onDiagnostic = { [unowned self] in report($0) }
    if mode.form == .screen {
      do {
        terminal = try Terminal(mode) { [unowned self] in take($0) }
        graph.size = terminal!.size
      } catch {
        writeError("The screen can't be used, so this prints lines: \(error)")
      }
    }
    graph.statusLine.announcesAside = terminal == nil
    // Set before the first picture, which may change state.
    graph.invalidation.onSet { [weak self] in
      Task { @MainActor in self?.update() }
    }
    if terminal == nil, mode.isInteractive { readLines() }
    update()
  }

  // MARK: Input

  /// Collects what was read at once, so that it is handled together.
  private func take(_ event: InputEvent) {
    events.append(event)
    guard events.count == 1 else { return }
    Task { @MainActor in handleEvents() }
  }

  private func handleEvents() {
    let taken = events
    events = []
    if taken.contains(.resumed) || taken.contains(.key(KeyPress("l", .control))) { terminal?.forgetShown() }
    graph.handle(taken, at: (clock.now - start).seconds)
    // The parent sees why it ended.
    for case .terminate(let signal) in taken { end(signal: signal) }
    if taken.contains(.hangUp) { end(signal: SIGHUP) }
    update()
  }

  private func readLines() {
    Thread.detachNewThread { [weak self] in
      while let line = readLine() {
        Task { @MainActor in self?.take(line: line) }
      }
      Task { @MainActor in self?.end() }
    }
  }

  private func take(line: String) {
    switch LinearInput.command(line.trimmingCharacters(in: .whitespaces)) {
    case .events(let events):
      graph.handle(events, at: (clock.now - start).seconds)
      update()
    case .help: LinearInput.help.forEach(writeLine)
    case .readAgain:
      linear = LinearOutput()
      draw()
    case .unknown: writeLine("Not understood: \(line). Type ? and Enter for help.")
    }
  }

  // MARK: Output

  private func update() {
    graph.update()
    if terminal != nil || graph.pass != drawnPass { draw() }
    if graph.isFinished { end() }
  }

  private func draw() {
    guard let picture = graph.picture else { return }
    drawnPass = graph.pass
    if let terminal {
      terminal.draw(picture.canvas.grid(size: graph.size), cursor: picture.canvas.cursor)
      _ = graph.statusLine.takeUnread()
    } else {
      let lines = linear.changes(
        to: picture.canvas.lines(), screen: picture.screen, announcements: graph.statusLine.takeUnread())
      lines.forEach(writeLine)
    }
  }

  private func writeLine(_ line: String) {
    // Who closed the output wants no more of it.
    do { try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) } catch { end() }
  }

  private func writeError(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
  }

  /// Tells of a mistake. Where the terminal keeps it until the screen was left, there is a hint until then.
  private func report(_ diagnostic: Diagnostic) {
    writeError("warning: \(diagnostic)")
    if terminal?.keepsErrors == true { graph.statusLine.announce("warning: \(diagnostic)") }
  }

  // MARK: The end

  private func end(signal: Int32? = nil) -> Never {
    terminal?.close()
    terminal = nil
    for action in TerminalProgram.beforeEnd { action() }
    let code = atEnd()
    if let signal { Terminal.endProcess(bySignal: signal) }
    exit(code)
  }
}

extension Duration {
  fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
