import EventLog
import NavigationModel

/// Where commands read histories from: a daemon, a store on the disk, or a file of JSON lines.
enum HistorySource {
  case daemon(DaemonSession)
  case store(any EventLogReader, path: String)
  case file(FileHistory)
  case export(ExportFile)

  /// The store at a path if one is named, else a daemon.
  static func open(store: String?, daemon: String?, on console: Console) async throws -> HistorySource {
    if let store {
      do {
        return .store(try SQLiteLog.openReader(at: store), path: store)
      } catch {
        throw commandError(error)
      }
    }
    return .daemon(try await DaemonSession.open(daemon, on: console))
  }

  /// What a person calls it.
  var name: String {
    switch self {
    case .daemon(let session): "the daemon at \(session.endpoint)"
    case .store(_, let path): "the store \(path)"
    case .file(let file): file.name
    case .export(let file): file.input.name
    }
  }
}

/// What went wrong with a log, as a command ends with it.
func commandError(_ error: LogError) -> CommandError {
  let code: ExitCode =
    switch error.code {
    case .full, .readOnly, .busy: .refused
    case .inputOutput, .notNext: .failed
    case .newerFormat, .notAStore: .refused
    case .notFound: .notFound
    case .damaged: .damage
    }
  return CommandError(code, "\(error)")
}
