import ArgumentParsing
import Foundation
import NavigationModel
import StackHistory
import WireFormat

/// What commands that look back read: a stack of a daemon or a store, or a file.
package struct LookingBackOptions: ParsableOptions {
  @Option(placeholder: "SPACE/STACK", help: "Which stack, if a file has events of several.") var stack: StackName?
  @OptionGroup var source: SourceOptions

  package init() {}

  /// Finds the history of what was named: a stack as space/stack, a file of JSON lines, `-` for the standard input.
  ///
  /// - Parameter goesOn: whether the daemon is to tell what comes: nobody else can stand in for it then.
  func open(_ what: String, goesOn: Bool = false, on console: Console) async throws -> History {
    guard let name = try stack(named: what) else { return try await file(what, on: console) }
    if goesOn { return try await History(name, in: try await source.open(on: console)) }
    let device = console.environment["NAVSYNC_DEVICE"].flatMap { $0.isEmpty ? nil : $0 }
    return try await historyOrReplica(
      of: name, store: source.store, daemon: source.daemon.daemon, device: device, on: console
    ).history
  }

  /// The stack that was named; nil of what is a file.
  func stack(named what: String) throws -> StackName? {
    guard what != "-", let name = try? StackName(what), source.store != nil || !isThere(what) else { return nil }
    guard stack == nil else { throw CommandError(.usage, "--stack chooses from a file; '\(what)' is a stack") }
    return name
  }

  /// A file's history.
  func file(_ what: String, on console: Console) async throws -> History {
    guard source.store == nil else { throw CommandError(.usage, "'\(what)' is not a stack; --store takes space/stack") }
    let input = try RereadableInput(path: what, on: console)
    if let export = try ExportFile(input, stack: stack) {
      return try await History(export.stack, in: .export(export))
    }
    return try await History(file: try FileHistory(try input.lines(), stack: stack, policy: nil))
  }

  /// All of it. What is wrong with it is kept in ``LoadedHistory/problem``, so that the good part can be looked at first.
  func load(_ what: String, goesOn: Bool = false, on console: Console) async throws -> LoadedHistory {
    let history = try await open(what, goesOn: goesOn, on: console)
    return try await LoadedHistory(history, goesOn: goesOn, on: console)
  }
}

extension History {
  /// A file's history under the name that it has, if any.
  convenience init(file: FileHistory) async throws {
    let stack: StackName
    do { stack = try file.stack ?? StackName("file/events") } catch { throw CommandError(.failed, "\(error)") }
    try await self.init(stack, in: .file(file))
    self.file = file
  }
}

/// A history that was read whole, and what was wrong with it.
final class LoadedHistory {
  let history: History
  var timeline: Timeline
  /// Why it could not be read to its end; thrown once what is good was shown.
  private(set) var problem: CommandError?

  var names: DeviceNames { history.names }

  init(_ history: History, goesOn: Bool = false, on console: Console) async throws {
    self.history = history
    var timeline = Timeline(stack: history.stack, policy: history.policy)
    var progress = ProgressLine(on: console)
    do {
      try await history.load(into: &timeline, goesOn: goesOn) { count in
        // How many an export has shows at its end.
        progress.update(count < history.head ? "\(count) of \(history.head) events" : "\(count) events")
      }
    } catch let error as CommandError where error.code == .damage {
      problem = error
    }
    progress.clear()
    self.timeline = timeline
    if history.unread > 0 {
      console.say(
        "\(counted(history.unread, "event")) of \(history.stack) can't be shown: of a newer format, or resting on one that "
          + "is; a newer navsync shows them")
    }
    history.vetting.tell(names, on: console)
    guard let file = history.file else { return }
    for dot in file.held {
      console.say(
        "held back: \(names.text(dot.device)):\(dot.sequence); it needs events that are not in \(file.name)")
    }
    for dot in file.forks {
      console.say("two events are called \(names.text(dot.device)):\(dot.sequence); the earlier one is taken")
    }
    problem = problem ?? file.problem
    if file.isCut {
      problem =
        problem
        ?? CommandError(
          .damage, "\(file.name) ends without its trailer: it was cut; this is what stands before the cut")
    }
  }

