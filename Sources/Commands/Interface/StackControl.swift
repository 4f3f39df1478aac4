import EventLog
import NavigationClient
import NavigationModel
import SharedNavigation
import TerminalUI

/// A stack that `navsync ui` shows and acts on.
@MainActor
final class StackControl: ObservableObject {
  let stack: NavigationClient.Stack
  let device: Device
  private let adopts: Bool
  @Published private(set) var state: StackState
  /// What devices are called, as far as it is known.
  @Published private(set) var names = DeviceNames()
  /// Every event that this device holds, the oldest first; nil until it was asked for.
  @Published private(set) var history: [HistoryRow]?
  private var reading: Task<Void, Never>?
  private weak var statusLine: StatusLine?

  init(_ stack: NavigationClient.Stack, of device: Device, adopts: Bool) {
    self.stack = stack
    self.device = device
    self.adopts = adopts
    state = stack.state
    takeState()
    reading = Task { [weak self] in
      for await _ in stack.states { self?.takeState() }
    }
  }

  deinit { reading?.cancel() }

  func takeState() {
    let before = state
    state = stack.state
    if adopts, state.problem?.code == .policyMismatch { stack.adoptPolicy() }
    names.note(device.name, of: device.id)
    for other in state.presence { names.note(other.name, of: other.device) }
    if let change = state.lastChange {
      names.note(change.author, of: change.dot.device)
      // What was caught up with isn't news.
      if !change.isOwn, before.isLive, before.lastChange?.dot != change.dot {
        statusLine?.announce("\(names.text(change.dot.device)): \(text(of: change.action))")
      }
    }
    if state.isLive, !before.isLive || lacksNames { askNames() }
    if history != nil, before.eventCount != state.eventCount { readHistory() }
    showStatus()
  }

  /// Whether an entry was put there by a device whose name isn't known.
  private var lacksNames: Bool { state.entries.contains { names[$0.id.dot.device] == nil } }

  /// Asks the daemon what the devices are called.
  private func askNames() {
    Task { [weak self, device] in
      guard let listing = try? await device.list(within: .seconds(3)), let self else { return }
      for other in listing.devices { names.note(other.name, of: other.id) }
    }
  }

  // MARK: Acting

  /// Does what the person asked for; what comes of it shows when it is on the disk.
  func act(_ intent: Intent) {
    stack.act(intent) { result in
      Task { @MainActor [weak self] in
        switch result {
        case .success(let outcome): if let reason = outcome.reason { self?.tell("Nothing changed: \(reason).") }
        case .failure(let error): self?.tell("That wasn't done. \(error)")
        }
      }
    }
  }

  /// Closes an entry and all above it, or only what is above it.
  func close(_ id: NavigationModel.EntryID, itself: Bool) {
    guard let index = state.entries.firstIndex(where: { $0.id == id }) else {
      return tell("That entry is closed already.")
    }
    let closed = state.entries[(itself ? index : index + 1)...].map(\.id)
    if closed.isEmpty { return tell("Nothing changed: it is on top.") }
    act(.close(closed))
  }

  // MARK: What is shown

  var policy: String { policyText(state.policy, names) }

  /// The devices that show an entry (nil: the root), this one first.
  func devices(at id: NavigationModel.EntryID?) -> [String] {
    (state.top?.id == id ? ["you"] : [])
      + state.presence.filter { !$0.isAway && $0.top == id }.map { names.text($0.device) }
  }

  /// The values of the entries that are shown, for the texts of conflicts.
  var values: [NavigationModel.EntryID: Value] {
    Dictionary(state.entries.map { ($0.id, $0.value) }) { $1 }
  }

  /// Where a device is, for people.
  func place(of presence: DevicePresence) -> String {
    if presence.isAway { return "away" }
    guard let top = presence.top else { return "at the root" }
    guard let index = state.entries.firstIndex(where: { $0.id == top }) else {
      return "at an entry that isn't open here"
    }
    let below = state.entries.count - 1 - index
    return "at \(text(of: state.entries[index].value))" + (below == 0 ? "" : ", \(below) below the top")
  }

  // MARK: History

  /// An event and the path after it.
  struct HistoryRow: Hashable, Identifiable, Sendable {
    var number: Int
    var event: Event
    var entries: [Entry]
    var id: Int { number }
  }

  /// Reads what this device holds.
  func readHistory() {
    let (name, folder, names) = (stack.name, device.folder, names)
    Task { [weak self] in
      do {
        let (rows, known) = try await StackControl.read(name, folder, names)
        self?.history = rows
        for (device, name) in known.all { self?.names.note(name, of: device) }
      } catch let error as CommandError where error.code == .notFound {
        self?.history = []
      } catch { self?.tell("The history can't be read: \(error)") }
    }
  }

  private nonisolated static func read(
    _ name: StackName, _ folder: String, _ names: DeviceNames
  ) async throws -> ([HistoryRow], DeviceNames) {
    let source = try await HistorySource.open(store: folder, daemon: nil, on: .standard)
    let history = try await History(name, in: source, names: names)
    var rows: [HistoryRow] = []
    var fold = StackFold(policy: history.policy)
    try await history.walk { item in
      fold.apply(item.event)
      rows.append(HistoryRow(number: item.offset, event: item.event, entries: fold.entries()))
      return true
    }
    return (rows, history.names)
  }

  // MARK: The last line

  func show(on line: StatusLine?) {
    guard let line, line !== statusLine else { return }
    statusLine = line
    showStatus()
  }

  func tell(_ text: String) { statusLine?.announce(text) }

  private func showStatus() {
    statusLine?.set(StatusContent(state) { Commands.text(of: $0) }, for: state.stack)
  }
}
