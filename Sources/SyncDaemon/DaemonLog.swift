import Glibc
import Locking

/// The daemon's log lines, to a descriptor: for people, or JSON Lines for collectors. Any thread.
///
/// Never a flood: of one kind (the message without its fields) a few lines in ten seconds are written, then they are
/// counted, and the next line of that kind says how many were left out.
public final class DaemonLog: Sendable {
  public enum Level: Int, Hashable, Sendable, Comparable, CaseIterable {
    case debug, info, warning, error

    public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  public enum Format: Hashable, Sendable { case human, json }

  /// A name and a value beside the message.
  public typealias Field = (name: String, value: String)

  private let level: Level
  private let format: Format
  private let descriptor: Int32
  private let kinds = Locked([String: Kind]())

  private struct Kind: Sendable {
    var since = 0
    var written = 0
    var leftOut = 0
  }

  static let linesOfAKind = 5
  static let auditLinesOfAKind = 1000
  static let windowMilliseconds = 10_000

  /// - Parameter descriptor: stays the caller's; the standard error if not given.
  public init(level: Level = .info, format: Format = .human, descriptor: Int32 = 2) {
    self.level = level
    self.format = format
    self.descriptor = descriptor
  }

  public func write(_ level: Level, _ message: String, _ fields: [Field] = []) {
    write(level, message, fields, most: Self.linesOfAKind)
  }

  /// A line that has to be there when it is asked who was refused, or who may what since when: far more of a kind are
  /// written before they are counted.
  public func audit(_ level: Level, _ message: String, _ fields: [Field] = []) {
    write(level, message, fields, most: Self.auditLinesOfAKind)
  }

  private func write(_ level: Level, _ message: String, _ fields: [Field], most: Int) {
    guard level >= self.level else { return }
    let now = clock(CLOCK_MONOTONIC)
    let leftOut: Int? = kinds.withLock { kinds in
      var kind = kinds[message, default: Kind(since: now)]
      defer { kinds[message] = kind }
      var before = 0
      if now - kind.since >= Self.windowMilliseconds {
        before = kind.leftOut
        kind = Kind(since: now)
      }
      guard kind.written < most else {
        kind.leftOut += 1
        return nil
      }
      kind.written += 1
      return before
    }
    guard let leftOut else { return }
    put(level, message, leftOut == 0 ? fields : fields + [("left_out", "\(leftOut)")])
  }

  /// Says what was left out and not yet told of.
  public func flush() {
    let rest = kinds.withLock { kinds in
      defer { kinds = [:] }
      return kinds.filter { $0.value.leftOut > 0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value.leftOut) }
    }
    for (message, count) in rest { put(.info, message, [("left_out", "\(count)")]) }
  }

  private func put(_ level: Level, _ message: String, _ fields: [Field]) {
    let line =
      switch format {
      case .human: human(level, message, fields)
      case .json: json(level, message, fields)
      }
    var bytes = Array((line + "\n").utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        bytes = bytes.dropFirst(count)
      } else if errno != EINTR {
        // Nobody reads the log: the daemon goes on.
        return
      }
    }
  }

  // MARK: Forms

  private func human(_ level: Level, _ message: String, _ fields: [Field]) -> String {
    var line = "\(time("%H:%M:%S", localtime_r)) \(level)"
    line += String(repeating: " ", count: max(8 - "\(level)".utf8.count, 1)) + message
    for field in fields {
      let value = escaped(field.value)
      let needsQuotes = value.isEmpty || value.contains(" ")
      line += "  \(field.name)=" + (needsQuotes ? "\"\(value)\"" : value)
    }
    return line
  }

  private func json(_ level: Level, _ message: String, _ fields: [Field]) -> String {
    var line =
      "{\"time\":\"\(time("%Y-%m-%dT%H:%M:%S", gmtime_r))Z\",\"level\":\"\(level)\",\"message\":\"\(escaped(message))\""
    for field in fields { line += ",\"\(field.name)\":\"\(escaped(field.value))\"" }
    return line + "}"
  }

  private func time(
    _ pattern: String, _ convert: (UnsafePointer<time_t>, UnsafeMutablePointer<tm>) -> UnsafeMutablePointer<tm>?
  ) -> String {
    let now = clock(CLOCK_REALTIME)
    var seconds = time_t(now / 1000)
    var parts = tm()
    _ = convert(&seconds, &parts)
    var text = [CChar](repeating: 0, count: 32)
    let count = strftime(&text, text.count, pattern, &parts)
    let fraction = "\(1000 + now % 1000)".dropFirst()
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) + ".\(fraction)"
  }

  private func clock(_ clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int(time.tv_sec) * 1000 + Int(time.tv_nsec) / 1_000_000
  }

  /// As in a JSON string, which also keeps a peer's words from steering a terminal.
  private func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      case _: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
