import Foundation
import NavigationClient
import NavigationModel

/// Whether anything is at a path.
func isThere(_ path: String) -> Bool {
  var status = stat()
  return stat(path, &status) == 0
}

/// Whether a process has the socket at a path. A daemon that was killed leaves one behind that nobody has.
///
/// Asks with a datagram socket: to connect it fails with `ECONNREFUSED` where no process has the path, with `EPROTOTYPE`
/// where one listens for streams, and the one that listens isn't troubled (`unix_find_other` in Linux).
func isListening(_ path: String) -> Bool {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  let bytes = Array(path.utf8)
  guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
  let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  guard descriptor >= 0 else { return true }
  defer { close(descriptor) }
  let code = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  return code == 0 || (errno != ECONNREFUSED && errno != ENOENT && errno != ENOTDIR)
}

/// Where the replica of a device is: of the one named, else of this host's.
func deviceFolder(named name: String?) throws -> String {
  let name = name ?? Device.defaultName
  do { _ = try Name(name) } catch { throw CommandError(.usage, "\(error)") }
  return Device.defaultFolder(of: name)
}
