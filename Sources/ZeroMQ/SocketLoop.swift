import CZeroMQ
package import Glibc
import Locking

/// One thread that owns sockets and polls them, with a handler that lives on it.
///
/// Others talk to the handler through the mailbox. The loop runs until ``stop()``, or until the last reference to it
/// goes.
public final class SocketLoop<Command: Sendable>: Sendable {
  public let mailbox: Mailbox<Command>

  private enum Phase: Sendable {
    case starting
    case running
    case failed(any Error)
  }

  private struct Life: Sendable {
    var isJoined = false
  }

  private let thread: pthread_t
  private let life = Locked(Life())

  /// Starts the thread, creates the handler on it, and returns when that is done: what the handler's creation throws, as
  /// a bind that fails, is thrown here. Blocks for as long, which is a few milliseconds.
  ///
  /// - Parameters:
  ///   - name: the thread's name, for debuggers; 15 bytes of it are kept.
  ///   - makeHandler: called on the loop's thread; opens the first sockets.
  public init<Handler: LoopHandler>(
    name: String, _ makeHandler: @escaping @Sendable (Loop) throws -> Handler
  ) throws where Handler.Command == Command {
    let mailbox = try Mailbox<Command>()
    let phase = Locked(Phase.starting)
    let thread = try startThread(name: name) {
      let loop = Loop()
      do {
        var handler = try makeHandler(loop)
        phase.change { $0 = .running }
        loop.run(&handler, mailbox)
      } catch {
        _ = mailbox.shut()
        loop.closeAll()
        phase.change { $0 = .failed(error) }
      }
    }
    let failure: (any Error)? = phase.wait { phase in
      switch phase {
      case .starting: nil
      case .running: .some(nil)
      case .failed(let error): .some(error)
      }
    }
    if let failure {
      pthread_join(thread, nil)
      throw failure
    }
    self.mailbox = mailbox
    self.thread = thread
  }

  deinit {
    mailbox.requestStop()
    let isJoined = life.withLock { $0.isJoined }
    if !isJoined { pthread_detach(thread) }
  }

  /// Asks the loop to end, without waiting: it finishes its turn, hands over the commands that were posted, and closes
  /// its sockets.
  public func requestStop() { mailbox.requestStop() }

  /// Ends the loop and waits until its sockets are closed and its thread is gone: the turn it is in, and at most 0.2
  /// seconds for a ROUTER with a peer that doesn't read, usually less than a millisecond. Any thread but the loop's own; may be called again.
  public func stop() {
    precondition(pthread_equal(thread, pthread_self()) == 0, "a loop can't wait for itself; use Loop.stop()")
    mailbox.requestStop()
    life.withLock { life in
      if life.isJoined { return }
      life.isJoined = true
      pthread_join(thread, nil)
    }
  }
}

/// Starts a thread that takes no signals, so that the process's own handling of them sees them all.
package func startThread(name: String, _ body: @escaping @Sendable () -> Void) throws(ZeroMQError) -> pthread_t {
  final class Start {
    let name: String
    let body: @Sendable () -> Void
    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
  let start = Unmanaged.passRetained(Start(name, body))
  var thread = pthread_t()
  var all = sigset_t()
  var before = sigset_t()
  // A thread inherits the mask of its maker.
  sigfillset(&all)
  pthread_sigmask(SIG_SETMASK, &all, &before)
  let number = pthread_create(
    &thread, nil,
    { argument in
      guard let argument else { return nil }
      let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
      navsync_name_thread(start.name)
      start.body()
      return nil
    }, start.toOpaque())
  pthread_sigmask(SIG_SETMASK, &before, nil)
  guard number == 0 else {
    start.release()
    throw ZeroMQError(number, call: "pthread_create", about: name, detail: "no more threads can be started")
  }
  return thread
}
