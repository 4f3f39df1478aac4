import EventLog
import Foundation
import NavigationClient
import NavigationModel

/// What a device of this machine holds, also while it is in use.
struct LocalReplica {
  /// What the device is called.
  let name: String
  let folder: String
  let reader: any EventLogReader

  /// Whose it is; nil for a store that doesn't say.
  var device: DeviceID? {
    let fact = (try? reader.fact("device")) ?? nil
    return fact.flatMap { DeviceID(String(decoding: $0, as: UTF8.self)) }
  }

  /// Those of all devices of this machine that can be read, by name.
  static var all: [LocalReplica] {
    let folder = Device.stateFolder + "/devices"
    // A folder that isn't there, or can't be read, is one without devices.
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    // `~` stands in the names of stores that are on their way only.
    return names.filter { !$0.contains("~") }.compactMap { name in
      guard let reader = try? SQLiteLog.openReader(at: "\(folder)/\(name)") else { return nil }
      return LocalReplica(name: name, folder: "\(folder)/\(name)", reader: reader)
    }
  }

  /// The one that is named; else the one that holds most of a stack.
  fileprivate static func find(_ named: String?, for stack: StackName, instead error: CommandError) throws -> Self {
    guard let named else {
      func held(_ replica: Self) -> Int { ((try? replica.reader.info(of: stack)) ?? nil)?.head ?? 0 }
      guard let fullest = all.max(by: { held($0) < held($1) }), held(fullest) > 0 else {
        throw CommandError(.unreachable, "\(error); no device of this machine has a replica of \(stack) to show either")
      }
      return fullest
    }
    let folder = try deviceFolder(named: named)
    do { return LocalReplica(name: named, folder: folder, reader: try SQLiteLog.openReader(at: folder)) } catch {
      guard error.code == .notFound else { throw commandError(error) }
    }
    throw CommandError(.unreachable, "\(error); the device \(named) has no replica to show either (\(folder))")
  }

  fileprivate func history(of stack: StackName, instead error: CommandError) async throws -> History {
    let history: History
    do {
      history = try await History(stack, in: .store(reader, path: folder))
    } catch let missing as CommandError where missing.code == .notFound {
      throw CommandError(.unreachable, "\(error); the replica of \(name) has no stack \(stack) to show either")
    }
    if let device { history.note(name, of: device) }
    return history
  }
}

/// A stack's history of the daemon or the store named; if no daemon answers, that of a replica on this machine, as of
/// when.
///
/// - Parameter device: whose replica; nil: of the device that holds most of the stack.
func historyOrReplica(
  of stack: StackName, store: String?, daemon: String?, device: String?, on console: Console
) async throws -> (history: History, asOf: String?) {
  do {
    let source = try await HistorySource.open(store: store, daemon: daemon, on: console)
    return (try await History(stack, in: source), nil)
  } catch let error as CommandError where error.code == .unreachable {
    let replica = try LocalReplica.find(device, for: stack, instead: error)
    let history = try await replica.history(of: stack, instead: error)
    let asOf = rfc3339(milliseconds: history.lastStored ?? 0)
    console.say("no daemon answers; this is what \(replica.name) of this machine has, as of \(asOf)")
    return (history, asOf)
  }
}
