import CSQLite
import Glibc
import Synchronization

/// A disk whose syncs fail: SQLite's own file system with another `xSync`. Only for processes of exit tests, since it
/// stays in use until the process ends.
enum FailingSync {
  private static let isOn = Atomic<Bool>(false)
  private static let failures = Atomic<Int>(0)

  static func turn(on: Bool) { isOn.store(on, ordering: .sequentiallyConsistent) }

  /// How many syncs failed.
  static var count: Int { failures.load(ordering: .sequentiallyConsistent) }

  /// Puts it before the default file system of SQLite, for what is opened from now on.
  static func install() {
    let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    own.initialize(to: sqlite3_vfs_find(nil)!.pointee)
    own.pointee.zName = UnsafePointer(strdup("failing-sync"))
    own.pointee.xOpen = { _, name, file, flags, outFlags in
      // The default one was registered first and is found by its name.
      let real = sqlite3_vfs_find("unix")!
      let result = real.pointee.xOpen(real, name, file, flags, outFlags)
      guard result == SQLITE_OK, let file, let methods = file.pointee.pMethods else { return result }
      // Each file has methods of its own, given back when it is closed.
      let own = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
      own.initialize(to: methods.pointee)
      FailingSync.realSync.withLock { $0 = methods.pointee.xSync }
      FailingSync.realClose.withLock { $0 = methods.pointee.xClose }
      own.pointee.xClose = { file in
        let own = UnsafeMutablePointer(mutating: file?.pointee.pMethods)
        defer { own?.deallocate() }
        return FailingSync.realClose.withLock { $0 }!(file)
      }
      own.pointee.xSync = { file, flags in
        guard FailingSync.isOn.load(ordering: .sequentiallyConsistent) else {
          return FailingSync.realSync.withLock { $0 }!(file, flags)
        }
        FailingSync.failures.add(1, ordering: .sequentiallyConsistent)
        errno = EIO
        return SQLITE_IOERR | 4 << 8  // SQLITE_IOERR_FSYNC
      }
      file.pointee.pMethods = UnsafePointer(own)
      return result
    }
    sqlite3_vfs_register(own, 1)
  }

  private static let realClose = Mutex<(@convention(c) (UnsafeMutablePointer<sqlite3_file>?) -> Int32)?>(nil)
  private static let realSync = Mutex<(@convention(c) (UnsafeMutablePointer<sqlite3_file>?, Int32) -> Int32)?>(nil)
}
