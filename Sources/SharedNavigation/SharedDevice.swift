import Dispatch
import Foundation
import Locking
package import NavigationClient
import TerminalUI

/// The device of a process: opened at the first shared path, closed at the process's end.
@MainActor
package final class SharedDevice {
  /// What the program's arguments and the environment name.
  static let ofProcess = SharedDevice(
    options: SharedOptions(arguments: Array(CommandLine.arguments.dropFirst()), ProcessInfo.processInfo.environment))

  /// What can't be opened has its reason.
  private let device: Result<Device, ClientError>
  private var stacks: [String: SharedStack] = [:]
  /// Answers to actions, on their way from the device's thread to the main actor.
  private let answers = Answers()

  /// A device that is open. Whoever opened it closes it.
  package init(_ device: Device) { self.device = .success(device) }

  private init(options: SharedOptions) {
    device = blocking { () async throws(ClientError) in
      if let problem = options.problem { throw problem }
      return try await Device.open(name: options.device, options: options.deviceOptions)
    }
    TerminalProgram.beforeEnd.append { [self] in close() }
  }

  /// The display name; empty if there is no device.
  var name: String { (try? device.get().name) ?? "" }

  /// The stack of that name; the same for the same name.
  ///
  /// The main thread waits for the device's disk, so that the first picture is the right one: a few milliseconds.
  func stack(_ name: String, policy: Policy?) -> SharedStack {
    if let stack = stacks[name] { return stack }
    let device = device
    let stack = blocking { () async throws(ClientError) in try await device.get().stack(name, policy: policy) }
    let shared = SharedStack(name: name, stack, of: self)
    stacks[name] = shared
    return shared
  }

  // MARK: Answers

  /// Does something about an answer, on the main actor. Called on the device's thread.
  nonisolated func answered(_ take: @escaping @MainActor @Sendable () -> Void) {
    answers.add(take)
    Task { @MainActor in takeAnswers() }
  }

  private func takeAnswers() {
    for take in answers.take() { take() }
  }

  /// Waits until all that the views did is on the disk, and closes the device. The process is about to end.
  private func close() {
    // A disk that hangs doesn't keep the program.
    let end = DispatchTime.now() + .seconds(2)
    while stacks.values.contains(where: { !$0.isSettled }), answers.wait(until: end) { takeAnswers() }
    for (name, stack) in stacks.sorted(by: { $0.key < $1.key }) {
      if let failure = stack.failure { say("\(name) was not shared: \(failure)") }
      if let waiting = stack.waiting, waiting > 0 { say("\(name): waiting: \(waiting)") }
    }
    guard case .success(let device) = device else { return }
    let closed = DispatchSemaphore(value: 0)
    Task.detached {
      await device.close()
      closed.signal()
    }
    _ = closed.wait(timeout: end)
  }
}

/// Tells the person, who has the terminal again.
private func say(_ line: String) { try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8)) }

/// Answers that wait for the main actor.
private final class Answers: Sendable {
  private let waiting = Locked<[@MainActor @Sendable () -> Void]>([])
  private let arrived = DispatchSemaphore(value: 0)

  func add(_ take: @escaping @MainActor @Sendable () -> Void) {
    waiting.withLock { $0.append(take) }
    arrived.signal()
  }

  func take() -> [@MainActor @Sendable () -> Void] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }

  /// Until there is one; false if none came in time.
  func wait(until end: DispatchTime) -> Bool { arrived.wait(timeout: end) == .success }
}

/// Waits, on the main thread, for something that is done on others.
@MainActor
package func blocking<Answer: Sendable>(
  _ body: @escaping @Sendable () async throws(ClientError) -> Answer
) -> Result<Answer, ClientError> {
  let box = Locked<Result<Answer, ClientError>?>(nil)
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    let result: Result<Answer, ClientError>
    do throws(ClientError) { result = .success(try await body()) } catch { result = .failure(error) }
    box.withLock { $0 = result }
    done.signal()
  }
  done.wait()
  guard let result = box.withLock({ $0 }) else { preconditionFailure("done without a result") }
  return result
}
