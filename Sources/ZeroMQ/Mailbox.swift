import CZeroMQ
import Glibc
import Locking

/// The way from any thread to a loop: commands are handed over in batches, with one wake-up a batch.
///
/// From one thread, commands arrive in the order they were posted.
public final class Mailbox<Command: Sendable>: Sendable {
  private struct State: Sendable {
    var commands: [Command] = []
    var isStopping = false
    var isClosed = false
  }

  private let state = Locked(State())
  /// Readable while something waits. Open for the life of the mailbox, so a late post can't hit another's descriptor.
  let descriptor: Int32

  init() throws(ZeroMQError) {
    descriptor = navsync_eventfd()
    if descriptor < 0 {
      throw .system("eventfd", about: "loop", detail: "no more file descriptors; raise the limit of open files")
    }
  }

  deinit { close(descriptor) }

  /// Hands a command to the loop. Any thread; never blocks but for the lock.
  /// - Returns: false if the loop has ended and the command will never arrive. A command that was taken does.
  @discardableResult
  public func post(_ command: Command) -> Bool {
    post { $0.append(command) }
  }

  /// Hands several commands to the loop at once, in order.
  /// - Returns: as ``post(_:)-(Command)``.
  @discardableResult
  public func post(contentsOf commands: [Command]) -> Bool {
    commands.isEmpty ? !state.withLock { $0.isClosed } : post { $0 += commands }
  }

  private func post(_ add: (inout [Command]) -> Void) -> Bool {
    let (taken, wakes) = state.withLock { state -> (Bool, Bool) in
      if state.isClosed { return (false, false) }
      let wasEmpty = state.commands.isEmpty
      add(&state.commands)
      return (true, wasEmpty)
    }
    if wakes { wake() }
    return taken
  }

  /// Asks the loop to end.
  func requestStop() {
    state.withLock { $0.isStopping = true }
    wake()
  }

  /// Takes what waits and says whether the loop shall end. The loop's thread only.
  func take() -> (commands: [Command], isStopping: Bool) {
    // Emptied before the commands are taken: a post between the two wakes once more for nothing, and none is missed.
    var count: UInt64 = 0
    while read(descriptor, &count, 8) < 0, errno == EINTR {}
    return state.withLock { state in
      var commands: [Command] = []
      swap(&commands, &state.commands)
      return (commands, state.isStopping)
    }
  }

  /// Takes what waits and refuses what comes later.
  func shut() -> [Command] {
    state.withLock { state in
      state.isClosed = true
      var commands: [Command] = []
      swap(&commands, &state.commands)
      return commands
    }
  }

  private func wake() {
    var one: UInt64 = 1
    // It can only fail with EINTR, or with EAGAIN when 2⁶⁴-2 wake-ups wait, and then the loop is awake.
    while write(descriptor, &one, 8) < 0, errno == EINTR {}
  }
}
