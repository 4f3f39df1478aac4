import Glibc

/// Tells the service manager of the daemon's state (sd_notify(3)): a datagram to the socket that `NOTIFY_SOCKET` names.
public enum ServiceNotification {
  /// - Parameters:
  ///   - state: such as `READY=1` or `STOPPING=1`.
  ///   - path: of the socket, absolute, or with `@` before an abstract name; nil if there is no service manager.
  /// - Returns: whether it was sent.
  @discardableResult
  public static func send(_ state: String, to path: String?) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard let path, path.hasPrefix("/") || path.hasPrefix("@"),
      path.utf8.count < MemoryLayout.size(ofValue: address.sun_path)
    else { return false }
    withUnsafeMutableBytes(of: &address.sun_path) { target in
      target.copyBytes(from: path.utf8)
      // An abstract name begins with a zero (unix(7)).
      if path.hasPrefix("@") { target[0] = 0 }
    }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let bytes = Array(state.utf8)
    let length = MemoryLayout.offset(of: \sockaddr_un.sun_path)! + path.utf8.count
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length)) == bytes.count
      }
    }
  }
}
