public import NavigationModel

/// How a log keeps what devices are called: a fact a device, its value the display name in UTF-8. A name is for people
/// and no part of an event.
public enum DeviceNameFact {
  /// What the keys begin with.
  public static let prefix = "name/"

  /// The key of a device's name.
  public static func key(of device: DeviceID) -> String { prefix + device.description }

  /// The names among facts, by device.
  public static func names(in facts: some Sequence<(key: String, value: [UInt8])>) -> [DeviceID: String] {
    var names: [DeviceID: String] = [:]
    for (key, value) in facts where key.hasPrefix(prefix) {
      guard let device = DeviceID(key.dropFirst(prefix.utf8.count)) else { continue }
      names[device] = String(decoding: value, as: UTF8.self)
    }
    return names
  }
}
