import EventLog
import NavigationClient
import NavigationModel
import SharedNavigation
import StackHistory
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
  /// What this device holds; nil until it was asked for.
  @Published private(set) var history: LoadedHistory?
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
    if let history, !catchUp(history), before.eventCount != state.eventCount { readHistory() }
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

  /// Takes the policy that the daemon has the stack under.
  func adoptPolicy() { stack.adoptPolicy() }

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

  /// Reads what this device holds, unless it is there; from then on it is kept up to date.
  func readHistory() { withHistory { _ in } }

  /// Takes over what came. What is shown before it is on this disk is there when the state comes that tells so.
  ///
  /// - Returns: false if all of it has to be read anew.
  private func catchUp(_ history: LoadedHistory) -> Bool {
    if history.timeline.count == state.eventCount { return true }
    guard (try? history.takeStored()) == true else { return false }
    self.history = history
    return true
  }

  /// Takes back the newest action that did something, whoever's it was.
  func undo() {
    withHistory { [weak self] history in
      var number = history.timeline.count
      while number >= 1, history.timeline.isVoid(number) || history.timeline.effect(of: number).isEmpty { number -= 1 }
      if number >= 1 { self?.undo(number, in: history) } else { self?.tell("There is nothing to undo.") }
    }
  }

  /// Takes back what an event did.
  func undo(_ number: Int, in history: LoadedHistory) {
    let event = history.timeline.event(number)
    guard let path = history.timeline.pathUndoing(number) else { return tell("Nothing is left to undo of it.") }
    act(.set(path))
    tell("Undone: \(names.text(event.dot.device)): \(text(of: event.action))")
  }

  private func withHistory(_ take: @escaping @MainActor (LoadedHistory) -> Void) {
    if let history, catchUp(history) { return take(history) }
    let (name, folder, names) = (stack.name, device.folder, names)
    Task { [weak self] in
      do {
        let history = try await StackControl.load(name, folder, names)
        self?.history = history
        take(history)
      } catch let error as CommandError where error.code == .notFound {
        self?.tell("Nothing was done on \(name) yet.")
      } catch { self?.tell("The history can't be read: \(error)") }
    }
  }

  private nonisolated static func load(
    _ name: StackName, _ folder: String, _ names: DeviceNames
  ) async throws -> sending LoadedHistory {
    let source = try await HistorySource.open(store: folder, daemon: nil, on: .silent)
    let history = try await History(name, in: source)
    for (device, name) in names.all { history.note(name, of: device) }
    return try await LoadedHistory(history, on: .silent)
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
