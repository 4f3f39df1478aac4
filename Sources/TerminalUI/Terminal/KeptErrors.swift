import CNCurses
import Glibc
import Synchronization

/// Keeps what is written to the standard error while a screen is shown on the same terminal, and writes it there
/// afterwards. Else it would be drawn over the screen, and the reason of a trap would go away with it.
enum KeptErrors {
  /// From now on the standard error is kept, if it is a terminal.
  static func begin() {
    guard !isKeeping.load(ordering: .acquiring), isatty(STDERR_FILENO) == 1 else { return }
    if file < 0 {
      let made = navsync_memfd_create("kept errors")
      guard made >= 0 else { return }
      _ = fcntl(made, F_SETFL, O_APPEND)
      originalDescriptor.store(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), ordering: .releasing)
      fileDescriptor.store(made, ordering: .releasing)
    }
    guard original >= 0, dup2(file, STDERR_FILENO) >= 0 else { return }
    isKeeping.store(true, ordering: .releasing)
  }

  static var isKept: Bool { isKeeping.load(ordering: .acquiring) }

  /// Forgets what nobody can read any more, so that a program that writes for days keeps no memory for it. Called now and
  /// then.
  static func limit() {
    var status = stat()
    guard isKeeping.load(ordering: .acquiring), fstat(file, &status) == 0, status.st_size > 1 << 20 else { return }
    ftruncate(file, 0)
  }

  /// The standard error is the terminal again, and has what was kept. Calls only what a signal handler may.
  ///
  /// - Parameter isShown: false if the terminal is another's now.
  static func end(isShown: Bool) {
    guard isKeeping.exchange(false, ordering: .acquiringAndReleasing) else { return }
    dup2(original, STDERR_FILENO)
    var place = 0
    while isShown {
      let count = pread(file, buffer.baseAddress, buffer.count, place)
      guard count > 0, write(original, buffer.baseAddress, count) > 0 else { break }
      place += count
    }
    ftruncate(file, 0)
  }

  private static let isKeeping = Atomic<Bool>(false)
  // Made once, before anything is kept, and open for the rest of the process.
  private static let fileDescriptor = Atomic<Int32>(-1)
  private static let originalDescriptor = Atomic<Int32>(-1)
  private static var file: Int32 { fileDescriptor.load(ordering: .acquiring) }
  private static var original: Int32 { originalDescriptor.load(ordering: .acquiring) }
  // Used by who has just taken the flag.
  private nonisolated(unsafe) static let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)

  /// Makes what `end` needs, before a handler may call it.
  static func prepare() { _ = buffer }
}
