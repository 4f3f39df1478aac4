import Glibc

/// A tcp connection to a port of loopback that speaks whatever a test wants; closed when it goes.
public final class RawConnection {
  public let descriptor: Int32

  public struct Failure: Error {
    public let number: Int32
  }

  /// - Throws: ``Failure`` with the system's error if nobody listens or there are no descriptors.
  public init(toPort port: UInt16, sending bytes: [UInt8] = []) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(number: errno) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    let number = errno
    guard connected == 0 else {
      close(descriptor)
      throw Failure(number: number)
    }
    send(bytes)
  }

  deinit { close(descriptor) }

  /// Sends bytes. The other side may have closed already, which is no fault.
  public func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

  /// Reads so many bytes, fewer if the other side closes.
  public func receive(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let received = recv(descriptor, &bytes, count, Int32(MSG_WAITALL))
    return Array(bytes.prefix(max(received, 0)))
  }

  /// Waits until the other side closes.
  public func waitForEnd() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while recv(descriptor, &bytes, bytes.count, 0) > 0 {}
  }
}
