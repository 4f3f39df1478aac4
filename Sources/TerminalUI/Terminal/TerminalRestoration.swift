import Glibc
import Synchronization

/// What puts the terminal back as it was found, in any thread and in the middle of anything.
///
/// A process has one controlling terminal, so this is the process's. All that a signal handler touches is allocated
/// before and never freed or changed while it is armed; a handler calls only what signal-safety(7) lists.
enum TerminalRestoration {
  /// Says how the terminal is put back. Nothing is armed then.
  ///
  /// - Parameters:
  ///   - settings: those that were found at the terminal that is read.
  ///   - leaving: what leaves the screen and all modes that were entered, for the terminal that is written to.
  static func prepare(input: Int32, output: Int32, _ settings: termios, leaving: [UInt8]) {
    precondition(!isArmed.load(ordering: .acquiring), "two owners of the terminal")
    // A few hundred bytes for each owner are never freed, since a handler may still read them.
    let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: leaving.count)
    _ = bytes.initialize(from: leaving)
    let next = UnsafeMutablePointer<Record>.allocate(capacity: 1)
    next.initialize(
      to: Record(input: input, output: output, settings: settings, leaving: UnsafeRawBufferPointer(bytes)))
    let isFirst = record == nil
    record = next
    guard isFirst else { return }
    KeptErrors.prepare()
    // The handlers stay for the rest of the process: when nothing is armed they only pass on.
    atexit { TerminalRestoration.restore() }
    installHandlers()
  }

  /// From now on every way out of the process restores the terminal, but SIGKILL.
  static func arm() {
    KeptErrors.begin()
    isArmed.store(true, ordering: .releasing)
  }

  /// Puts the terminal back, once for each time that it was armed.
  static func restore() {
    guard isArmed.exchange(false, ordering: .acquiringAndReleasing), let record else { return }
    // In the background the terminal is another's, and to touch it would stop the process.
    let isForeground = isForeground(record.pointee.input)
    defer { KeptErrors.end(isShown: isForeground) }
    guard isForeground else { return }
    let descriptor = record.pointee.output
    var rest = record.pointee.leaving
    while !rest.isEmpty {
      // A terminal that takes nothing for half a second is left alone: the process must end.
      var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      let isReady = poll(&ready, 1, 500)
      if isReady < 0, errno == EINTR { continue }
      guard isReady > 0 else { break }
      let count = write(descriptor, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if count == 0 || errno != EINTR && errno != EAGAIN {
        break
      }
    }
    tcsetattr(record.pointee.input, TCSANOW, &record.pointee.settings)
  }

  static func isForeground(_ descriptor: Int32) -> Bool { tcgetpgrp(descriptor) == getpgrp() }

  private struct Record {
    let input: Int32
    let output: Int32
    var settings: termios
    let leaving: UnsafeRawBufferPointer
  }

  private static let isArmed = Atomic<Bool>(false)
  // Written on the main actor while nothing is armed; read by who has just taken the armed state, so after it.
  private nonisolated(unsafe) static var record: UnsafeMutablePointer<Record>?
  // Written before the handlers are installed, read by them alone.
  private nonisolated(unsafe) static let previous = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)

  /// Signals that end the process by a fault of its own.
  private static let faults = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS]
  /// Signals that end the process unless it handles them.
  private static let endings = [
    SIGQUIT, SIGPIPE, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ,
  ]

  private static func installHandlers() {
    giveHandlersAStack()
    for signal in faults + endings {
      var current = sigaction()
      sigaction(signal, nil, &current)
      // What is ignored or handled doesn't end the process.
      let isDefault = unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self) == 0
      guard faults.contains(signal) || isDefault else { continue }
      previous[Int(signal)] = current
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { TerminalRestoration.handle($0) }
      action.sa_flags = Int32(SA_ONSTACK)
      sigemptyset(&action.sa_mask)
      sigaction(signal, &action, nil)
    }
  }

  /// Restores, and lets the signal do what it would have done: it comes again when this returns.
  private static func handle(_ signal: Int32) {
    restore()
    sigaction(signal, &previous[Int(signal)], nil)
    raise(signal)
  }

  /// A stack that has overflown can't take a handler's call. This thread gets another one, unless it has.
  private static func giveHandlersAStack() {
    var current = stack_t()
    guard sigaltstack(nil, &current) == 0, current.ss_flags & Int32(SS_DISABLE) != 0 else { return }
    let size = 65_536
    var stack = stack_t(
      ss_sp: UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16), ss_flags: 0, ss_size: size)
    sigaltstack(&stack, nil)
  }
}
