import Glibc

/// The way to a thread that may block: jobs in the order they were posted.
///
/// A pthread mutex and condition, since ThreadSanitizer reports false races for `Synchronization.Mutex`. Unchecked,
/// because the compiler doesn't see the mutex: the fields are private and touched only between lock and unlock.
final class JobQueue<Job: Sendable>: @unchecked Sendable {
  private var jobs: [Job] = []
  private var isClosed = false
  private var isCut = false
  /// The thread that takes the jobs has none.
  private var isWaiting = false
  /// Another thread does its work.
  private var isLent = false
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>

  init() {
    mutex = .allocate(capacity: 1)
    changed = .allocate(capacity: 1)
    precondition(pthread_mutex_init(mutex, nil) == 0 && pthread_cond_init(changed, nil) == 0, "no lock to be had")
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// Never blocks but for the lock. Nothing after ``close()``.
  func post(_ job: Job) {
    pthread_mutex_lock(mutex)
    if !isClosed { jobs.append(job) }
    pthread_mutex_unlock(mutex)
    pthread_cond_signal(changed)
  }

  /// Runs the body in the place of the thread that takes the jobs, if that one waits for some: the two never work at the
  /// same time, and what is posted meanwhile comes after. False if it is at work.
  func standIn(_ body: () -> Void) -> Bool {
    pthread_mutex_lock(mutex)
    guard isWaiting, jobs.isEmpty, !isClosed else {
      pthread_mutex_unlock(mutex)
      return false
    }
    isLent = true
    pthread_mutex_unlock(mutex)
    body()
    pthread_mutex_lock(mutex)
    isLent = false
    let hasNews = !jobs.isEmpty || isClosed
    pthread_mutex_unlock(mutex)
    if hasNews { pthread_cond_signal(changed) }
    return true
  }

  /// What was posted is still done.
  func close() {
    pthread_mutex_lock(mutex)
    isClosed = true
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }

  /// Closes the queue and forgets what nobody took yet. Who took several at once looks at ``isDropped`` between them.
  func drop() {
    pthread_mutex_lock(mutex)
    isClosed = true
    isCut = true
    jobs = []
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }

  /// Whether what is left isn't wanted any more.
  var isDropped: Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return isCut
  }

  /// Waits for jobs, unless told not to, and takes them all; nil when the queue is closed and empty.
  func next(waits: Bool = true) -> [Job]? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while isLent || jobs.isEmpty && (waits || isClosed) {
      if isClosed, !isLent { return nil }
      isWaiting = true
      pthread_cond_wait(changed, mutex)
      isWaiting = false
    }
    var taken: [Job] = []
    swap(&taken, &jobs)
    return taken
  }

  /// Waits for one job that answers something. The queue is used for that alone.
  func answer() -> Job {
    guard let first = next()?.first else { preconditionFailure("the answer's queue was closed") }
    return first
  }
}
