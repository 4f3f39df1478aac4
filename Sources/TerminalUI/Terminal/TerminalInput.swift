import Dispatch
import Glibc
import Locking

/// Reads the terminal and the signals on a thread of its own, so that neither waits for what the main actor does, and
/// hands what it hears to the main actor in order.
///
/// Keys are read on only when the main actor has taken those that came: what a person pastes waits in the terminal.
final class TerminalInput: Sendable {
  /// What was heard since the main actor last looked.
  struct News: Sendable {
    var events: [InputEvent] = []
    /// The numbers of signals that came, each once.
    var signals: Set<Int32> = []

    var isEmpty: Bool { events.isEmpty && signals.isEmpty }
  }

  /// How long the program may take to end after it was asked to.
  static let endingNanoseconds: UInt64 = 2_000_000_000

  private struct State: Sendable {
    var news = News()
    var isScheduled = false
    var isClosed = false
  }

  private let descriptor: Int32
  private let signals: Int32
  private let state = Locked(State())
  private let take: @MainActor @Sendable (News) -> Void
  private let end: @Sendable (Int32) -> Never

  /// - Parameters:
  ///   - end: ends the process by a signal that the main actor didn't obey.
  ///   - take: called on the main actor with all that is new.
  init(
    _ descriptor: Int32, signals: Int32, end: @escaping @Sendable (Int32) -> Never,
    take: @escaping @MainActor @Sendable (News) -> Void
  ) {
    self.descriptor = descriptor
    self.signals = signals
    self.end = end
    self.take = take
  }

  /// The thread lives until `close`; it holds this object.
  func start() throws(TerminalError) {
    let box = Unmanaged.passRetained(self)
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { box in
        let input = Unmanaged<TerminalInput>.fromOpaque(box!).takeRetainedValue()
        input.run()
        return nil
      }, box.toOpaque())
    guard result == 0 else {
      box.release()
      throw TerminalError("no thread for the terminal", result)
    }
    pthread_detach(thread)
  }

  /// Nothing is handed over any more, and soon nothing is read.
  func close() {
    state.withLock { $0.isClosed = true }
    SignalPipe.send(SignalPipe.wake)
  }

  private func run() {
    SignalPipe.unblock()
    var decoder = InputDecoder()
    var isConnected = true
    var ending: (signal: Int32, deadline: UInt64)?
    while true {
      let (isClosed, isBusy) = state.withLock { ($0.isClosed, $0.isScheduled) }
      if isClosed { return }
      let deadline = [decoder.deadline, ending?.deadline].compactMap(\.self).min()
      var ready = [
        pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
        pollfd(fd: isConnected && !isBusy ? descriptor : -1, events: Int16(POLLIN), revents: 0),
      ]
      poll(&ready, 2, deadline.map(Self.milliseconds(until:)) ?? -1)
      var news = News()
      if ready[0].revents != 0 { news.signals = receiveSignals() }
      if ready[1].revents != 0 {
        if let bytes = receiveBytes() {
          news.events = decoder.receive(bytes, at: Self.now())
        } else {
          isConnected = false
          news.events = decoder.timePassed(to: .max) + [.hangUp]
        }
      }
      news.events += decoder.timePassed(to: Self.now())
      for signal in news.signals.intersection([SIGTERM, SIGHUP, SIGINT]) {
        // Asked twice, or in vain.
        if ending != nil { end(signal) }
        ending = (signal, Self.now() + Self.endingNanoseconds)
      }
      if let ending, Self.now() >= ending.deadline { end(ending.signal) }
      handOver(news)
    }
  }

  private func handOver(_ news: News) {
    guard !news.isEmpty else { return }
    let isFirst = state.withLock { state in
      state.news.events += news.events
      state.news.signals.formUnion(news.signals)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    guard isFirst else { return }
    DispatchQueue.main.async {
      MainActor.assumeIsolated {
        while let news = self.takeNews() { self.take(news) }
        // Keys may be read on.
        SignalPipe.send(SignalPipe.wake)
      }
    }
  }

  /// What came; nil if nothing did, and from then on more is scheduled anew.
  private func takeNews() -> News? {
    state.withLock { state in
      if state.isClosed { state.news = News() }
      guard !state.news.isEmpty else {
        state.isScheduled = false
        return nil
      }
      defer { state.news = News() }
      return state.news
    }
  }

  private func receiveSignals() -> Set<Int32> {
    var bytes = [UInt8](repeating: 0, count: 256)
    var signals: Set<Int32> = []
    while true {
      let count = read(self.signals, &bytes, bytes.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return signals }
      signals.formUnion(bytes[..<count].filter { $0 != SignalPipe.wake }.map(Int32.init))
    }
  }

  /// nil if the terminal is gone.
  private func receiveBytes() -> ArraySlice<UInt8>? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(descriptor, &bytes, bytes.count)
    if count > 0 { return bytes[..<count] }
    return count < 0 && (errno == EINTR || errno == EAGAIN) ? [] : nil
  }

  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Rounded up, so that the time has come when `poll` returns.
  private static func milliseconds(until deadline: UInt64) -> Int32 {
    let now = now()
    return deadline <= now ? 0 : Int32(clamping: (deadline - now + 999_999) / 1_000_000)
  }
}
