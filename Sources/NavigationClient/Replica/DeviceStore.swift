package import EventLog
import Foundation
import KeyFiles
package import NavigationModel
package import WireFormat

/// Where a device's log lives, and how another log takes its place. The steps can be cut off anywhere.
package protocol DeviceStore {
  /// A name under which the present log can be kept that no other has.
  func keptName(former: DeviceID) -> String
  /// An id for a new incarnation, after ``makeNext()``.
  func newDeviceID() throws(LogError) -> DeviceID
  /// What a device signs with; nil if it doesn't.
  func signingKey(of device: DeviceID) throws(LogError) -> SigningKey?
  /// An empty log beside the present one; what an earlier attempt left there is gone.
  func makeNext() throws(LogError) -> any EventLog
  /// Puts the next log in the place of the present one, which is kept under that name; both are closed.
  func takeNext(keeping kept: String) throws(LogError) -> any EventLog
  /// A log that was kept.
  func openKept(_ kept: String) throws(LogError) -> any EventLogReader
}

extension DeviceStore {
  package func signingKey(of device: DeviceID) throws(LogError) -> SigningKey? { nil }
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
    // What can't be moved up now would never be found again: then it is tried again the next time.
    do {
      for name in try files.contentsOfDirectory(atPath: next) where name.hasPrefix("replaced-") { try moveUp(name) }
      try files.moveItem(atPath: next, toPath: folder)
    } catch { return }
  }

  func keptName(former: DeviceID) -> String {
    // Several stacks may be found to differ within a second, one after the other.
    let name = "replaced-\(Int(Date().timeIntervalSince1970))-" + String(former.description.prefix(8))
    let files = FileManager.default
    guard files.fileExists(atPath: folder + "/" + name) else { return name }
    var number = 2
    while files.fileExists(atPath: folder + "/\(name)-\(number)") { number += 1 }
    return "\(name)-\(number)"
  }

  func newDeviceID() throws(LogError) -> DeviceID { try Self.makeSigningKey(in: next).verifyingKey.device }

  func signingKey(of device: DeviceID) throws(LogError) -> SigningKey? {
    do throws(KeyFileError) {
      let key = try KeyFolder.signingKey(at: Self.signingPath(in: folder))
      return key?.verifyingKey.device == device ? key : nil
    } catch { throw LogError(.inputOutput, about: error.path, error.detail) }
  }

  private static func signingPath(in folder: String) -> String { folder + "/signing.key_secret" }

  /// The key that lies in a folder whose device has no id yet, or a new one, put there.
  static func makeSigningKey(in folder: String, isNew: Bool = false) throws(LogError) -> SigningKey {
    do throws(KeyFileError) {
      if !isNew, let key = try KeyFolder.signingKey(at: signingPath(in: folder)), key.isFitForDevice { return key }
      let key = SigningKey.random()
      try KeyFolder.keep(key, at: signingPath(in: folder), replaces: true)
      return key
    } catch { throw LogError(.inputOutput, about: error.path, error.detail) }
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
      try moveUp(kept)
      try files.moveItem(atPath: next, toPath: folder)
    } catch {
      throw LogError(.inputOutput, about: folder, "the new store can't be put in its place: \(error)")
    }
    return try SQLiteLog.open(at: folder, program: "navsync")
  }

  /// What was kept earlier, inside of what is kept now, stays at hand for its own redo.
  private func moveUp(_ kept: String) throws {
    let files = FileManager.default
    let from = next + "/" + kept
    for name in try files.contentsOfDirectory(atPath: from) where name.hasPrefix("replaced-") {
      try files.moveItem(atPath: from + "/" + name, toPath: next + "/" + name)
    }
  }

  func openKept(_ kept: String) throws(LogError) -> any EventLogReader {
    try SQLiteLog.openReader(at: folder + "/" + kept)
  }
}
