import ArgumentParsing
import EventLog
import NavigationClient
import NavigationModel
import WireFormat
import ZeroMQ

/// Which device acts, and which daemon it speaks to.
package struct DeviceOptions: ParsableOptions {
  @Option(
    placeholder: "NAME", environment: "NAVSYNC_DEVICE",
    help: "The device that acts; without it the one named after this host. It is made at its first use.")
  var device: String?
  @Flag(
    help:
      "If the daemon has the stack under another policy than this device, take the daemon's: what this device did is "
      + "decided anew by it.")
  var adopt: Bool
  @OptionGroup var daemon: DaemonOptions

  package init() {}

  /// The name of the device that acts.
  var name: String { device ?? Device.defaultName }

  /// Opens the device for a body, and closes it after. The body is told whether there is anything to connect to.
  func withDevice(
    on console: Console, _ body: (_ device: Device, _ connects: Bool) async throws -> Void
  ) async throws {
    let places = try daemonEndpoints(daemon.daemon)
    // Behind a path where nobody listens nobody will answer.
    let connects = places.contains { $0.path.map(IPCPath.isListening) ?? true }
    do {
      let device = try await Device.open(
        name: self.device,
        options: Device.Options(
          daemon: daemon.daemon, connects: connects, announcesPresence: false, software: "navsync \(Version.number)"))
      for notice in device.notices { console.say("\(device.folder): \(notice)") }
      do {
        try await body(device, connects)
      } catch {
        await device.close()
        throw error
      }
      await device.close()
    } catch let error as ClientError { throw commandError(error) }
  }

  /// Waits until all that the daemon has of a stack is here; takes its policy over if that was asked for.
  func catchUp(_ stack: Stack, within: Duration, on console: Console) async throws {
    do {
      try await stack.live(within: within)
      return
    } catch {
      guard error.code == .policyMismatch else { throw error }
      guard adopt else { throw CommandError(.refused, "\(error); --adopt takes the daemon's") }
    }
    let before = stack.state.policy
    stack.adoptPolicy()
    try await stack.live(within: within)
    let state = stack.state
    console.say("\(stack.name): the policy was \(before), and is \(state.policy) now")
    for conflict in state.conflicts {
      if case .noop = conflict { console.say(text(of: conflict, DeviceNames(), [:])) }
    }
  }
}

