package import NavigationClient
package import TerminalUI

/// A stack of this process's device, as its views show and change it.
///
/// What the views did shows at once and is carried out in order, one action at a time; until the last one is on the disk
/// the stack shows what they did and not yet what others do. Then it shows the device's own state again, so that the two
/// can't come apart.
@MainActor
package final class SharedStack: ObservableObject {
  package let name: String
  /// From the root up.
  package private(set) var elements: [NavigationPath.Element] = []
  /// How often others changed what is shown.
  package private(set) var othersChanges = 0
  /// The device's state that was shown last; nil if the device can't be opened.
  package private(set) var state: StackState?

  private let stack: Stack?
  private let device: SharedDevice
  /// Why there is no stack.
  let failure: ClientError?
  /// Begins with the one that is being carried out.
  private var changes: [PathChange] = []
  private var entries: [NavigationModel.EntryID: NavigationPath.Element] = [:]
  private var reading: Task<Void, Never>?
  private weak var statusLine: StatusLine?
  /// What there was to be told before there was a line to tell it on.
  private var untold: [String] = []

  /// - Parameter stack: nil if it can't be opened; the path is the program's own then.
  init(name: String, _ stack: Result<Stack, ClientError>, of device: SharedDevice) {
    self.name = name
    self.device = device
    switch stack {
    case .success(let stack):
      self.stack = stack
      failure = nil
      showState()
      reading = Task { [weak self] in
        for await _ in stack.states { self?.stateChanged() }
      }
    case .failure(let error):
      self.stack = nil
      failure = error
    }
  }

  deinit { reading?.cancel() }

  /// The stack of a device that is open.
  package convenience init(_ stack: Stack, of device: Device) {
    self.init(name: stack.name.description, .success(stack), of: SharedDevice(device))
  }

  var deviceName: String { device.name }

  /// How many actions no daemon has yet; nil if there is no device.
  var waiting: Int? { stack?.state.waiting }

  // MARK: What the views do

  /// Shows a path at once, and makes an action of it.
  package func assign(_ path: [NavigationPath.Element]) {
    guard let change = PathChange(from: elements, to: path) else { return }
    for element in change.elements {
      do { _ = try Value(element.value) } catch {
        if let problem = element.value.codingProblem { DiagnosticSink.current.tell(problem) }
        return tell("\(error)")
      }
    }
    elements = path
    objectWillChange.send()
    guard stack != nil else { return }
    changes.append(change)
    if changes.count == 1 { carryOut() }
  }

  /// Whether all that the views did is on the disk.
  package var isSettled: Bool { changes.isEmpty }

  private func carryOut() {
    while let change = changes.first {
      guard let stack, let intent = intent(of: change) else {
        changes.removeFirst()
        continue
      }
      stack.act(intent) { [device] result in
        device.answered { [weak self] in self?.carriedOut(result) }
      }
      return
    }
    showState()
  }

  /// Nil if what it would close isn't on the stack.
  private func intent(of change: PathChange) -> Intent? {
    switch change {
    case .push(let elements): return (try? elements.map { try Value($0.value) }).map { .push($0) }
    case .set(let elements): return (try? elements.map { try Value($0.value) }).map { .set($0) }
    case .popToRoot: return .popToRoot
    case .close(let elements):
      let known = Dictionary(entries.map { ($1.id, $0) }) { $1 }
      let ids = elements.compactMap { known[$0.id] }
      return ids.count == elements.count ? .close(ids) : nil
    }
  }

  private func carriedOut(_ result: Result<Outcome, ClientError>) {
    precondition(!changes.isEmpty, "an answer to nothing")
    let change = changes.removeFirst()
    switch result {
    case .success(let outcome):
      // What the views put there is what the stack has now: the last ones of the path.
      let added = outcome.entries.filter { $0.id.dot == outcome.dot }
      for (entry, element) in zip(added, change.elements.suffix(added.count)) { entries[entry.id] = element }
      if outcome.reason == .alreadyClosed { tell("Another device was quicker: what you closed isn't on top any more.") }
    case .failure(let error): tell("That wasn't done. \(error)")
    }
    carryOut()
  }

  // MARK: What the device shows

  private func stateChanged() {
    if changes.isEmpty { showState() }
  }

  private func showState() {
    guard let stack else { return }
    let state = stack.state
    let before = elements.map(\.id)
    var known: [NavigationModel.EntryID: NavigationPath.Element] = [:]
    elements = state.entries.map { entry in
      let element = entries[entry.id] ?? NavigationPath.Element(value: entry.value.pathValue)
      known[entry.id] = element
      return element
    }
    entries = known
    let isFirst = self.state == nil
    if elements.map(\.id) != before, !isFirst {
      othersChanges += 1
      if let change = state.lastChange, !change.isOwn, change.dot != self.state?.lastChange?.dot {
        tell(text(of: change))
      }
    }
    self.state = state
    objectWillChange.send()
    showStatus()
  }

  private func text(of change: StackChange) -> String {
    let author = change.author.isEmpty ? "Another device" : change.author
    switch change.action {
    case .push(_, let values), .set(_, let values): return "\(author) opened \(values.last.map(title) ?? "the root")"
    case .replace(_, let value): return "\(author) opened \(title(value)) instead"
    case .pop: return "\(author) went back"
    case .popToRoot: return "\(author) went to the root"
    }
  }

  // MARK: The last line

  /// Shows what others do on the last line of the screen from now on.
  func show(on line: StatusLine?) {
    guard let line, line !== statusLine else { return }
    statusLine = line
    for text in untold { line.announce(text) }
    untold = []
    showStatus()
  }

  /// Tells the person something.
  func tell(_ text: String) {
    if let statusLine { statusLine.announce(text) } else { untold = untold.suffix(2) + [text] }
  }

  private func showStatus() { statusLine?.set(status, for: name) }

  private var status: StatusContent {
    guard let state else {
      let reason = failure.map { failure in
        failure.code == .deviceInUse ? "open elsewhere, use --device NAME" : "\(failure)"
      }
      return StatusContent(stack: name, connection: .offline, problem: "not shared: \(reason ?? "it was never opened")")
    }
    return StatusContent(state, title: title)
  }

  /// A value on the line: a text as it is, what has a type of the program's as Swift shows it, else as it was sent.
  private func title(_ value: Value) -> String {
    let content = value.pathValue.value.map { "\($0)" } ?? "\(value.type) \(value.json)"
    return content.count > 40 ? content.prefix(39) + "…" : content
  }
}

extension StatusContent {
  /// What a stack's state is on the last line.
  ///
  /// - Parameter title: a value for people, short.
  package init(_ state: StackState, title: (Value) -> String) {
    let connection: Connection =
      switch state.connection {
      case .connected: .connected
      case .reconnecting: .reconnecting
      case .connecting, .offline, .refused: .offline
      }
    var problem = state.problem.map { "\($0)" }
    if case .refused(let reason, _) = state.connection, problem == nil { problem = reason }
    let devices = state.presence.map { device in
      // What a device shows that isn't on the stack here has no name here.
      let shows = device.top.map { top in state.entries.first { $0.id == top }.map { title($0.value) } } ?? "root"
      return Device(name: device.isAway ? "\(device.name) (away)" : device.name, shows: device.isAway ? nil : shows)
    }
    self.init(
      stack: state.stack.description, devices: devices, connection: connection, waiting: state.waiting,
      conflicts: state.newConflicts.count, problem: problem)
  }
}
