import Access
import ArgumentParsing
import KeyFiles
import NavigationClient
import NavigationModel
import ZeroMQ

/// Whose folder of keys a command works on: the user's, or that of the daemon.
package struct EitherKeysOptions: ParsableOptions {
  @Option(
    placeholder: "PATH", environment: "NAVSYNC_KEYS",
    help: "The folder of keys; without it navsync/keys in the user's configuration.")
  var keys: String?
  @Flag(help: "Use the folder of this user's daemon instead, as navsyncd does.") var forDaemon: Bool

  package init() {}

  package func validate() throws {
    // The variable is the user's, and says nothing of the daemon.
    if forDaemon, keys != nil, keys != environmentKeys {
      throw ValueError("--keys names a folder, and --for-daemon another: give one of them")
    }
  }

  private var environmentKeys: String? { KeyFolder.ofUser.path }

  var folder: KeyFolder {
    if forDaemon { return KeyFolder(daemonKeyFolder(nil)) }
    return keys.map { KeyFolder($0) } ?? .ofUser
  }
}

/// The folder of a daemon's keys and rules.
package struct DaemonKeysOptions: ParsableOptions {
  @Option(
    placeholder: "PATH", environment: "NAVSYNC_DAEMON_KEYS",
    help: "The daemon's folder of keys; without it that of this user's daemon.")
  var keys: String?

  package init() {}

  var folder: KeyFolder { KeyFolder(daemonKeyFolder(keys)) }
}

/// Where a daemon's keys are: the folder named, else `keys` in the store, else that of this user's daemon, by what the
/// environment names for it.
func daemonKeyFolder(_ named: String?, store: String? = nil) -> String {
  if let named = named ?? IPCPath.environment("NAVSYNC_DAEMON_KEYS") { return named }
  let other = IPCPath.environment("NAVSYNC_STORE").flatMap { $0 == "memory" ? nil : $0 }
  return (store ?? other ?? Device.stateFolder + "/daemon") + "/keys"
}

/// What a rule grants, as options.
package struct GrantOptions: ParsableOptions {
  @Option(placeholder: "SPACE", help: "The space in which it holds; * is every space.") var space = ScopeArgument(
    scope: .everySpace)
  @Option(placeholder: "VERBS", help: "What may be done there: read, act, admin, with commas between them.") var may =
    VerbsArgument(verbs: [.read, .act])

  package init() {}
}

package struct ScopeArgument: ArgumentValue, Hashable {
  var scope: Scope

  package init(argument: String) throws {
    do { scope = try Scope(argument) } catch { throw ValueError("\(error); * is every space") }
  }

  init(scope: Scope) { self.scope = scope }

  package var argumentText: String { scope.description }
}

package struct VerbsArgument: ArgumentValue, Hashable {
  var verbs: Verbs

  package init(argument: String) throws {
    guard let verbs = Verbs(argument) else { throw ValueError("expected read, act or admin, with commas between them") }
    self.verbs = verbs
  }

  init(verbs: Verbs) { self.verbs = verbs }

  package var argumentText: String { verbs.description }
}

extension Name: ArgumentValue {
  package init(argument: String) throws {
    do { self = try Name(argument) } catch { throw ValueError("\(error)") }
  }

  package var argumentText: String { description }
}

extension CommandError {
  /// What is wrong with a file of keys.
  init(_ error: KeyFileError) {
    let code: ExitCode =
      switch error.code {
      case .notFound: .notFound
      case .exists, .exposed, .refused: .refused
      case .damaged: .damage
      case .failed: .failed
      }
    self.init(code, error.description)
  }
}

/// Runs a body, and gives its errors about files of keys their exit codes.
func withKeyErrors<Result>(_ body: () throws -> Result) throws -> Result {
  do { return try body() } catch let error as KeyFileError { throw CommandError(error) }
}
