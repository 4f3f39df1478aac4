import EventLog
import Foundation
import NavigationClient
import NavigationModel
import SharedNavigation
import TerminalUI

/// What `navsync ui` works with: a device, the stacks that there are, and those that are open.
@MainActor
final class Desk: ObservableObject {
  let device: Device
  private let adopts: Bool
  private var controls: [StackName: StackControl] = [:]
  /// The screens above the first one.
  @Published var path: [Place] = []
  /// By name; those of the daemon and of the device's own log.
  @Published private(set) var stacks: [Row] = []
  /// Why the daemon's stacks aren't among them.
  @Published private(set) var listProblem: String?

  struct Row: Hashable, Identifiable {
    var name: StackName
    var policy: Policy
    var events: Int
    var id: StackName { name }
  }

  init(_ device: Device, adopts: Bool = false) {
    self.device = device
    self.adopts = adopts
    listOwn()
  }

  /// Opens the device. Throws a ``CommandError``.
  convenience init(options: DeviceOptions) throws {
    let (name, daemon) = (options.device, options.daemon.daemon)
    let result = blocking { () async throws(ClientError) in
      try await Device.open(
        name: name,
        options: Device.Options(daemon: daemon, lockWait: .seconds(2), software: "navsync \(Version.number)"))
    }
    do { self.init(try result.get(), adopts: options.adopt) } catch {
      guard error.code == .deviceInUse else { throw commandError(error) }
      throw CommandError(.refused, "\(error), or be another device with --device NAME")
    }
  }

  /// A stack; the same for the same name. Throws a ``CommandError``.
  func open(_ name: StackName) throws -> StackControl {
    if let control = controls[name] { return control }
    let device = device
    let result = blocking { () async throws(ClientError) in try await device.stack(name.description) }
    do {
      let control = StackControl(try result.get(), of: device, adopts: adopts)
      controls[name] = control
      return control
    } catch { throw commandError(error) }
  }

  /// Waits for what the daemon has, if one is there.
  ///
  /// - Throws: a ``CommandError`` if there is nothing to be shown: no such stack, or no daemon and nothing here.
  func catchUp(_ control: StackControl?, within: Duration) throws {
    let device = device
    guard let control else {
      let listing = blocking { () async throws(ClientError) in try await device.list(within: within) }
      take(listing)
      if case .failure(let error) = listing, stacks.isEmpty { throw commandError(error) }
      return
    }
    let stack = control.stack
    let live = blocking { () async throws(ClientError) in try await stack.live(within: within) }
    control.takeState()
    guard control.state.eventCount == 0 else { return }
    try live.mapError { commandError($0) }.get()
    throw CommandError(.notFound, "there is no stack \(stack.name); an action makes it, as 'navsync push' is")
  }

  /// Asks the daemon for its stacks.
  func list() async {
    listOwn()
    do throws(ClientError) { take(.success(try await device.list(within: .seconds(3)))) } catch {
      take(.failure(error))
    }
  }

  private func listOwn() {
    guard let reader = try? SQLiteLog.openReader(at: device.folder), let infos = try? reader.stacks(in: nil) else {
      return
    }
    take(infos.map { Row(name: $0.stack, policy: $0.policy, events: $0.head) })
  }

  private func take(_ listing: Result<DaemonListing, ClientError>) {
    switch listing {
    case .success(let listing):
      listProblem = nil
      take(
        listing.stacks.compactMap { stack in
          (try? StackName(stack.name)).map { Row(name: $0, policy: stack.policy, events: stack.eventCount) }
        })
    case .failure(let error): listProblem = "\(error)"
    }
  }

  private func take(_ rows: [Row]) {
    var all = Dictionary(stacks.map { ($0.name, $0) }) { $1 }
    for row in rows where row.events >= all[row.name]?.events ?? 0 { all[row.name] = row }
    stacks = all.values.sorted { $0.name < $1.name }
  }

  /// Closes the device, and says what waits. The terminal was put back.
  func close(on console: Console) -> ExitCode {
    let states = controls.values.map { $0.stack.state }
    let device = device
    _ = blocking { () async throws(ClientError) in await device.close() }
    var code = ExitCode.ok
    for state in states {
      if state.waiting > 0 { console.say("\(state.stack): waiting: \(state.waiting)") }
      if let problem = state.problem, !problem.isRetriable {
        console.say("navsync: \(problem)")
        code = commandError(problem).code
      } else if case .refused(let reason, let isNotAuthorised) = state.connection {
        console.say("navsync: \(reason)")
        code = isNotAuthorised ? .notAuthorised : .refused
      }
    }
    return code
  }
}
