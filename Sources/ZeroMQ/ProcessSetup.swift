import Glibc

/// What a process does once, before it opens anything.
public enum ProcessSetup {
  /// Opens the standard descriptors that the parent left closed, so that no socket or database becomes number 1 or 2
  /// and is written into by a message; and raises the limit of open files to what the system allows.
  /// - Returns: the number of files that may be open.
  @discardableResult
  public static func prepare() -> Int {
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is taken, which is this one, for those below are open.
      let opened = open("/dev/null", O_RDWR)
      if opened != descriptor, opened > 2 { close(opened) }
    }
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    // Some systems allow a thousand million, and what sizes a table by the limit would drown.
    let wanted = min(limit.rlim_max, 1 << 16)
    if limit.rlim_cur < wanted {
      limit.rlim_cur = wanted
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    return Int(clamping: limit.rlim_cur)
  }

  /// Has the system write nothing of the process's memory to the disk when it crashes: secret keys are in it. For programs
  /// that are navsync's own; a library doesn't take that from whoever uses it.
  ///
  /// The limit, and not PR_SET_DUMPABLE, under which a crash hangs: Swift's runtime then waits for threads that it may not
  /// suspend.
  public static func leaveNoCore() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
  }
}
