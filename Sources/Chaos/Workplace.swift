import Commands
import Foundation
import Glibc
import Locking

/// A folder with what is needed in it, taken away again whatever happens: also when the program is interrupted.
enum Workplace {
  private static let cleanup = Cleanup()

  /// - Parameters:
  ///   - keep: whether the folder stays; it does where the body throws.
  ///   - diskBlockBytes: of a disk's blocks; nil: there is none.
  ///   - programs: the folder of the programs, nil for this one's.
  static func with<Result>(
    keep: Bool, diskBlockBytes: Int?, network: Bool, programs: String?, _ body: (Place) async throws -> Result
  ) async throws -> Result {
    let watch = Task {
      for await number in signals([SIGINT, SIGTERM, SIGHUP]) {
        cleanup.undoAll()
        exit(128 + number)
      }
    }
    defer {
      cleanup.undoAll()
      watch.cancel()
    }
    let folder = NSTemporaryDirectory() + "navsync-chaos-" + UUID().uuidString.prefix(8).lowercased()
    let keeps = Locked(keep)
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    _ = cleanup.add { if !keeps.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: folder) } }
    let place = try Place(
      folder: folder, programs: try programs ?? ownFolder(),
      disk: try diskBlockBytes.map {
        try Disk(image: folder + "/disk.ext4", folder: folder + "/disk", blockBytes: $0, cleanup)
      },
      network: network ? try Network(cleanup) : nil, cleanup)
    do { return try await body(place) } catch {
      keeps.withLock { $0 = true }
      // As it is now; the image may be repaired when it is mounted again.
      if let disk = place.disk { system(["cp", "-a", disk.folder, folder + "/disk-as-it-was"]) }
      throw error
    }
  }

  private static func ownFolder() throws -> String {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: own).deletingLastPathComponent().path
  }
}
