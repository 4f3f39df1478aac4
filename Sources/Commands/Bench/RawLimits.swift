package import Foundation
import Glibc
import Locking
import ZeroMQ

/// What this machine can do at best, measured in the same run as navsync, to say how far from it navsync is.
package enum RawLimits {
  /// A round trip of a message over an ipc DEALER and ROUTER, each in a thread that waits for it.
  package struct RoundTrip: Hashable, Sendable {
    /// Nanoseconds.
    package var median: Int
    package var count: Int
  }

  /// An append of so many bytes that is on stable storage when it returns.
  package struct DurableAppend: Hashable, Sendable {
    /// Nanoseconds of write and `fdatasync` together.
    package var median: Int
    package var count: Int
  }

  /// Records appended in order, made durable a batch at a time.
  package struct SequentialAppend: Hashable, Sendable {
    /// Nanoseconds of a batch.
    package var median: Int
    package var recordsABatch: Int

    package var recordsPerSecond: Double { Double(recordsABatch) * 1e9 / Double(max(median, 1)) }
  }

  /// Measures round trips, one after the other. Blocks for about the count times a tenth of a millisecond.
  /// - Parameter folder: where the socket's file is made and removed; its path is short.
  package static func roundTrip(in folder: URL, count: Int = 5000, bytes: Int = 128) throws -> RoundTrip {
    precondition(count > 0, "a median needs a measurement")
    let echo = try Echo(in: folder, bytes: bytes)
    defer { echo.end() }
    for _ in 0..<min(count, 200) { _ = try echo.measure() }
    var times = try (0..<count).map { _ in try echo.measure() }
    return RoundTrip(median: median(of: &times), count: count)
  }

  /// Measures an append of some bytes with `fdatasync`, on the disk of a folder.
  package static func durableAppend(in folder: URL, count: Int = 500, bytes: Int = 200) throws -> DurableAppend {
    var times = try appends(in: folder, count: count, bytes: [UInt8](repeating: 7, count: bytes))
    return DurableAppend(median: median(of: &times), count: count)
  }

  /// Measures appends of batches of records, each batch one write and one `fdatasync`.
  package static func sequentialAppend(
    in folder: URL, batches: Int = 200, recordsABatch: Int = 1000, bytesARecord: Int = 40
  ) throws -> SequentialAppend {
    let batch = [UInt8](repeating: 7, count: recordsABatch * bytesARecord)
    var times = try appends(in: folder, count: batches, bytes: batch)
    return SequentialAppend(median: median(of: &times), recordsABatch: recordsABatch)
  }

  /// The nanoseconds of each append. The file is removed.
  private static func appends(in folder: URL, count: Int, bytes: [UInt8]) throws -> [Int] {
    precondition(count > 0, "a median needs a measurement")
    let file = try AppendFile(in: folder, room: count, bytes: bytes)
    defer { file.end() }
    return try (0..<count).map { _ in try file.measure() }
  }

  fileprivate static func failure(_ call: String, _ path: String) -> ZeroMQError {
    ZeroMQError(
      errno, call: call, about: path,
      detail: "measuring the disk failed: \(String(cString: strerror(errno))); choose another folder")
  }

  fileprivate static func median(of times: inout [Int]) -> Int {
    times.sort()
    return times[times.count / 2]
  }

  fileprivate static func nanoseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
  }
}

extension RawLimits {
  /// A ROUTER, and a DEALER on a thread of its own that answers it.
  private final class Echo {
    private let router: Socket
    private let endpoint: Endpoint
    private let answers: pthread_t
    private let payload: [UInt8]
    private var identity = Frame()
    private var body = Frame()

    /// How long one side waits for the other before it gives up.
    private static let longestWaitMilliseconds = 5000

    init(in folder: URL, bytes: Int) throws {
      let endpoint = try Endpoint(path: folder.appendingPathComponent("raw").path)
      self.endpoint = endpoint
      payload = [UInt8](repeating: 7, count: bytes)
      router = try Socket(.router)
      try router.limitWaits(milliseconds: Self.longestWaitMilliseconds)
      try router.bind(endpoint)
      answers = try startThread(name: "raw echo") { try? Self.answer(endpoint) }
      // The dealer speaks first, so that the router knows its routing id.
      guard router.receive(into: &identity, waiting: true), router.receive(into: &body, waiting: true) else {
        end()
        throw silence
      }
    }

    /// The nanoseconds of one round trip.
    func measure() throws -> Int {
      let start = nanoseconds()
      try send(payload)
      var target = Frame()
      guard router.receive(into: &target, waiting: true), router.receive(into: &body, waiting: true) else {
        throw silence
      }
      return nanoseconds() - start
    }

