import Testing

@testable import SyncDaemon

@Suite struct JobQueueTests {
  @Test func whatWasPostedIsDoneAfterClosing() {
    let queue = JobQueue<Int>()
    queue.post(1)
    queue.post(2)
    queue.close()
    queue.post(3)
    #expect(queue.next() == [1, 2])
    #expect(queue.next() == nil)
    #expect(!queue.isDropped)
  }

  /// A daemon that stops doesn't first read all that was asked for.
  @Test func whatIsDroppedIsNotDone() {
    let queue = JobQueue<Int>()
    queue.post(1)
    #expect(queue.next() == [1])
    queue.post(2)
    queue.drop()
    queue.post(3)
    #expect(queue.isDropped)
    #expect(queue.next() == nil)
  }
}