  /// Puts what all chains come to now in the place of what was folded before.
  func refold() throws {
    var timeline = Timeline(stack: history.stack, policy: history.policy)
    do { try history.fold(into: &timeline) } catch {
      self.timeline = timeline
      throw error
    }
    self.timeline = timeline
  }

  /// Throws what was wrong, if anything was.
  func finish() throws { if let problem { throw problem } }

  /// An event's name for people.
  func text(_ dot: Dot) -> String { "\(names.text(dot.device)):\(dot.sequence)" }

  /// The dot of the event with that number.
  func dot(_ number: Int) -> Dot { timeline.event(number).dot }

  /// The devices of that name; else the one that acted here whose id is so, or begins so, as ``DeviceNames/text(_:)``
  /// shows it.
  func devices(named text: String) -> [DeviceID] {
    let named = names.devices(named: text)
    guard named.isEmpty, text.utf8.count >= 8 else { return named }
    let begun = timeline.devices.filter { $0.description.hasPrefix(text) }
    return begun.count == 1 ? begun : []
  }

  /// The event that a person names as `device:sequence` or by its number.
  func number(ofEvent place: HistoryPlace) throws -> Int {
    switch place {
    case .number(let number):
      guard number >= 1 else { throw noEvent(number) }
      return try moment(number)
    case .event(let device, let sequence):
      let dots = devices(named: device).map { Dot($0, sequence) }
      let found = dots.compactMap { timeline.number(of: $0) }
      guard let number = found.last else {
        throw CommandError(.notFound, "\(history.stack) has no event \(device):\(sequence); 'navsync log' lists them")
      }
      return number
    case .time: throw CommandError(.usage, "name an event as DEVICE:N or by its number, not a time")
    }
  }

  /// The moment after so many events.
  func moment(_ number: Int) throws -> Int {
    guard number <= timeline.count else { throw noEvent(number) }
    return number
  }

  private func noEvent(_ number: Int) -> CommandError {
    CommandError(.notFound, "there is no event \(number); \(history.stack) has \(timeline.count)")
  }

  /// The stack at a place.
  struct Shown {
    /// Bottom to top.
    var entries: [Entry]
    var conflicts: [Conflict]
    /// Of how many events.
    var count: Int
  }

  /// The stack at a place: after so many events, of all that was made by a time, or as an event's author saw it; nil is
  /// the end.
  func shown(at place: HistoryPlace?) throws -> Shown {
    if place == nil && history.folded == nil || place == .number(timeline.count) {
      return Shown(
        entries: timeline.entries(at: timeline.count), conflicts: history.withForks(timeline.conflicts()),
        count: timeline.count)
    }
    var fold = try fold(at: place)
    return Shown(entries: fold.entries(), conflicts: history.withForks(fold.conflicts()), count: fold.count)
  }

  /// The entries of ``shown(at:)``. The end, and the moment after so many events, cost no fold.
  func entries(at place: HistoryPlace?) throws -> [Entry] {
    switch place {
    case nil where history.folded == nil: return timeline.entries(at: timeline.count)
    case .number(let number): return timeline.entries(at: try moment(number))
    case _:
      var fold = try fold(at: place)
      return fold.entries()
    }
  }

  private func fold(at place: HistoryPlace?) throws -> StackFold {
    switch place {
    case nil:
      var fold = StackFold(policy: history.policy)
      for event in history.folded ?? [] { fold.apply(event) }
      return fold
    case .number(let number): return timeline.fold(through: try moment(number))
    case .time(let time): return timeline.fold(madeBy: time.milliseconds(now: wallClockMilliseconds()))
    case .event:
      guard let place, let fold = timeline.fold(seenBy: dot(try number(ofEvent: place))) else {
        throw CommandError(.notFound, "\(history.stack) has no such event")
      }
      return fold
    }
  }
}
