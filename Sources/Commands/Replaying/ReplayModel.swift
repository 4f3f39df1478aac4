import Foundation
import NavigationModel
import Observation
import StackHistory

/// A history that a person goes through: where they are, whether it plays, and what they are told.
@MainActor
@Observable
package final class ReplayModel {
  /// After so many events; 0 is the empty stack.
  private(set) var moment: Int
  /// How many times as fast as it happened; nil while it stands.
  private(set) var speed: Double?
  /// The speed that it plays at when it does.
  private(set) var chosenSpeed = 10.0
  /// What is asked to go to, while that is asked.
  var query: String?
  private(set) var message = ""
  @ObservationIgnored private let loaded: LoadedHistory
  @ObservationIgnored private var playing: Task<Void, Never>?

  /// The longest wait between two events that plays, however long nobody did anything.
  private static let longestWait = 2.0
  private static let speeds: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

  init(_ loaded: LoadedHistory, at moment: Int? = nil) {
    self.loaded = loaded
    self.moment = moment ?? loaded.timeline.count
    message = loaded.problem?.message ?? ""
  }

  /// Why the history could not be read to its end.
  var problem: CommandError? { loaded.problem }

  var title: String { loaded.history.stack.description }
  var count: Int { loaded.timeline.count }

  // MARK: Going

  func step(_ by: Int) { go(to: moment + by) }

  /// How far a leap goes: a twentieth of the history.
  var leap: Int { max(10, count / 20) }

  func go(to wanted: Int) {
    moment = min(max(0, wanted), count)
    message = ""
  }

  /// To the next event at which something was decided, in that direction.
  func goToConflict(_ step: Int) {
    if let found = loaded.timeline.decision(from: moment + step, step: step) {
      go(to: found)
    } else {
      message = "no conflict \(step > 0 ? "after" : "before") this"
    }
  }

  /// To what was asked for: an event's number or name, or a time.
  func answerQuery() {
    guard let text = query?.trimmingCharacters(in: .whitespaces) else { return }
    query = nil
    guard !text.isEmpty else { return }
    do {
      switch try HistoryPlace(argument: text) {
      case .number(let number): go(to: try loaded.moment(number))
      case .time(let time): go(to: loaded.timeline.moment(at: time.milliseconds(now: wallClockMilliseconds())))
      case .event(let device, let sequence):
        go(to: try loaded.number(ofEvent: .event(device: device, sequence: sequence)))
      }
    } catch { message = "\(error)" }
  }

  // MARK: Playing

  func togglePlaying() {
    if speed != nil { return stop() }
    if moment == count { moment = 0 }
    speed = chosenSpeed
    playing = Task { [weak self] in
      while let wait = self?.waitForNext() {
        do { try await Task.sleep(for: .seconds(wait)) } catch { return }
        self?.playOn()
      }
    }
  }

  func changeSpeed(_ step: Int) {
    let place = Self.speeds.firstIndex(of: chosenSpeed) ?? 0
    chosenSpeed = Self.speeds[min(max(0, place + step), Self.speeds.count - 1)]
    if speed != nil { speed = chosenSpeed }
  }

  private func stop() {
    playing?.cancel()
    playing = nil
    speed = nil
  }

  /// Seconds until the next event is shown, nil if it doesn't play.
  private func waitForNext() -> Double? {
    guard let speed, moment < count else { return nil }
    guard moment > 0 else { return 0 }
    let gap = loaded.timeline.time(of: moment + 1) - loaded.timeline.time(of: moment)
    return min(max(0, Double(gap) / 1000 / speed), Self.longestWait)
  }

  private func playOn() {
    guard speed != nil else { return }
    go(to: moment + 1)
    if moment == count { stop() }
  }

  // MARK: What is shown

  /// One entry of the stack at this moment, or one that its event closed.
  struct Row {
    var change: Effect.Line.Change
    var value: String
    /// Who put it there, and when.
    var by: String
  }

  /// The top first.
  var rows: [Row] {
    let effect =
      moment == 0 ? Effect(from: [], to: []) : loaded.timeline.effect(of: moment)
    return effect.lines.reversed().map { line in
      let time = loaded.timeline.number(of: line.entry.id.dot).map { loaded.timeline.time(of: $0) }
      return Row(
        change: line.change, value: text(of: line.entry.value),
        by: "\(loaded.text(line.entry.id.dot))  \(time.map(timeText) ?? "")")
    }
  }

  /// A time as it is told beside this moment: with its day only if that is another.
  private func timeText(_ milliseconds: Int) -> String {
    let whole = localTime(milliseconds: milliseconds)
    let isSameDay =
      moment > 0 && whole.prefix(10) == localTime(milliseconds: loaded.timeline.time(of: moment)).prefix(10)
    return isSameDay ? localTimeOfDay(milliseconds: milliseconds) : whole
  }

  /// The lines of events around this moment, so many at most, each with its number.
  func events(atMost room: Int) -> [(number: Int, text: String, isConflict: Bool)] {
    guard count > 0, room > 0 else { return [] }
    let first = max(1, min(moment - room / 2, count - room + 1))
    let last = min(count, first + room - 1)
    let width = "\(last)".count
    return (first...last).map { number in
      let event = loaded.timeline.event(number)
      let isVoid = loaded.timeline.isVoid(number)
      let line =
        String(repeating: " ", count: width - "\(number)".count)
        + "\(number)  \(localTimeOfDay(milliseconds: event.timestamp.milliseconds))  \(loaded.text(event.dot))  "
        + "\(text(of: event.action))\(isVoid ? " (void)" : "")"
      return (number, line, isVoid || !loaded.timeline.newConflicts(at: number).isEmpty)
    }
  }

  /// What was decided at this moment, or why its event did nothing.
  var decisions: [String] {
    guard moment > 0 else { return [] }
    let values = loaded.values(of: loaded.timeline.entries(at: moment))
    return loaded.timeline.newConflicts(at: moment).map { conflict in
      if case .noop = conflict { return "void: \(reasonForVoid(moment, in: loaded))" }
      return text(of: conflict, loaded.names, values)
    }
  }

  /// Where this is: the event and its time.
  var place: String {
    let time = moment == 0 ? "before the first" : localTime(milliseconds: loaded.timeline.time(of: moment))
    let playing = speed.map { "  ▶ \(Int($0))×" } ?? ""
    return "event \(moment) of \(count)  \(time)\(playing)"
  }

  /// A line of so many columns with a mark where this is.
  func timeLine(_ width: Int) -> String {
    guard width > 2, count > 0 else { return "" }
    let place = moment * (width - 1) / count
    return String(repeating: "━", count: place) + "●" + String(repeating: "─", count: width - 1 - place)
  }
}
