import Foundation
import Locking
import NavigationModel

/// A device's process, and what it told. Used by one task; what it tells comes on another thread.
final class DrivenDevice {
  let name: String
  let isOverWire: Bool
  let folder: String
  private let place: Place
  private let ledger: Locked<Ledger>
  private let told: Locked<Told>
  private(set) var child: Child?
  private var starts = 0
  /// What it follows whenever it starts.
  var stacks: Set<String>

  struct Told: Sendable {
    var device: DeviceID?
    var report: (device: String, stacks: [DeviceWord.StackReport])?
    var reports = 0
    /// By code.
    var refusals: [String: Int] = [:]
    var lastRefusal: String?
  }

  init(_ name: String, in place: Place, isOverWire: Bool, isOnDisk: Bool, stacks: Set<String>, _ ledger: Locked<Ledger>)
  {
    self.name = name
    self.isOverWire = isOverWire
    self.place = place
    self.ledger = ledger
    self.stacks = stacks
    folder = place.deviceFolder(name, isOnDisk: isOnDisk)
    told = Locked(Told())
  }

  var isRunning: Bool { child.map { $0.ending == nil } ?? false }
  var device: DeviceID? { told.withLock { $0.device } }
  /// What it said last before it ended.
  var lastLine: String {
    let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").last.map(String.init) ?? "it said nothing"
  }
  private var log: String { "\(place.folder)/\(name).log" }

  /// Starts it; it has told nothing yet when this returns.
  func start(environment: [String: String] = [:]) throws {
    starts += 1
    told.withLock { told in
      told.report = nil
      told.refusals = [:]
      told.lastRefusal = nil
    }
    let (ledger, told) = (ledger, told)
    child = try place.device(
      name, folder: folder, isOverWire: isOverWire, seed: starts, stacks: stacks.sorted(), log: log,
      environment: environment
    ) { line in Self.read(line, into: told, ledger) }
  }

  private static func read(_ line: String, into told: Locked<Told>, _ ledger: Locked<Ledger>) {
    guard let word = try? Line.read(line, as: DeviceWord.self) else { return }
    switch word {
    case .opened(let device, _): rename(to: device, told, ledger)
    case .acted(let act):
      rename(to: act.device, told, ledger)
      guard let device = DeviceID(act.device) else { return }
      ledger.withLock { $0.acted(act.stack, Dot(device, act.sequence), mark: act.mark ?? "") }
    case .accepted(let stack, let device, let sequence):
      guard let device = DeviceID(device) else { return }
      ledger.withLock { $0.accepted(stack, Dot(device, sequence)) }
    case .refused(_, let code, let message):
      told.withLock { told in
        told.refusals[code, default: 0] += 1
        told.lastRefusal = message
      }
    case .report(let device, let stacks):
      rename(to: device, told, ledger)
      told.withLock { told in
        told.report = (device, stacks)
        told.reports += 1
      }
    }
  }

  private static func rename(to text: String, _ told: Locked<Told>, _ ledger: Locked<Ledger>) {
    guard let device = DeviceID(text) else { return }
    let former = told.withLock { told -> DeviceID? in
      defer { told.device = device }
      return told.device == device ? nil : told.device
    }
    if let former { ledger.withLock { $0.replaced(former) } }
  }

  func order(_ order: DeviceOrder) { child?.write(Line.text(order)) }

  func refusals() -> (codes: [String: Int], last: String?) { told.withLock { ($0.refusals, $0.lastRefusal) } }

  /// Asks it how it stands; nil if it doesn't answer in time.
  func report(within limit: Duration) async throws -> [DeviceWord.StackReport]? {
    let before = told.withLock { $0.reports }
    order(.report)
    return try? await waiting(limit, "the report of \(name)") {
      told.withLock { $0.reports > before ? $0.report?.stacks : nil }
    }
  }

  /// Ends it as a person would.
  func stop() async throws {
    guard let child else { return }
    child.closeInput()
    let ending = try await child.ended()
    self.child = nil
    guard ending == 0 else { throw Failure("\(name) ended with \(ending); see \(log)") }
  }

  func kill() async throws {
    try await child?.end()
    child = nil
  }

  /// What it had that no daemon has may be lost from here on.
  ///
  /// - Returns: how many actions.
  func noteLostDisk() -> Int {
    guard let device else { return 0 }
    return ledger.withLock { $0.lostDisk(of: device) }
  }
}