    /// Ends the other thread, with an empty message.
    func end() {
      try? send([])
      pthread_join(answers, nil)
      unlink(endpoint.path ?? "")
    }

    private func send(_ bytes: [UInt8]) throws {
      var target = identity.copy()
      var message = Frame(bytes)
      let sent = (router.send(&target, more: true, waiting: true), router.send(&message, waiting: true))
      guard sent == (0, 0) else { throw silence }
    }

    private var silence: ZeroMQError {
      ZeroMQError(EPROTO, call: "receive", about: endpoint.description, detail: "the other thread didn't answer")
    }

    private static func answer(_ endpoint: Endpoint) throws {
      let dealer = try Socket(.dealer)
      try dealer.limitWaits(milliseconds: longestWaitMilliseconds)
      try dealer.connect(endpoint)
      var frame = Frame([0])
      _ = dealer.send(&frame, waiting: true)
      while dealer.receive(into: &frame, waiting: true), frame.count > 0 {
        guard dealer.send(&frame, waiting: true) == 0 else { return }
      }
    }
  }

  /// A file whose room was written before, as a write-ahead log's is: its size doesn't change, so nothing but the data
  /// goes to the disk.
  private struct AppendFile {
    private let file: Int32
    private let path: String
    private let bytes: [UInt8]

    init(in folder: URL, room: Int, bytes: [UInt8]) throws {
      path = folder.appendingPathComponent("raw-\(UUID().uuidString)").path
      self.bytes = bytes
      file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw failure("open", path) }
      let zeros = [UInt8](repeating: 0, count: bytes.count)
      for _ in 0..<room {
        guard write(file, zeros, zeros.count) == zeros.count else {
          defer { end() }
          throw failure("write", path)
        }
      }
      guard fsync(file) == 0, lseek(file, 0, SEEK_SET) == 0 else {
        defer { end() }
        throw failure("fsync", path)
      }
    }

    /// The nanoseconds of one append.
    func measure() throws -> Int {
      let start = nanoseconds()
      guard write(file, bytes, bytes.count) == bytes.count else { throw failure("write", path) }
      guard fdatasync(file) == 0 else { throw failure("fdatasync", path) }
      return nanoseconds() - start
    }

    func end() {
      close(file)
      unlink(path)
    }
  }

  /// One round trip and one append at a time, on a thread of their own: beside something that is measured between them,
  /// once in a while as they are, so that caches and processor are as cold and the machine is as busy.
  package final class Sampler: Sendable {
    private struct State: Sendable {
      var asked = 0
      var trips: [Int] = []
      var appends: [Int] = []
      var isEnding = false
      var hasEnded = false
      var failure: (any Error)?
    }

    private let state = Locked(State())

    /// - Parameter samples: at most so many are asked for.
    package init(in folder: URL, samples: Int) throws {
      let state = state
      let thread = try startThread(name: "raw sampler") {
        do { try Self.measure(in: folder, samples, state) } catch { state.change { $0.failure = error } }
        state.change { $0.hasEnded = true }
      }
      pthread_detach(thread)
    }

    private static func measure(in folder: URL, _ samples: Int, _ state: Locked<State>) throws {
      let echo = try Echo(in: folder, bytes: 128)
      defer { echo.end() }
      let file = try AppendFile(in: folder, room: samples, bytes: [UInt8](repeating: 7, count: 200))
      defer { file.end() }
      var done = 0
      while state.wait(until: { $0.isEnding ? false : $0.asked > done ? true : nil }) {
        let trip = try echo.measure()
        pause()
        let append = try file.measure()
        done += 1
        state.change { state in
          state.trips.append(trip)
          state.appends.append(append)
        }
      }
    }

    /// What comes between two of anything that is measured.
    package static func pause() { usleep(2000) }

    /// Measures both once, with a pause between; blocks as long.
    package func sample() throws {
      var number = 0
      state.change { state in
        state.asked += 1
        number = state.asked
      }
      try state.wait { state -> Result<Void, any Error>? in
        if let failure = state.failure { return .failure(failure) }
        return state.appends.count >= number ? .success(()) : nil
      }.get()
    }

    /// The medians; the files are gone.
    package func end() -> (trip: RoundTrip, append: DurableAppend) {
      state.change { $0.isEnding = true }
      return state.wait { state in
        guard state.hasEnded, !state.appends.isEmpty else { return nil }
        return (
          RoundTrip(median: median(of: &state.trips), count: state.trips.count),
          DurableAppend(median: median(of: &state.appends), count: state.appends.count)
        )
      }
    }
  }
}
