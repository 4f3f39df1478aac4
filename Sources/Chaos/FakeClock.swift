import Foundation
import Glibc

/// A wall clock that can be set under a running process, by libfaketime. Its monotonic clock stays as it is.
struct FakeClock {
  private let file: String

  /// Where Debian's package `faketime` puts it.
  private static let libraries = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/faketime/libfaketimeMT.so.1" }
  private static var library: String? { libraries.first { access($0, R_OK) == 0 } }

  static func obstacle() -> String? {
    library == nil ? "libfaketime is missing (the package faketime); nothing else sets the clock of one process" : nil
  }

  /// - Parameter file: where the clock's deviation is kept.
  init(file: String) throws {
    self.file = file
    try set(seconds: 0)
  }

  /// Of a process that is to go by it.
  var environment: [String: String] {
    [
      "LD_PRELOAD": Self.library ?? "", "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_CACHE_DURATION": "1",
      "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    ]
  }

  /// Puts it ahead of the real one, or behind; holds within a second.
  func set(seconds: Int) throws {
    try Data((seconds < 0 ? "\(seconds)" : "+\(seconds)").utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
  }
}
