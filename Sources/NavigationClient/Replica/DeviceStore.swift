package import EventLog
import Foundation
package import NavigationModel

/// Where a device's log lives, and how another log takes its place. The steps can be cut off anywhere.
package protocol DeviceStore {
  /// A name under which the present log can be kept that no other has.
  func keptName(former: DeviceID) -> String
  /// An id for a new incarnation.
  func newDeviceID() -> DeviceID
  /// An empty log beside the present one; what an earlier attempt left there is gone.
  func makeNext() throws(LogError) -> any EventLog
  /// Puts the next log in the place of the present one, which is kept under that name; both are closed.
  func takeNext(keeping kept: String) throws(LogError) -> any EventLog
  /// A log that was kept.
  func openKept(_ kept: String) throws(LogError) -> any EventLogReader
}

/// A device's folder.
struct FolderStore: DeviceStore {
  let folder: String

  /// Where the new store is made; `~` is in no device's name.
  private var next: String { folder + "~next" }

  /// Ends a swap that was cut off between its two steps.
  func recover() {
    let files = FileManager.default
    guard !files.fileExists(atPath: folder), files.fileExists(atPath: next) else { return }
    try? files.moveItem(atPath: next, toPath: folder)
  }

  func keptName(former: DeviceID) -> String {
    "replaced-\(Int(Date().timeIntervalSince1970))-" + String(former.description.prefix(8))
  }

  func newDeviceID() -> DeviceID {
    var random = SystemRandomNumberGenerator()
    return DeviceID(high: random.next(), low: random.next())
  }

  func makeNext() throws(LogError) -> any EventLog {
    let files = FileManager.default
    do { if files.fileExists(atPath: next) { try files.removeItem(atPath: next) } } catch {
      throw LogError(.inputOutput, about: next, "what an earlier attempt left can't be removed: \(error)")
    }
    return try SQLiteLog.open(at: next, program: "navsync")
  }

  func takeNext(keeping kept: String) throws(LogError) -> any EventLog {
    let files = FileManager.default
    do {
      try files.moveItem(atPath: folder, toPath: next + "/" + kept)
      // What was kept earlier stays at hand for its own redo.
      for name in try files.contentsOfDirectory(atPath: next + "/" + kept) where name.hasPrefix("replaced-") {
        try files.moveItem(atPath: next + "/" + kept + "/" + name, toPath: next + "/" + name)
      }
      try files.moveItem(atPath: next, toPath: folder)
    } catch {
      throw LogError(.inputOutput, about: folder, "the new store can't be put in its place: \(error)")
    }
    return try SQLiteLog.open(at: folder, program: "navsync")
  }

  func openKept(_ kept: String) throws(LogError) -> any EventLogReader {
    try SQLiteLog.openReader(at: folder + "/" + kept)
  }
}