/// What all acting commands take.
package struct ActOptions: ParsableOptions {
  @OptionGroup var device: DeviceOptions
  @Option(
    placeholder: "POLICY",
    help: "merge, latest or lead:DEVICE: what a new stack is to be; of one that exists, what it must be.")
  var policy: PolicyArgument?
  @Flag(help: "Fail with exit code 69 if no daemon has accepted the action in time. It stays stored and waits.")
  var sync: Bool
  @OptionGroup var output: OutputOptions

  package init() {}

  package func validate() throws {
    if device.adopt, policy != nil {
      throw ValueError("--adopt takes the policy that the stack has; leave --policy out")
    }
  }

  /// How long to catch up before acting, and to wait for the daemon's answer after it.
  private static let catchUp = Duration.seconds(2)
  private static let answer = Duration.seconds(5)

  /// Does what a person asks of a stack: catches up, acts on this device's replica, waits for the daemon.
  func act(on stack: StackName, _ intent: Intent, console: Console) async throws {
    try await device.withDevice(on: console) { device, connects in
      try await act(on: stack, intent, with: device, connects, console)
    }
  }

  private func act(
    on name: StackName, _ intent: Intent, with device: Device, _ connects: Bool, _ console: Console
  ) async throws {
    let policy = try await policy(for: device, console)
    let stack = try await device.stack(name.description, policy: policy)
    var isAnswered = connects
    if connects {
      do {
        try await self.device.catchUp(stack, within: Self.catchUp, on: console)
      } catch let error as ClientError where [.timedOut, .unreachable].contains(error.code) {
        // Where nobody answered, nobody will have taken the action either.
        isAnswered = stack.state.connection == .connected
      }
    }
    if Self.needsStack(intent), stack.state.eventCount == 0, stack.state.withheld.isEmpty {
      let place = isAnswered ? "at the daemon" : "on this device, and no daemon answers"
      throw CommandError(.notFound, "there is no stack \(name) \(place); 'navsync ls' lists those that there are")
    }
    let outcome = try await stack.act(intent)
    if let reason = outcome.reason { console.say("\(name): nothing changed, \(reason)") }
    if isAnswered {
      do { try await stack.accepted(within: Self.answer) } catch {
        guard [.timedOut, .unreachable].contains(error.code) else {
          if outcome.isChange { console.say("the action is stored on this device, but the daemon has not taken it") }
          throw error
        }
        isAnswered = false
      }
    }
    let state = stack.state
    if state.waiting > 0 {
      console.say("waiting: \(state.waiting)")
      for problem in [state.problem].compactMap({ $0 }) { console.say("\(problem)") }
    }
    say(state.withheld, of: name, on: console)
    try print(outcome, state, console)
    if sync, !isAnswered {
      throw CommandError(
        .unreachable, "no daemon has accepted it; it is stored on this device and will be sent when one is there")
    }
  }

  /// Whether it goes back on what is there: of a stack that isn't, its name is misspelt.
  private static func needsStack(_ intent: Intent) -> Bool {
    switch intent {
    case .pop, .popToRoot: true
    case _: false
    }
  }

  private func print(_ outcome: Outcome, _ state: StackState, _ console: Console) throws {
    guard output.json else { return try console.print(breadcrumbs(outcome.entries)) }
    var json = JSONWriter()
    json.raw(#"{"event":"#)
    if let dot = outcome.dot { json.string(dot.description) } else { json.raw("null") }
    json.raw(#","stack":"#)
    json.raw(JSONLines.stack(outcome.entries))
    json.raw(#","waiting":\#(state.waiting)}"#)
    json.raw("\n")
    try console.write(json.bytes)
  }

  /// The policy, with a leader's display name resolved.
  private func policy(for device: Device, _ console: Console) async throws -> Policy? {
    switch policy {
    case nil: return nil
    case .merge: return .merge
    case .latest: return .latest
    case .lead(let leader):
      if let id = DeviceID(leader) { return .lead(id) }
      if leader == device.name { return .lead(device.id) }
      let session = try await DaemonSession.open(self.device.daemon.daemon, on: console)
      let names = try await session.deviceNames()
      let ids = names.devices(named: leader)
      guard let id = ids.first else {
        throw CommandError(.notFound, "the daemon knows no device '\(leader)'; 'navsync devices' lists them")
      }
      guard ids.count == 1 else {
        throw CommandError(
          .refused, "\(ids.count) devices are called '\(leader)'; name one by its id, as 'navsync devices' lists them")
      }
      return .lead(id)
    }
  }
}

/// Says what nobody vouches for.
func say(_ withheld: [WithheldEvents], of stack: StackName, on console: Console) {
  for row in withheld {
    if row.held > 0 {
      console.say("\(stack): \(counted(row.held, "event")) of \(row.device) held back: \(row.reason)")
    }
    if row.refused > 0 {
      console.say(
        "\(stack): \(counted(row.refused, "event")) refused that \(row.device) didn't sign so: somebody on the way altered "
          + "the history")
    }
  }
}

/// What the client couldn't do, as a command ends with it.
func commandError(_ error: ClientError) -> CommandError {
  if let underlying = error.underlying as? LogError { return commandError(underlying) }
  let code: ExitCode =
    switch error.code {
    case .badName, .badValue: .usage
    case .deviceInUse, .storage, .policyMismatch, .refused, .fork, .tooLarge: .refused
    case .timedOut, .unreachable: .unreachable
    case .notAuthorised: .notAuthorised
    case _: .failed
    }
  return CommandError(code, "\(error)")
}
