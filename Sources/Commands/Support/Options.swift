import ArgumentParsing
package import NavigationModel

extension StackName: ArgumentValue {
  package init(argument: String) throws {
    do { self = try StackName(argument) } catch { throw ValueError("\(error)") }
  }
}

/// Which daemon.
package struct DaemonOptions: ParsableOptions {
  @Option(
    placeholder: "ENDPOINT", environment: "NAVSYNC_DAEMON",
    help: "Where the daemon is, as ipc:///path or tcp://127.0.0.1:port; without it the usual places are tried.")
  var daemon: String?

  package init() {}
}

/// Whether the output is for programs.
package struct OutputOptions: ParsableOptions {
  @Flag(help: "Write JSON, one object a line.") var json: Bool

  package init() {}
}

/// Which daemon, or which store on the disk instead.
package struct SourceOptions: ParsableOptions {
  @OptionGroup var daemon: DaemonOptions
  @Option(
    placeholder: "PATH", help: "Read the store in this folder instead of asking a daemon, even while one runs on it.")
  var store: String?

  package init() {}

  func open(on console: Console) async throws -> HistorySource {
    try await HistorySource.open(store: store, daemon: daemon.daemon, on: console)
  }
}

/// A policy as it is typed: the leader by its id or its display name.
package enum PolicyArgument: ArgumentValue, Hashable {
  case merge
  case latest
  case lead(String)

  package init(argument: String) throws {
    switch argument {
    case "merge": self = .merge
    case "latest": self = .latest
    case _ where argument.hasPrefix("lead:") && argument.utf8.count > 5: self = .lead(String(argument.dropFirst(5)))
    case _: throw ValueError("expected merge, latest or lead:DEVICE")
    }
  }

  package var argumentText: String {
    switch self {
    case .merge: "merge"
    case .latest: "latest"
    case .lead(let leader): "lead:\(leader)"
    }
  }

  /// The policy that it is among devices of these names.
  func policy(among names: DeviceNames) throws(CommandError) -> Policy {
    switch self {
    case .merge: return .merge
    case .latest: return .latest
    case .lead(let text):
      let leaders = names.devices(named: text)
      guard leaders.count == 1 else {
        throw CommandError(.notFound, "there is no one device '\(text)' to lead; name it by its id")
      }
      return .lead(leaders[0])
    }
  }
}

/// A place in a history: the number of an event from 1 on, a time, or an event as its author saw it.
package enum HistoryPlace: ArgumentValue, Hashable {
  case number(Int)
  case time(WallTime)
  /// The device by its name or id, and its sequence number.
  case event(device: String, sequence: Int)

  package init(argument: String) throws {
    if let number = Int(argument), number >= 0 {
      self = .number(number)
    } else if let time = try? WallTime(argument: argument) {
      self = .time(time)
    } else if let colon = argument.lastIndex(of: ":"), colon > argument.startIndex,
      let sequence = Int(argument[argument.index(after: colon)...]), sequence >= 1
    {
      self = .event(device: String(argument[..<colon]), sequence: sequence)
    } else {
      throw ValueError("expected the number of an event, a time such as 2026-03-01T09:30:00Z or 09:30, or DEVICE:N")
    }
  }

  package var argumentText: String {
    switch self {
    case .number(let number): "\(number)"
    case .time(let time): time.argumentText
    case .event(let device, let sequence): "\(device):\(sequence)"
    }
  }
}
