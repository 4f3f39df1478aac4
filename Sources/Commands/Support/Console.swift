import ArgumentParsing
import Foundation

/// Where a command's data and talk go, and where its input comes from: three file descriptors and what is known of them.
///
/// Data goes to the output, and failing to write it is an error. Talk goes to the error side; if that fails, there is
/// nobody to tell. Every write is one system call where the system allows, so lines of several tasks don't mix.
package struct Console: Sendable {
  package let input: Int32
  package let output: Int32
  package let error: Int32
  package let environment: [String: String]
  /// Columns of the output's terminal; 80 if it isn't one and `COLUMNS` says nothing.
  package let width: Int
  /// Whether the output is a terminal.
  package let isTerminal: Bool
  /// Whether the error side is a terminal.
  package let errorIsTerminal: Bool

  /// The process's own streams.
  package static var standard: Console {
    Console(
      input: STDIN_FILENO, output: STDOUT_FILENO, error: STDERR_FILENO,
      environment: ProcessInfo.processInfo.environment)
  }

  /// Takes nothing and tells nobody: for what runs beneath a screen.
  package static let silent: Console = {
    let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
    return Console(input: nothing, output: nothing, error: nothing, environment: [:])
  }()

  /// The descriptors stay the caller's, who keeps them open as long as the console is used.
  package init(input: Int32, output: Int32, error: Int32, environment: [String: String]) {
    self.input = input
    self.output = output
    self.error = error
    self.environment = environment
    isTerminal = isatty(output) == 1
    errorIsTerminal = isatty(error) == 1
    var size = winsize()
    if let columns = environment["COLUMNS"].flatMap({ Int($0) }), columns > 0 {
      width = columns
    } else if isTerminal, ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
      width = Int(size.ws_col)
    } else {
      width = 80
    }
  }

  /// This console with its output going through another descriptor to the same terminal, as by a pager.
  func showing(through descriptor: Int32) -> Console { Console(self, output: descriptor) }

  private init(_ other: Console, output: Int32) {
    input = other.input
    self.output = output
    error = other.error
    environment = other.environment
    width = other.width
    isTerminal = other.isTerminal
    errorIsTerminal = other.errorIsTerminal
  }

  /// Writes a line of data.
  package func print(_ line: String) throws { try write(line + "\n") }

  /// Writes data as it is. Throws ``OutputClosed`` or a ``CommandError``.
  package func write(_ text: String) throws { try write(Array(text.utf8)) }

  /// Writes data as it is. Throws ``OutputClosed`` or a ``CommandError``.
  package func write(_ bytes: [UInt8]) throws { try writeAll(bytes, to: output, named: "the standard output") }

  /// Tells the person something; one line, not data. Control characters are shown escaped.
  package func say(_ line: String) {
    try? writeAll(Array((escapingControls(line) + "\n").utf8), to: error, named: "the standard error")
  }

  /// Whether the output takes colours: a terminal that isn't `dumb`, and no `NO_COLOR` (no-color.org).
  package var usesColour: Bool {
    isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }

  /// A text in a style, or as it is where the output takes none.
  package func styled(_ text: String, _ style: Style) -> String {
    usesColour ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// The codes of ECMA-48, "select graphic rendition".
  package enum Style: Int, Sendable {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33
    case cyan = 36
  }
}

/// Data on its way to a descriptor, gathered so that a million lines don't cost a million system calls.
///
/// Nothing is written after the last ``flush()``; an owner that is done calls it.
package final class BufferedOutput {
  private let descriptor: Int32
  private let name: String
  private var bytes: [UInt8] = []
  private static let capacity = 64 << 10

  /// - Parameter name: of the descriptor, for messages.
  package init(descriptor: Int32, name: String) {
    self.descriptor = descriptor
    self.name = name
    bytes.reserveCapacity(BufferedOutput.capacity + 4096)
  }

  package func write(_ more: some Sequence<UInt8>) throws {
    bytes.append(contentsOf: more)
    if bytes.count >= BufferedOutput.capacity { try flush() }
  }

  package func print(_ line: String) throws {
    bytes.append(contentsOf: line.utf8)
    try write(CollectionOfOne(UInt8(ascii: "\n")))
  }

  package func flush() throws {
    guard !bytes.isEmpty else { return }
    defer { bytes.removeAll(keepingCapacity: true) }
    try writeAll(bytes, to: descriptor, named: name)
  }
}

extension Console {
  /// Runs a body that writes much data, and writes out what is left of it after.
  package func withBufferedOutput<Result>(_ body: (BufferedOutput) throws -> Result) throws -> Result {
    let buffered = BufferedOutput(descriptor: output, name: "the standard output")
    let result = try body(buffered)
    try buffered.flush()
    return result
  }
}

/// Writes all bytes, however many calls it takes. Throws ``OutputClosed`` or a ``CommandError``.
func writeAll(_ bytes: [UInt8], to descriptor: Int32, named name: String) throws {
  try bytes.withUnsafeBytes { buffer in
    var rest = buffer[...]
    while !rest.isEmpty {
      let count = Foundation.write(descriptor, rest.baseAddressOfSlice, rest.count)
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&wait, 1, -1)
      } else if errno == EPIPE {
        throw OutputClosed()
      } else if errno != EINTR {
        throw CommandError(.ofSystem(errno), "writing to \(name) failed: \(systemMessage())")
      }
    }
  }
}

extension Slice<UnsafeRawBufferPointer> {
  fileprivate var baseAddressOfSlice: UnsafeRawPointer? { UnsafeRawBufferPointer(rebasing: self).baseAddress }
}

/// What the system says of the last failed call on this thread.
func systemMessage(_ number: Int32 = errno) -> String { String(cString: strerror(number)) }
