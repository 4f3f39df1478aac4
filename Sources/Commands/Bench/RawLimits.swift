package import Foundation
import Glibc
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

  /// Measures a round trip. Blocks for about the count times a tenth of a millisecond.
  /// - Parameter folder: where the socket's file is made and removed; its path is short.
  package static func roundTrip(in folder: URL, count: Int = 5000, bytes: Int = 128) throws -> RoundTrip {
    precondition(count > 0, "a median needs a measurement")
    let endpoint = try Endpoint(path: folder.appendingPathComponent("raw").path)
    defer { unlink(endpoint.path ?? "") }
    let warmUp = min(count, 200)
    let router = try Socket(.router)
    try router.limitWaits(milliseconds: longestWaitMilliseconds)
    try router.bind(endpoint)
    let answers = try startThread(name: "raw echo") {
      try? echo(endpoint, count: warmUp + count)
    }
    defer { pthread_join(answers, nil) }
    // The dealer speaks first, so that the router knows its routing id.
    var identity = Frame()
    var body = Frame()
    guard router.receive(into: &identity, waiting: true), router.receive(into: &body, waiting: true) else {
      throw ZeroMQError(EPROTO, call: "receive", about: endpoint.description, detail: "the other thread didn't answer")
    }
    let payload = [UInt8](repeating: 7, count: bytes)
    var times: [Int] = []
    times.reserveCapacity(count)
    for number in 0..<warmUp + count {
      let start = nanoseconds()
      var target = identity.copy()
      var message = Frame(payload)
      let sent = (router.send(&target, more: true, waiting: true), router.send(&message, waiting: true))
      guard sent == (0, 0), router.receive(into: &target, waiting: true), router.receive(into: &body, waiting: true)
      else {
        throw ZeroMQError(EPROTO, call: "send", about: endpoint.description, detail: "the other thread didn't answer")
      }
      if number >= warmUp { times.append(nanoseconds() - start) }
    }
    return RoundTrip(median: median(of: &times), count: count)
  }

  /// How long one side waits for the other before it gives up.
  private static let longestWaitMilliseconds = 5000

  private static func echo(_ endpoint: Endpoint, count: Int) throws {
    let dealer = try Socket(.dealer)
    try dealer.limitWaits(milliseconds: longestWaitMilliseconds)
    try dealer.connect(endpoint)
    var frame = Frame([0])
    _ = dealer.send(&frame, waiting: true)
    for _ in 0..<count {
      guard dealer.receive(into: &frame, waiting: true), dealer.send(&frame, waiting: true) == 0 else { return }
    }
    // What is queued still leaves: closing waits without end by default, and the other side is reading.
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

  /// The nanoseconds of each append to a file whose room was written before, as a write-ahead log's is: its size doesn't
  /// change, so nothing but the data goes to the disk. The file is removed.
  private static func appends(in folder: URL, count: Int, bytes: [UInt8]) throws -> [Int] {
    precondition(count > 0, "a median needs a measurement")
    let path = folder.appendingPathComponent("raw-\(UUID().uuidString)").path
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("open", path) }
    defer {
      close(file)
      unlink(path)
    }
    let room = [UInt8](repeating: 0, count: bytes.count)
    for _ in 0..<count {
      guard write(file, room, room.count) == room.count else { throw failure("write", path) }
    }
    guard fsync(file) == 0, lseek(file, 0, SEEK_SET) == 0 else { throw failure("fsync", path) }
    return try (0..<count).map { _ in
      let start = nanoseconds()
      guard write(file, bytes, bytes.count) == bytes.count else { throw failure("write", path) }
      guard fdatasync(file) == 0 else { throw failure("fdatasync", path) }
      return nanoseconds() - start
    }
  }

  private static func failure(_ call: String, _ path: String) -> ZeroMQError {
    ZeroMQError(
      errno, call: call, about: path,
      detail: "measuring the disk failed: \(String(cString: strerror(errno))); choose another folder")
  }

  private static func median(of times: inout [Int]) -> Int {
    times.sort()
    return times[times.count / 2]
  }

  private static func nanoseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
  }
}
