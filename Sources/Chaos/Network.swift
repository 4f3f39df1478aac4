import Glibc

/// Two network namespaces with a wire between them, which can be cut.
final class Network {
  /// Where the daemon is, and where devices are.
  let daemonSide: String
  let deviceSide: String
  static let daemonAddress = "10.213.77.1"
  private static let deviceAddress = "10.213.77.2"

  init(_ cleanup: Cleanup) throws {
    let name = "navsync-\(getpid())"
    (daemonSide, deviceSide) = (name + "-a", name + "-b")
    for side in [daemonSide, deviceSide] {
      try require("ip", "netns", "add", side)
      _ = cleanup.add { system(["ip", "netns", "delete", side]) }
      try require("ip", "-n", side, "link", "set", "lo", "up")
    }
    try require(
      "ip", "-n", daemonSide, "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", deviceSide)
    for (side, address) in [(daemonSide, Self.daemonAddress), (deviceSide, Self.deviceAddress)] {
      try require("ip", "-n", side, "address", "add", "\(address)/24", "dev", "wire")
      try require("ip", "-n", side, "link", "set", "wire", "up")
    }
  }

  /// Why there can't be one here, nil if there can.
  static func obstacle() -> String? {
    if geteuid() != 0 { return "network namespaces take root" }
    guard system(["which", "ip"]).isDone else { return "ip is missing (the package iproute2)" }
    let name = "navsync-\(getpid())-trial"
    let (isDone, said) = system(["ip", "netns", "add", name])
    if isDone { system(["ip", "netns", "delete", name]) }
    return isDone ? nil : said
  }

  /// The words before a command that is to run on that side. Not `ip netns exec`, whose commands keep every disk mounted
  /// that was when they began.
  static func inside(_ side: String) -> [String] { ["nsenter", "--net=/run/netns/\(side)"] }

  func cut() throws { try require("ip", "-n", deviceSide, "link", "set", "wire", "down") }

  func heal() throws { try require("ip", "-n", deviceSide, "link", "set", "wire", "up") }
}
