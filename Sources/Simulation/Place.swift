/// Somebody in a simulated world: a device or a daemon.
enum Place: Hashable, Comparable, Sendable {
  case device(Int)
  case daemon(Int)

  /// As in `device-2`.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-")
    guard parts.count == 2, let number = Int(parts[1]), (0..<1000).contains(number) else { return nil }
    switch parts[0] {
    case "device": self = .device(number)
    case "daemon": self = .daemon(number)
    case _: return nil
    }
  }

  var description: String {
    switch self {
    case .device(let number): "device-\(number)"
    case .daemon(let number): "daemon-\(number)"
    }
  }

  var kind: String {
    switch self {
    case .device: "device"
    case .daemon: "daemon"
    }
  }

  var number: Int {
    switch self {
    case .device(let number), .daemon(let number): number
    }
  }
}
