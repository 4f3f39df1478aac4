package import ArgumentParsing
import Foundation
import KeyFiles
import NavigationClient
import SyncDaemon
import ZeroMQ

/// The program `navsyncd`.
package struct DaemonCommand: RunnableCommand {
  package static let configuration = CommandConfiguration(
    name: "navsyncd", abstract: "Keep the navigation stacks of a person's devices, and pass them on.",
    discussion: """
      Runs until it is ended by SIGTERM or SIGINT, or because its terminal is closed; what it was given is then on the disk \
      and answered. When it serves it prints a line that begins with 'ready:' to the standard output; what happens goes to \
      the standard error.

      Without keys it listens to this machine alone. With keys ('navsync keys new --for-daemon', or 'navsyncd pair') all \
      that goes over tcp is encrypted, and nobody is let in but the keys that its rules know ('navsync keys allow'). SIGHUP \
      has it read the rules again.
      """,
    examples: [
      CommandExample("navsyncd", "Where this user's clients look for it, with its store among the user's state."),
      CommandExample(
        "navsyncd --store /var/lib/navsync --listen ipc:///run/navsync/sync", "As a service of the machine."),
      CommandExample(
        "navsyncd --peer tcp://127.0.0.1:5757",
        "A laptop's own daemon, which works offline and is levelled with the one at home when that is there."),
      CommandExample("navsyncd --listen tcp://0.0.0.0:5757", "For other machines; it needs keys."),
      CommandExample("navsyncd --store memory --listen tcp://127.0.0.1:5757", "For a try; nothing is kept."),
    ],
    exitCodes: [
      ExitCodeDescription(0, "It was ended by a signal, and everything was closed."),
      ExitCodeDescription(1, "It can't run."),
      ExitCodeDescription(2, "The command line makes no sense, or asks for what isn't allowed."),
      ExitCodeDescription(4, "The store or the address is another's."),
      ExitCodeDescription(5, "The store is damaged."),
    ], subcommands: [OpenPairing.self, DaemonVersion.self], runsAlone: true)

  @Option(
    placeholder: "ENDPOINT", environment: "NAVSYNC_LISTEN",
    help:
      "Where clients connect to, as ipc:///path or tcp://address:port; without it the place where they look."
  )
  var listen: [String] = []
  @Option(
    placeholder: "ENDPOINT", environment: "NAVSYNC_FEED",
    help: "Where the feed can be subscribed to; without it beside the first ipc endpoint.")
  var feed: [String] = []
  @Option(
    placeholder: "ENDPOINT", environment: "NAVSYNC_PEER",
    help:
      "Another daemon to be kept level with, both ways; one of two naming the other is enough. May be given again."
  )
  var peer: [String] = []
  @Option(
    placeholder: "PATH", environment: "NAVSYNC_STORE",
    help: "The folder of the log, or 'memory'; without it navsync/daemon in the user's state folder.")
  var store: String?
  @Option(
    placeholder: "PATH", environment: "NAVSYNC_DAEMON_KEYS",
    help: "The folder of the daemon's keys and rules; without it keys in the folder of the log.")
  var keys: String?
  @Option(environment: "NAVSYNC_LOG_LEVEL", help: "What is logged: this level and those above it.")
  var logLevel = LevelArgument.info
  @Option(
    environment: "NAVSYNC_LOG_FORMAT", help: "The form of log lines; without it human on a terminal, else json.")
  var logFormat: FormatArgument?

  package init() {}

  package enum LevelArgument: String, CaseIterable, ArgumentValue {
    case debug, info, warning, error

    var level: DaemonLog.Level {
      switch self {
      case .debug: .debug
      case .info: .info
      case .warning: .warning
      case .error: .error
      }
    }
  }

  package enum FormatArgument: String, CaseIterable, ArgumentValue {
    case human, json
  }

  package func run(on console: Console) async throws {
    // Before anything else is opened.
    ProcessSetup.prepare()
    // A file that may not grow is an error of the write that met it, as a full disk is.
    signal(SIGXFSZ, SIG_IGN)
    let log = DaemonLog(level: logLevel.level, format: format(on: console), descriptor: console.error)
    // From here on a signal waits for the daemon to be up, and then ends it well.
    let staysAfterHangUp = isIgnored(SIGHUP)
    let hadTerminal = Self.hasTerminal
    let signals = signals([SIGTERM, SIGINT, SIGHUP])
    let daemon: SyncDaemon
    do {
      daemon = try SyncDaemon(try options(log))
    } catch {
      throw Self.commandError(error)
    }
    let notifications = console.environment["NOTIFY_SOCKET"]
    ServiceNotification.send("READY=1", to: notifications)
    // A closed standard output is no reason to stop.
    try? console.print(Self.readyLine(daemon))
    for await signal in signals {
      if signal == SIGHUP {
        // The same signal says that the terminal is closed.
        let isHungUp = hadTerminal && !Self.hasTerminal
        if daemon.hasKeys, !isHungUp || staysAfterHangUp { daemon.reloadAccess() }
        if staysAfterHangUp || daemon.hasKeys && !isHungUp { continue }
      }
      let name = [SIGINT: "SIGINT", SIGHUP: "SIGHUP"][signal] ?? "SIGTERM"
      log.write(.info, "stopping", [("signal", name)])
      ServiceNotification.send("STOPPING=1", to: notifications)
      daemon.stop()
      break
    }
    log.write(.info, "stopped")
  }

  private static var hasTerminal: Bool {
    let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    if terminal >= 0 { close(terminal) }
    return terminal >= 0
  }

  static func readyLine(_ daemon: SyncDaemon) -> String {
    (["ready:"] + daemon.endpoints.map(\.description) + daemon.feedEndpoints.map { "feed=\($0)" }
      + ["store=\(daemon.store)"]).joined(separator: " ")
  }

  private func options(_ log: DaemonLog) throws -> SyncDaemonOptions {
    let store: SyncDaemonOptions.Store =
      self.store == "memory" ? .memory : .folder(self.store ?? Device.stateFolder + "/daemon")
    var options = try SyncDaemonOptions(
      listen: try endpoints(listen), feed: feed.isEmpty ? nil : try endpoints(feed), store: store,
      software: "navsyncd \(Version.number)", log: log)
    options.peers = try endpoints(peer)
    if case .folder(let path) = store {
      options.keys = KeyFolder(daemonKeyFolder(keys, store: path))
    } else {
      options.keys = keys.map { KeyFolder($0) }
    }
    return options
  }

  /// Several in one word, as in a variable of the environment, stand apart by spaces.
  private func endpoints(_ words: [String]) throws -> [Endpoint] {
    try words.flatMap { $0.split(separator: " ") }.map { word in
      do { return try Endpoint(String(word)) } catch { throw CommandError(.usage, "\(error)") }
    }
  }

  private func format(on console: Console) -> DaemonLog.Format {
    switch logFormat {
    case .human: .human
    case .json: .json
    case nil: console.errorIsTerminal ? .human : .json
    }
  }

  private static func commandError(_ error: any Error) -> CommandError {
    switch error {
    case let error as CommandError: error
    case let error as SyncDaemonError:
      switch error.code {
      case .notAllowed: CommandError(.usage, error.description)
      case .held, .refused: CommandError(.refused, error.description)
      case .damaged: CommandError(.damage, error.description)
      case .failed: CommandError(.failed, error.description)
      }
    case _: CommandError(.failed, "\(error)")
    }
  }
}
