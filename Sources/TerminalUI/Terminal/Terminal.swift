import Glibc

/// The owner of the process's terminal: enters its alternate screen, draws, hears keys and signals, and puts everything
/// back on every way out of the process, SIGKILL apart.
///
/// While it is open, Control-Z and SIGTSTP suspend the process as a shell expects; SIGTERM, SIGHUP and SIGINT come as
/// events, and end the process after two seconds if the program doesn't. Faults restore the terminal and then do what
/// they would have done. What is written to the standard error meanwhile is shown when the screen was left.
@MainActor
package final class Terminal {
  /// The size of the screen in cells, as last told by `.resize` or found at the start.
  package private(set) var size: CellSize

  private let settings: termios
  private let description: TerminalDescription
  private let encoder: ScreenEncoder
  private let usesMouse: Bool
  private let handle: @MainActor (InputEvent) -> Void
  private var input: TerminalInput?
  /// What the terminal shows; nil if others may have written to it.
  private var shown: (grid: CellGrid, cursor: CellPosition?)?
  private var isOnScreen = false

  /// Takes the terminal over: enters the screen, which is then empty, and begins to listen.
  ///
  /// One at a time in a process. Events need the main queue to be served (`RunLoop.main.run()` or `dispatchMain()`).
  ///
  /// - Parameters:
  ///   - mode: its form is `.screen`.
  ///   - usesMouse: whether clicks and the wheel are events; the terminal's own selection of text then needs Shift.
  ///   - handle: gets every event, in order.
  /// - Throws: if standard input isn't a terminal, or its description can't be found.
  package init(
    _ mode: OutputMode, usesMouse: Bool = true, handle: @escaping @MainActor (InputEvent) -> Void
  ) throws(TerminalError) {
    let name = getenv("TERM").map { String(cString: $0) } ?? ""
    guard let description = TerminalDescription(name: name) else {
      throw TerminalError("there is no description of the terminal '\(name)'; set TERM to what it is, such as xterm")
    }
    var settings = termios()
    guard tcgetattr(STDIN_FILENO, &settings) == 0 else { throw TerminalError("standard input is no terminal", errno) }
    self.settings = settings
    self.description = description
    self.usesMouse = usesMouse && description.hasMouse
    self.handle = handle
    encoder = ScreenEncoder(description: description, colors: mode.colors)
    size = Self.size(of: STDOUT_FILENO, description)
    let input = TerminalInput(
      STDIN_FILENO, signals: try SignalPipe.open(), end: { Terminal.endProcess(bySignal: $0) },
      take: { [weak self] in self?.take($0) })
    TerminalRestoration.prepare(
      input: STDIN_FILENO, output: STDOUT_FILENO, settings, leaving: leaving)
    SignalPipe.listen()
    enterScreen()
    do { try input.start() } catch {
      close()
      throw error
    }
    self.input = input
  }

  /// Makes the terminal show the grid: writes what is different from what it shows, and nothing if it shows just that.
  ///
  /// Blocks while the terminal doesn't take the bytes, so a slow one gets fewer frames and never old ones.
  package func draw(_ grid: CellGrid, cursor: CellPosition? = nil) {
    guard isOnScreen else { return }
    KeptErrors.limit()
    let difference = GridDifference(from: shown?.grid, to: grid)
    guard !difference.isEmpty || shown?.cursor != cursor else { return }
    shown = (grid, cursor)
    write(encoder.frame(difference, cursor: cursor))
  }

  /// Whether the standard error is this terminal, so that what is written there is kept until the screen is left.
  package var keepsErrors: Bool { KeptErrors.isKept }

  /// The next `draw` writes everything: for when others wrote to the terminal.
  package func forgetShown() { shown = nil }

  /// Leaves the screen and listens no more. Does nothing the second time.
  package func close() {
    input?.close()
    input = nil
    leaveScreen()
    SignalPipe.stopListening()
  }

  /// Leaves the screen and stops the process as Control-Z does, until it is continued; then enters the screen again and
  /// gives `.resumed`.
  package func suspend() {
    guard input != nil, !SignalPipe.isIgnored(SIGTSTP) else { return }
    leaveScreen()
    // The rest of the pipeline or script stops with it; this process last, and for certain before this returns.
    signalOthersOfGroup(SIGTSTP)
    let clock = ContinuousClock()
    let stopped = clock.measure { SignalPipe.take(SIGTSTP) }
    SignalPipe.listen()
    // Where nobody could continue it, the system doesn't stop it, and no SIGCONT comes. One too many does no harm.
    if stopped < .milliseconds(5) { SignalPipe.send(UInt8(SIGCONT)) }
  }

  /// Puts the terminal back and ends the process by that signal, so that its parent sees why. From any thread.
  package nonisolated static func endProcess(bySignal signal: Int32) -> Never {
    TerminalRestoration.restore()
    SignalPipe.take(signal)
    _exit(128 + signal)
  }

  private func take(_ news: TerminalInput.News) {
    var signals = news.signals
    // Stopped and continued before anything was done about it: not to be stopped for good now.
    if signals.contains(SIGCONT) { signals.remove(SIGTSTP) }
    for signal in signals.sorted() { take(signal: signal) }
    for event in news.events where input != nil {
      if case .key(KeyPress(.character("z"), .control)) = event { suspend() } else { handle(event) }
    }
  }

  private func take(signal: Int32) {
    switch signal {
    case SIGWINCH: takeSize()
    case SIGTSTP: suspend()
    case SIGCONT:
      enterScreen()
      takeSize()
      handle(.resumed)
    default: handle(.terminate(signal))
    }
  }

  private func takeSize() {
    let size = Self.size(of: STDOUT_FILENO, description)
    guard size != self.size else { return }
    self.size = size
    // Terminals move what they show when their size changes, each in its way.
    shown = nil
    handle(.resize(size))
  }
}

