import Glibc

/// A tcp connection to a port of loopback that says whatever it is told to; closed when it goes.
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

  /// Sends bytes as far as there is room.
  ///
  /// - Returns: how many, nil if the other side has closed.
  public func sendSome(_ bytes: ArraySlice<UInt8>) -> Int? {
    let count = bytes.withUnsafeBytes {
      Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
    if count >= 0 { return count }
    return errno == EAGAIN ? 0 : nil
  }

  /// Waits until something can be sent, at most so long.
  public func waitForRoom(milliseconds: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    poll(&entry, 1, milliseconds)
  }

  /// Reads away what has come, without waiting.
  ///
  /// - Returns: how many bytes, nil if the other side has closed.
  @discardableResult
  public func discard() -> Int? {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    var all = 0
    while true {
      let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      if count == 0 { return nil }
      if count < 0 { return errno == EAGAIN ? all : nil }
      all += count
    }
  }

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

  /// Waits until the other side's kernel has all that was sent (tcp(7), `SIOCOUTQ`).
  public func waitUntilTaken() {
    var left: Int32 = 1
    while ioctl(descriptor, UInt(TIOCOUTQ), &left) == 0, left > 0 { sched_yield() }
  }

  /// Ends the connection without a goodbye: the other side sees an error (socket(7), `SO_LINGER`).
  public func reset() {
    var lingering = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
    var nowhere = sockaddr()
    nowhere.sa_family = sa_family_t(AF_UNSPEC)
    connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
  }
}
