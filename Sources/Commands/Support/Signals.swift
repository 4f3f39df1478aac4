// Dispatch's sources may be used from any thread, but aren't declared so.
@preconcurrency import Dispatch
import Foundation

/// The signals of these numbers as they come; they no longer end the process. Ends when the task that reads it is
/// cancelled or lets go of it, and the signals then do what they did before.
package func signals(_ numbers: [Int32]) -> AsyncStream<Int32> {
  AsyncStream { continuation in
    let queue = DispatchQueue(label: "navsync.signals")
    let sources = numbers.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { continuation.yield(number) }
      source.resume()
      return source
    }
    continuation.onTermination = { _ in
      for source in sources { source.cancel() }
      for number in numbers { signal(number, SIG_DFL) }
    }
  }
}

/// Whether the process was started so that a signal does nothing, as `nohup` does with `SIGHUP`.
func isIgnored(_ number: Int32) -> Bool {
  let handler = signal(number, SIG_IGN)
  signal(number, handler)
  return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}
