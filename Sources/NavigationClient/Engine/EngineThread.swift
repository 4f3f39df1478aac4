import EventLog
import Glibc
import Locking
import NavigationModel
import ZeroMQ

/// An engine on its thread, as the public types hold it.
final class EngineThread: Sendable {
  let configuration: Engine.Configuration
  /// The device's id, nil for an observer. May change when the device becomes a new incarnation.
  let identity: Locked<DeviceID?>
  private let loop: SocketLoop<EngineCommand>

  /// Starts the thread. What blocks (the store's lock, reading, resolving) is done on threads of its own, never in the
  /// cooperative pool.
  ///
  /// - Parameter prepare: makes the configuration and the log, on a thread that may block.
  static func start(
    connects: Bool,
    _ prepare:
      @escaping @Sendable () throws(ClientError) -> (
        Engine.Configuration, DeviceID?, FolderStore?, InTransit<(any EventLog)?>
      )
  ) async throws(ClientError) -> EngineThread {
    let result: Result<EngineThread, ClientError> = await handedOver { give in
      do throws(ZeroMQError) {
        let thread = try startThread(name: "navsync-open") {
          do throws(ClientError) {
            let (configuration, device, store, log) = try prepare()
            give(.success(try EngineThread(configuration, device, store, log)))
          } catch { give(.failure(error)) }
        }
        pthread_detach(thread)
      } catch { give(.failure(ClientError(error))) }
    }
    let engine = try result.get()
    if connects { engine.post(.connect) }
    return engine
  }

  private init(
    _ configuration: Engine.Configuration, _ device: DeviceID?, _ store: FolderStore?, _ log: InTransit<(any EventLog)?>
  ) throws(ClientError) {
    self.configuration = configuration
    let identity = Locked(device)
    self.identity = identity
    let mailbox = Locked<Mailbox<EngineCommand>?>(nil)
    do {
      loop = try SocketLoop(name: "navsync-\(configuration.name)") { loop in
        try Engine(configuration, identity: identity, log: log.take(), store: store, loop: loop, mailbox: mailbox)
      }
    } catch let error as ZeroMQError { throw ClientError(error) } catch let error as LogError {
      throw ClientError(error)
    } catch {
      throw ClientError(.storage, about: configuration.name, "\(error)", error)
    }
    mailbox.withLock { $0 = loop.mailbox }
  }

  @discardableResult
  func post(_ command: EngineCommand) -> Bool { loop.mailbox.post(command) }

  /// Posts a command and waits for its reply.
  func call<Answer: Sendable>(_ make: (Reply<Answer>) -> EngineCommand) async throws(ClientError) -> Answer {
    let result: Result<Answer, ClientError> = await handedOver { give in
      if !post(make(Reply(give))) { give(.failure(.closed(configuration.name))) }
    }
    return try result.get()
  }

  /// Ends the thread: what was posted is done, the log is closed. Comes back when it is.
  func stop() async {
    await withCheckedContinuation { continuation in
      let loop = loop
      if let thread = try? startThread(
        name: "navsync-close",
        {
          loop.stop()
          continuation.resume()
        })
      {
        pthread_detach(thread)
      } else {
        // No thread to be had: end it without waiting.
        loop.requestStop()
        continuation.resume()
      }
    }
  }
}

/// Waits until a result is given, once, from any thread.
///
/// It goes through a lock and not through the continuation alone: ThreadSanitizer doesn't see that a continuation that is
/// resumed from a thread of ours orders what was written before it.
private func handedOver<Answer: Sendable>(
  _ body: (@escaping @Sendable (Result<Answer, ClientError>) -> Void) -> Void
) async -> Result<Answer, ClientError> {
  let box = Locked<Result<Answer, ClientError>?>(nil)
  await withCheckedContinuation { continuation in
    body { result in
      box.withLock { $0 = result }
      continuation.resume()
    }
  }
  guard let result = box.withLock({ $0 }) else { preconditionFailure("resumed without a result") }
  return result
}

extension Duration {
  /// In whole milliseconds, rounded up, and at most a year.
  var milliseconds: Int {
    let (seconds, attoseconds) = components
    guard seconds < 31_536_000 else { return 31_536_000_000 }
    return max(0, Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
  }
}
