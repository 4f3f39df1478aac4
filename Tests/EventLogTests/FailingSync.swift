import CSQLite
import Foundation
import Glibc
import Synchronization

/// A disk whose syncs fail, or that keeps what was synced and nothing else: SQLite's own file system with another `xSync`.
/// Only for processes of exit tests, since it stays in use until the process ends.
enum FailingSync {
  private static let isOn = Atomic<Bool>(false)
  private static let failures = Atomic<Int>(0)

  static func turn(on: Bool) { isOn.store(on, ordering: .sequentiallyConsistent) }

  /// How many syncs failed.
  static var count: Int { failures.load(ordering: .sequentiallyConsistent) }

  /// Keeps a copy of each file of the first folder in the second one, as it was when it was synced last: what a power cut
  /// leaves at the least.
  static func keepWhatIsSynced(of folder: String, in copies: String) {
    kept.withLock { $0 = (folder, copies) }
  }

  private static func synced(_ file: UnsafeMutablePointer<sqlite3_file>?) {
    guard let path = paths.withLock({ $0[UInt(bitPattern: file)] }) else { return }
    kept.withLock { kept in
      guard let (folder, copies) = kept, path.hasPrefix(folder + "/") else { return }
      copy(path, to: copies + path.dropFirst(folder.count))
    }
  }

  /// What the power leaves when it goes now, in a folder that is made; no sync of another thread comes in between.
  static func cutPower(leaving folder: String) throws {
    try kept.withLock { kept in
      guard let kept else { return }
      try FileManager.default.copyItem(atPath: kept.copies, toPath: folder)
    }
  }

  /// Byte by byte as it is read: other threads may write the file meanwhile.
  private static func copy(_ path: String, to copy: String) {
    let source = open(path, O_RDONLY | O_CLOEXEC)
    let target = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer {
      close(source)
      close(target)
    }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = read(source, &buffer, buffer.count), count > 0 { _ = write(target, buffer, count) }
  }

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
      FailingSync.paths.withLock { $0[UInt(bitPattern: file)] = name.map { String(cString: $0) } }
      FailingSync.realSync.withLock { $0 = methods.pointee.xSync }
      FailingSync.realClose.withLock { $0 = methods.pointee.xClose }
      own.pointee.xClose = { file in
        let own = UnsafeMutablePointer(mutating: file?.pointee.pMethods)
        defer { own?.deallocate() }
        return FailingSync.realClose.withLock { $0 }!(file)
      }
      own.pointee.xSync = { file, flags in
        guard FailingSync.isOn.load(ordering: .sequentiallyConsistent) else {
          let result = FailingSync.realSync.withLock { $0 }!(file, flags)
          if result == SQLITE_OK { FailingSync.synced(file) }
          return result
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

  private static let kept = Mutex<(folder: String, copies: String)?>(nil)
  /// Of open files, by their addresses.
  private static let paths = Mutex<[UInt: String]>([:])
  private static let realClose = Mutex<(@convention(c) (UnsafeMutablePointer<sqlite3_file>?) -> Int32)?>(nil)
  private static let realSync = Mutex<(@convention(c) (UnsafeMutablePointer<sqlite3_file>?, Int32) -> Int32)?>(nil)
}
