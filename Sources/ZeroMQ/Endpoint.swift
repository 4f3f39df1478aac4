import CZeroMQ
import Glibc

/// Where a socket listens or connects to, checked: `ipc:///path`, `tcp://host:port`, `inproc://name`.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
  public enum Transport: Hashable, Sendable {
    /// A socket in the file system. The path is absolute.
    case ipc(path: String)
    /// The host is a name, an address, or `*` for every interface; an IPv6 address stands without its brackets here.
    /// Port 0 asks for a free one, which only a bind can do.
    case tcp(host: String, port: UInt16)
    /// Inside this process.
    case inproc(name: String)
  }

  public let transport: Transport

  /// The longest path of a Unix socket: `sun_path` has 108 bytes, and the last is zero (unix(7)).
  public static let longestPath = 107

  /// - Throws: ``ZeroMQError`` with `EINVAL` or `ENAMETOOLONG` that says what is wrong with the text.
  public init(_ text: String) throws(ZeroMQError) {
    func invalid(_ detail: String, _ number: Int32 = EINVAL) -> ZeroMQError {
      ZeroMQError(number, call: "endpoint", about: text, detail: detail)
    }
    if text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
      throw invalid("an endpoint has no spaces or control characters")
    }
    if let path = text.dropping(prefix: "ipc://") {
      guard path.hasPrefix("/"), !path.hasSuffix("/") else {
        throw invalid("an ipc endpoint needs the absolute path of a socket, as in ipc:///run/navsync/sync")
      }
      guard path.utf8.count <= Self.longestPath else {
        throw invalid(
          "the path has \(path.utf8.count) bytes, a socket's may have \(Self.longestPath); choose a shorter folder",
          ENAMETOOLONG)
      }
      transport = .ipc(path: path)
    } else if let rest = text.dropping(prefix: "tcp://") {
      guard let colon = rest.lastIndex(of: ":") else { throw invalid("a tcp endpoint needs a port: tcp://host:port") }
      var host = String(rest[..<colon])
      let digits = rest[rest.index(after: colon)...]
      let decimal = !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
      guard let port = digits == "*" ? 0 : decimal ? UInt16(digits) : nil else {
        throw invalid("a port is a number from 0 to 65535, not \"\(digits)\"")
      }
      if host.hasPrefix("["), host.hasSuffix("]") {
        host = String(host.dropFirst().dropLast())
      } else if host.contains(":") {
        throw invalid("an IPv6 address stands in brackets: tcp://[::1]:5757")
      }
      // A semicolon would begin libzmq's source address, a slash a path.
      guard !host.isEmpty, !host.utf8.contains(where: { ";/[]@".utf8.contains($0) }) else {
        throw invalid("a tcp endpoint needs a host: tcp://host:port")
      }
      transport = .tcp(host: host, port: port)
    } else if let name = text.dropping(prefix: "inproc://") {
      guard !name.isEmpty, name.utf8.count <= 255 else { throw invalid("an inproc endpoint needs a short name") }
      transport = .inproc(name: name)
    } else {
      throw invalid("an endpoint begins with ipc:// or tcp://")
    }
  }

  /// The endpoint of an absolute path in the file system.
  public init(path: String) throws(ZeroMQError) { try self.init("ipc://" + path) }

  /// As libzmq takes it.
  public var description: String {
    switch transport {
    case .ipc(let path): "ipc://\(path)"
    case .tcp(let host, let port): "tcp://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    case .inproc(let name): "inproc://\(name)"
    }
  }

  /// The socket's path, of an ipc endpoint.
  public var path: String? {
    if case .ipc(let path) = transport { path } else { nil }
  }

  /// Whether only this machine can reach it. A name other than `localhost` counts as beyond.
  public var isLoopback: Bool {
    switch transport {
    case .ipc, .inproc: return true
    case .tcp(let host, _):
      if host == "localhost" { return true }
      var four = in_addr()
      if inet_pton(AF_INET, host, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
      var six = in6_addr()
      guard inet_pton(AF_INET6, host, &six) == 1 else { return false }
      return withUnsafeBytes(of: six) { $0.dropLast().allSatisfy { $0 == 0 } && $0[15] == 1 }
    }
  }

  /// Whether the host is an IPv6 address, for which libzmq needs a switch.
  var isIPv6: Bool {
    if case .tcp(let host, _) = transport { host.contains(":") } else { false }
  }

  /// The same endpoint with the host as a number.
  ///
  /// Blocks on the resolver for up to several seconds: call it away from the loop, before connecting. Without it
  /// libzmq resolves names on the one thread that also serves every other connection.
  public func resolved() throws(ZeroMQError) -> Endpoint {
    guard case .tcp(let host, let port) = transport, host != "*" else { return self }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, nil, &hints, &list)
    defer { if let list { freeaddrinfo(list) } }
    var numeric = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard status == 0, let first = list?.pointee,
      getnameinfo(
        first.ai_addr, first.ai_addrlen, &numeric, socklen_t(numeric.count), nil, 0, NI_NUMERICHOST) == 0
    else {
      throw ZeroMQError(
        EHOSTUNREACH, call: "getaddrinfo", about: description,
        detail: "the host \(host) can't be found: \(String(cString: gai_strerror(status)))")
    }
    let address = String(decoding: numeric.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return try Endpoint("tcp://\(address.contains(":") ? "[\(address)]" : address):\(port)")
  }
}

extension String {
  /// What follows a prefix, or nil without it.
  fileprivate func dropping(prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}
