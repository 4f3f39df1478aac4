import Foundation
import Glibc

/// A small file system of its own, which can be full, read-only, or lose its power.
///
/// ext4 in a file, by a loop device; making it takes the right to mount.
final class Disk {
  let folder: String
  private let image: String
  private let cleanup: Cleanup
  private var mounted: Int?

  static let bytes = 192 << 20

  /// - Parameter blockBytes: of one block, 1024 to 4096.
  init(image: String, folder: String, blockBytes: Int, _ cleanup: Cleanup) throws {
    self.folder = folder
    self.image = image
    self.cleanup = cleanup
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try require("truncate", "--size=\(Self.bytes)", image)
    try require("mkfs.ext4", "-q", "-F", "-m", "0", "-b", "\(blockBytes)", image)
    try mount()
  }

  /// Why there can't be one here, nil if there can.
  static func obstacle() -> String? {
    if geteuid() != 0 { return "mounting takes root" }
    if access("/dev/loop-control", R_OK | W_OK) != 0 { return "there are no loop devices (/dev/loop-control)" }
    return system(["which", "mkfs.ext4"]).isDone ? nil : "mkfs.ext4 is missing (the package e2fsprogs)"
  }

  /// Takes all the room there is.
  func fill() throws {
    let file = open(folder + "/filling", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure("\(folder) can't be filled: \(systemMessage())") }
    defer { close(file) }
    var disk = statvfs()
    // Block by block at last: something may take a block meanwhile, or give one back.
    while fstatvfs(file, &disk) == 0, disk.f_bavail > 0 {
      let size = lseek(file, 0, SEEK_END)
      let room = Int(disk.f_bavail) * Int(disk.f_frsize)
      if posix_fallocate(file, size, off_t(max(room / 2, Int(disk.f_frsize)))) != 0, room <= Int(disk.f_frsize) * 4 {
        break
      }
    }
  }

  func empty() { unlink(folder + "/filling") }

  /// The file system finds itself broken and goes read-only, as with `errors=remount-ro` after a bad block.
  func turnReadOnly() throws {
    let (isDone, device) = system(["findmnt", "-no", "SOURCE", folder])
    guard isDone else { throw Failure("no device of \(folder): \(device)") }
    let name = device.split(separator: "/").last ?? ""
    let file = open("/sys/fs/ext4/\(name)/trigger_fs_error", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { throw Failure("\(folder) can't be broken: \(systemMessage())") }
    defer { close(file) }
    guard write(file, "1", 1) == 1 else { throw Failure("\(folder) can't be broken: \(systemMessage())") }
  }

  /// Nothing that wasn't synced comes onto the disk any more; every use of it fails until ``mountAgain()``.
  func cutPower() throws {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure("\(folder): \(systemMessage())") }
    defer { close(descriptor) }
    // EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH (linux/fs/ext4/ext4.h).
    var flags: UInt32 = 2
    guard ioctl(descriptor, 0x8004_587D, &flags) == 0 else {
      throw Failure("the power of \(folder) can't be cut: \(systemMessage())")
    }
  }

  /// As after a start of the machine. Nobody may have a file open in it.
  func mountAgain() throws {
    if let mounted { cleanup.undo(mounted) }
    mounted = nil
    _ = system(["e2fsck", "-p", "-f", image])
    try mount()
  }

  private func mount() throws {
    try require("mount", "-o", "loop,errors=remount-ro", image, folder)
    mounted = cleanup.add { [folder] in
      if !system(["umount", folder]).isDone { system(["umount", "--lazy", folder]) }
    }
  }
}
