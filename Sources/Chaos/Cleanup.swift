import Foundation
import Glibc
import Locking

/// What has to be undone whatever happens: mounts, namespaces, processes. The last made is undone first. Any thread.
final class Cleanup: Sendable {
  private let steps = Locked<[(number: Int, undo: @Sendable () -> Void)]>([])
  private let next = Locked(0)

  /// - Returns: what ``undo(_:)`` takes.
  func add(_ undo: @escaping @Sendable () -> Void) -> Int {
    let number = next.withLock { next in
      next += 1
      return next
    }
    steps.withLock { $0.append((number, undo)) }
    return number
  }

  /// Does one step now, and never again.
  func undo(_ number: Int) {
    let step = steps.withLock { steps in
      steps.firstIndex { $0.number == number }.map { steps.remove(at: $0).undo }
    }
    step?()
  }

  func undoAll() {
    while let step = steps.withLock({ $0.popLast()?.undo }) { step() }
  }
}

/// Runs a short program of the system, and waits on this thread.
///
/// - Returns: what it said, nil if it failed.
@discardableResult
func system(_ words: [String]) -> (isDone: Bool, said: String) {
  let process = Process()
  let output = Pipe()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = words
  process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
  process.standardInput = FileHandle.nullDevice
  process.standardOutput = output
  process.standardError = output
  do { try process.run() } catch { return (false, "\(error)") }
  try? output.fileHandleForWriting.close()
  let said = (try? output.fileHandleForReading.readToEnd()) ?? Data()
  process.waitUntilExit()
  return (
    process.terminationReason == .exit && process.terminationStatus == 0,
    String(decoding: said, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  )
}

/// As ``system(_:)``, throwing what it said.
func require(_ words: String...) throws {
  let (isDone, said) = system(words)
  guard isDone else { throw Failure("'\(words.joined(separator: " "))': \(said)") }
}
