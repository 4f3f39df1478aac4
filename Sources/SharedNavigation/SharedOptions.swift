import NavigationClient

/// Which device, which daemon and which store: from a program's arguments, else from the environment.
///
/// Arguments that mean nothing here are the program's own.
struct SharedOptions: Equatable {
  var device: String?
  var daemon: String?
  var store: String?
  /// An argument without its value.
  var incomplete: String?

  init(arguments: [String], _ environment: [String: String]) {
    device = environment["NAVSYNC_DEVICE"]
    daemon = environment["NAVSYNC_DAEMON"]
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let (name, joined) = SharedOptions.split(argument)
      guard ["--device", "--daemon", "--store"].contains(name) else { continue }
      guard let value = joined ?? rest.popFirst() else {
        incomplete = name
        continue
      }
      switch name {
      case "--device": device = value
      case "--daemon": daemon = value
      default: store = value
      }
    }
    // As with the command line: an empty variable says nothing.
    if device?.isEmpty == true { device = nil }
    if daemon?.isEmpty == true { daemon = nil }
  }

  /// `--name=value` has its value joined on.
  private static func split(_ argument: String) -> (name: String, value: String?) {
    guard argument.hasPrefix("--"), let mark = argument.firstIndex(of: "=") else { return (argument, nil) }
    return (String(argument[..<mark]), String(argument[argument.index(after: mark)...]))
  }

  var problem: ClientError? {
    incomplete.map { ClientError(.badName, about: $0, "a value is missing behind it") }
  }

  var deviceOptions: Device.Options {
    Device.Options(daemon: daemon, folder: store, lockWait: .seconds(2), software: "SharedNavigation")
  }
}
