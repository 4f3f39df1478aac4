import Glibc
import Synchronization

/// Signals as bytes that can be waited for: their handler writes the number into a pipe.
///
/// A signalfd would need the signals blocked in every thread, those of others too, and in what the program starts.
enum SignalPipe {
  /// The signals that a screen wants to hear of.
  static let signals = [SIGWINCH, SIGCONT, SIGTSTP, SIGTERM, SIGHUP, SIGINT]

  /// Byte that is no signal, to wake the reader.
  static let wake: UInt8 = 0

  /// The end to read from, non-blocking. From the first call on signals come here; those that the process was started
  /// to ignore stay ignored.
  static func open() throws(TerminalError) -> Int32 {
    let known = readEnd.load(ordering: .acquiring)
    if known >= 0 { return known }
    var descriptors: [Int32] = [0, 0]
    guard pipe(&descriptors) == 0 else { throw TerminalError("signals can't be received", errno) }
    for descriptor in descriptors {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }
    writeEnd.store(descriptors[1], ordering: .releasing)
    readEnd.store(descriptors[0], ordering: .releasing)
    return descriptors[0]
  }

  static func listen() {
    for signal in signals where !isIgnored(signal) {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { signal in
        let saved = errno
        SignalPipe.send(UInt8(signal))
        errno = saved
      }
      action.sa_flags = Int32(SA_RESTART)
      sigemptyset(&action.sa_mask)
      sigaction(signal, &action, nil)
    }
  }

  /// Signals do again what they do by themselves.
  static func stopListening() {
    for signal in signals where !isIgnored(signal) { setDefault(signal) }
  }

  static func isIgnored(_ signal: Int32) -> Bool {
    var current = sigaction()
    sigaction(signal, nil, &current)
    return unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  static func setDefault(_ signal: Int32) {
    var action = sigaction()
    sigemptyset(&action.sa_mask)
    sigaction(signal, &action, nil)
  }

  /// A full pipe loses nothing that matters: the reader has enough to wake for.
  static func send(_ byte: UInt8) {
    var byte = byte
    _ = write(writeEnd.load(ordering: .acquiring), &byte, 1)
  }

  /// Lets the signals reach this thread, whoever started it.
  static func unblock() {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  /// Does to this thread what the signal does by itself.
  static func take(_ signal: Int32) {
    setDefault(signal)
    unblock()
    raise(signal)
  }

  // Both are made once, before any handler is there, and stay open for the rest of the process.
  private static let readEnd = Atomic<Int32>(-1)
  private static let writeEnd = Atomic<Int32>(-1)
}
