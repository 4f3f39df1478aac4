import Foundation
import Glibc

/// What a process has and has used, by /proc.
struct ProcessSample: Sendable {
  var at = ContinuousClock.now
  /// Of memory that is its own; what is mapped of files, such as the store's, is the system's to take back.
  var residentBytes = 0
  var threads = 0
  var descriptors = 0
  /// Seconds of a processor since it began.
  var processorSeconds = 0.0

  /// Nil if there is no such process.
  init?(_ process: pid_t) {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
      let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
    else { return nil }
    func number(_ name: String) -> Int {
      let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
      return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }
    residentBytes = number("RssAnon:") << 10
    threads = number("Threads:")
    descriptors = open.count
    // After the name, which may have spaces: field 3 is the first; 14 and 15 are the times in ticks (proc(5)).
    let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) else { return nil }
    processorSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  func processorShare(since before: ProcessSample) -> Double {
    (processorSeconds - before.processorSeconds) / ((at - before.at) / .seconds(1))
  }
}
