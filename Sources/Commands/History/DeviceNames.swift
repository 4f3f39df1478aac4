import NavigationModel

/// What devices are called, for people: the display name, told apart where several incarnations share it, or the first
/// digits of an id that nobody named.
struct DeviceNames: Sendable {
  private var names: [DeviceID: String] = [:]
  private var bearers: [String: Set<DeviceID>] = [:]

  subscript(device: DeviceID) -> String? { names[device] }

  var all: [DeviceID: String] { names }

  mutating func note(_ name: String, of device: DeviceID) {
    guard !name.isEmpty else { return }
    if let before = names[device] { bearers[before]?.remove(device) }
    names[device] = name
    bearers[name, default: []].insert(device)
  }

  /// A short text for a device; one device's own.
  func text(_ device: DeviceID) -> String {
    guard let name = names[device] else { return String(device.description.prefix(8)) }
    return bearers[name, default: []].count > 1 ? "\(name)~\(device.description.prefix(4))" : name
  }

  /// The devices of that name, or the one whose id it is.
  func devices(named text: String) -> [DeviceID] {
    if let id = DeviceID(text) { return [id] }
    return bearers[text, default: []].sorted()
  }
}