extension Terminal {
  /// Idempotent: after a stop that nobody announced everything is entered again.
  private func enterScreen() {
    var raw = settings
    raw.c_iflag &= ~tcflag_t(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON | PARMRK)
    raw.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | IEXTEN | ISIG)
    raw.c_cflag |= tcflag_t(CS8)
    withUnsafeMutableBytes(of: &raw.c_cc) { characters in
      characters[Int(VMIN)] = 1
      characters[Int(VTIME)] = 0
    }
    let entering =
      description.enterAlternateScreen + description.clear + description.hideCursor + description.withoutWrapping
      + Self.modes(on: true, mouse: usesMouse)
    TerminalRestoration.arm()
    tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    isOnScreen = true
    shown = nil
    write(entering)
  }

  /// What undoes all that `enterScreen` writes.
  private var leaving: [UInt8] {
    // An unfinished sequence of a frame is ended first, by ESC \ that means nothing alone.
    Array("\u{1b}\\".utf8) + ScreenEncoder.endFrame + Self.modes(on: false, mouse: usesMouse)
      + description.plain + description.withWrapping + description.showCursor
      + (description.leaveAlternateScreen.isEmpty ? description.clear : description.leaveAlternateScreen)
  }

  private func leaveScreen() {
    isOnScreen = false
    shown = nil
    // What was typed for this program isn't for the shell.
    if TerminalRestoration.isForeground(STDIN_FILENO) { tcflush(STDIN_FILENO, TCIFLUSH) }
    TerminalRestoration.restore()
  }

  /// Bracketed paste, focus, and the mouse's buttons with SGR coordinates (xterm's "ctlseqs"); who doesn't know them
  /// leaves them out.
  private static func modes(on: Bool, mouse: Bool) -> [UInt8] {
    let modes = [2004, 1004] + (mouse ? [1000, 1006] : [])
    return modes.flatMap { Array("\u{1b}[?\($0)\(on ? "h" : "l")".utf8) }
  }

  private func write(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes
      while !rest.isEmpty {
        let count = Glibc.write(STDOUT_FILENO, rest.baseAddress, rest.count)
        if count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if count < 0, errno == EAGAIN {
          var ready = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
          poll(&ready, 1, -1)
        } else if count == 0 || errno != EINTR {
          // A terminal that is gone is told of by its input.
          return
        }
      }
    }
  }

  private func signalOthersOfGroup(_ signal: Int32) {
    var ignore = sigaction()
    ignore.__sigaction_handler.sa_handler = SIG_IGN
    sigaction(signal, &ignore, nil)
    kill(0, signal)
  }

  /// Whoever tells nonsense gets a screen that can be held in memory.
  private static let sensible = 1...1000

  private static func size(of descriptor: Int32, _ description: TerminalDescription) -> CellSize {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
      return description.usualSize ?? CellSize(width: 80, height: 24)
    }
    return CellSize(
      width: min(max(Int(size.ws_col), sensible.lowerBound), sensible.upperBound),
      height: min(max(Int(size.ws_row), sensible.lowerBound), sensible.upperBound))
  }
}

extension OutputMode {
  /// The mode for this process as it was started.
  package init(isAccessible: Bool = false) {
    let names = ["TERM", "COLORTERM", "NO_COLOR", "CLICOLOR"]
    let environment = names.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
    let term = environment.first { $0.0 == "TERM" }?.1 ?? ""
    self.init(
      Circumstances(
        inputIsTerminal: isatty(STDIN_FILENO) == 1, outputIsTerminal: isatty(STDOUT_FILENO) == 1,
        environment: Dictionary(uniqueKeysWithValues: environment),
        describedColors: term.isEmpty ? nil : TerminalDescription(name: term)?.colors, isAccessible: isAccessible))
  }
}
