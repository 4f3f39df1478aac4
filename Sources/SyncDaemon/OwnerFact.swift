import Access
import NavigationModel

/// How the daemon's log keeps whose device ids are: a fact a device, its value the public key as Z85.
enum OwnerFact {
  static let prefix = "owner/"

  static func key(of device: DeviceID) -> String { prefix + device.description }

  static func owners(in facts: some Sequence<(key: String, value: [UInt8])>) -> [DeviceID: PublicKey] {
    var owners: [DeviceID: PublicKey] = [:]
    for (key, value) in facts where key.hasPrefix(prefix) {
      guard let device = DeviceID(key.dropFirst(prefix.utf8.count)) else { continue }
      owners[device] = PublicKey(String(decoding: value, as: UTF8.self))
    }
    return owners
  }
}
