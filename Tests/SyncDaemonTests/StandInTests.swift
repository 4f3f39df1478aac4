import Glibc
import Testing
import ZeroMQ

@testable import SyncDaemon

/// A thread that stands in for the one that takes the jobs.
@Suite(.timeLimit(.minutes(5))) struct StandInTests {
  /// What both threads work on, without a lock: ThreadSanitizer, and a count that is short, would tell.
  private final class Work: @unchecked Sendable {
    var done: [Int] = []
  }

  @Test("Two threads never work at once, nothing is lost, and what is posted meanwhile comes after")
  func standIn() throws {
    let queue = JobQueue<Int>()
    let work = Work()
    let thread = try JoinedThread(name: "worker") {
      while let jobs = queue.next() { for job in jobs { work.done.append(job) } }
    }
    var stoodIn = 0
    for number in 0..<20_000 {
      if number % 3 == 0 || !queue.standIn({ work.done.append(number) }) { queue.post(number) } else { stoodIn += 1 }
    }
    // It waits at last, so that one stands in for it at least once.
    while stoodIn == 0 { if queue.standIn({}) { stoodIn += 1 } }
    queue.close()
    thread.join()
    #expect(work.done == Array(0..<20_000))
  }

  @Test("The queue may be closed and jobs posted while one stands in")
  func closedMeanwhile() throws {
    let queue = JobQueue<Int>()
    let work = Work()
    let thread = try JoinedThread(name: "worker") {
      while let jobs = queue.next() { work.done += jobs }
    }
    while !queue.standIn({
      queue.post(2)
      queue.close()
      // The other thread has every chance to go ahead.
      for _ in 0..<10_000 { sched_yield() }
      work.done.append(1)
    }) {}
    thread.join()
    #expect(work.done == [1, 2])
    #expect(!queue.standIn {})
  }
}
