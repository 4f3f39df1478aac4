import Foundation
import NavigationClient
import NavigationModel

/// Whether anything is at a path.
func isThere(_ path: String) -> Bool {
  var status = stat()
  return stat(path, &status) == 0
}

/// Where the replica of a device is: of the one named, else of this host's.
func deviceFolder(named name: String?) throws -> String {
  let name = name ?? Device.defaultName
  do { _ = try Name(name) } catch { throw CommandError(.usage, "\(error)") }
  return Device.defaultFolder(of: name)
}
