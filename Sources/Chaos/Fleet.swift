import EventLog
import Foundation
import Glibc
import Locking
import NavigationClient
import NavigationModel

/// A daemon and its devices, as processes. Used by one task.
final class Fleet {
  let place: Place
  let devices: [DrivenDevice]
  let ledger: Locked<Ledger>
  /// Those that are in use.
  var stacks: [String]
  private(set) var daemon: Child?
  private(set) var daemonStarts = 0
  /// What happened, a line each, for people.
  private(set) var history: [String] = []
  private let started = ContinuousClock.now

  private let tell: (String) -> Void

  /// - Parameters:
  ///   - names: of the devices. Every second one is over the wire; the first one's store is beside the daemon's.
  ///   - tell: given each line of the history at once.
  init(
    in place: Place, names: [String] = ["phone", "laptop", "tablet", "watch"],
    stacks: [String] = ["alice/main", "alice/side", "bob/main"], tell: @escaping (String) -> Void
  ) {
    self.place = place
    self.tell = tell
    self.stacks = stacks
    let ledger = Locked(Ledger())
    self.ledger = ledger
    devices = names.enumerated().map { number, name in
      DrivenDevice(name, in: place, isOverWire: number % 2 == 1, isOnDisk: number == 0, stacks: Set(stacks), ledger)
    }
  }

  func note(_ text: String) {
    let seconds = (ContinuousClock.now - started) / .seconds(1)
    let line = String(format: "%8.3f  ", seconds) + text
    history.append(line)
    tell(line)
  }

  // MARK: The daemon

  /// The log of the daemon that was started last.
  var daemonLog: String { "\(place.folder)/daemon-\(daemonStarts).log" }

  /// The lines of that log, whole.
  func daemonLines() -> [String] {
    let text = (try? String(contentsOfFile: daemonLog, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  /// Starts it, and waits until it serves or has ended.
  ///
  /// - Returns: nil when it serves, or how it ended.
  func tryDaemon(wrapper: [String] = [], environment: [String: String] = [:]) async throws -> Int32? {
    daemonStarts += 1
    let child = try place.daemon(log: daemonLog, wrapper: wrapper, environment: environment)
    daemon = child
    let ending: Int32? = try await waiting(.seconds(60), "the daemon to serve") { () -> Int32?? in
      if let ending = child.ending { return .some(ending) }
      return child.isReady ? .some(nil) : nil
    }
    note(ending.map { "the daemon ended at once with \($0)" } ?? "the daemon serves (process \(child.identifier))")
    if ending != nil { daemon = nil }
    return ending
  }

  func startDaemon(wrapper: [String] = [], environment: [String: String] = [:]) async throws {
    if let ending = try await tryDaemon(wrapper: wrapper, environment: environment) {
      throw Failure("the daemon doesn't serve, it ended with \(ending): \(daemonLines().last ?? "it said nothing")")
    }
  }

  func killDaemon() async throws {
    try await daemon?.end()
    note("the daemon is killed")
    daemon = nil
  }

  /// Ends it as a service manager does.
  func stopDaemon() async throws {
    guard let daemon else { return }
    daemon.signal(SIGTERM)
    let ending = try await daemon.ended()
    self.daemon = nil
    note("the daemon is stopped")
    guard ending == 0 else {
      throw Failure("the daemon, told to stop, ended with \(ending): \(daemonLines().last ?? "it said nothing")")
    }
  }

  // MARK: All of it

  func start() async throws {
    try await startDaemon()
    for device in devices { try device.start() }
  }

  func act(milliseconds: Int) {
    for device in devices { device.order(.act(milliseconds: milliseconds)) }
  }

  func pause() { for device in devices { device.order(.pause) } }

  func stop() async throws {
    for device in devices { try await device.stop() }
    try await stopDaemon()
  }

  /// Whether all that should run does.
  func checkRunning() throws {
    for child in devices.map(\.child) + [daemon] {
      guard let child, let ending = child.ending else { continue }
      throw Failure("\(child.name) ended by itself with \(ending)")
    }
  }
}
