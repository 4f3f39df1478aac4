import Foundation
import StackHistory
package import TerminalUI

/// The screen of `navsync replay`: a time line, the events around the moment, and the stack beside them.
package struct ReplayScreen: View {
  private let model: ReplayModel
  @FocusState private var asks: Bool

  package init(_ model: ReplayModel) { self.model = model }

  package var body: some View {
    GeometryReader { room in
      let left = max(20, room.size.width / 2)
      // The title, the time line and the last line are not for events.
      let lines = max(1, room.size.height - 3)
      VStack(alignment: .leading, spacing: 0) {
        HStack(spacing: 2) {
          Text(model.title).bold()
          Text(model.place)
        }
        Text(model.timeLine(room.size.width))
        HStack(alignment: .top, spacing: 1) {
          VStack(alignment: .leading, spacing: 0) {
            ForEach(model.events(atMost: lines), id: \.number) { event in
              EventLine(event.text, isHere: event.number == model.moment, isConflict: event.isConflict)
            }
          }
          .frame(width: left, alignment: .leading)
          StackColumn(rows: model.rows, decisions: model.decisions, lines: lines)
        }
        .frame(height: lines, alignment: .topLeading)
        bottom
      }
    }
    .modifier(Steps(model: model))
    .modifier(Jumps(model: model, asks: { asks = true }))
  }

  @ViewBuilder private var bottom: some View {
    if model.query != nil {
      HStack(spacing: 1) {
        Text("go to")
        TextField(
          "N, TIME or DEVICE:N", text: Binding(get: { model.query ?? "" }, set: { model.query = $0 })
        )
        .focused($asks)
        .onSubmit { model.answerQuery() }
      }
    } else if !model.message.isEmpty {
      Text(model.message).foregroundStyle(.yellow).lineLimit(1)
    } else {
      Text("← → step  PgUp PgDn far  c C conflict  Space play  + - speed  t go to  ? all keys  q quit")
        .foregroundStyle(.secondary).lineLimit(1)
    }
  }
}

/// The keys that step.
private struct Steps: ViewModifier {
  let model: ReplayModel

  func body(content: Content) -> some View {
    content
      .onKeyPress(.leftArrow, meaning: "the event before") { model.step(-1) }
      .onKeyPress(.upArrow, meaning: "the event before") { model.step(-1) }
      .onKeyPress("k", meaning: "the event before") { model.step(-1) }
      .onKeyPress(.rightArrow, meaning: "the next event") { model.step(1) }
      .onKeyPress(.downArrow, meaning: "the next event") { model.step(1) }
      .onKeyPress("j", meaning: "the next event") { model.step(1) }
  }
}

/// The keys that go far, play, and ask.
private struct Jumps: ViewModifier {
  let model: ReplayModel
  let asks: () -> Void

  func body(content: Content) -> some View {
    content
      .onKeyPress(.pageUp, meaning: "a twentieth of the history back, on") { model.step(-model.leap) }
      .onKeyPress(.pageDown, meaning: "a twentieth of the history back, on") { model.step(model.leap) }
      .onKeyPress(.home, meaning: "to the beginning, the end") { model.go(to: 0) }
      .onKeyPress(.end, meaning: "to the beginning, the end") { model.go(to: model.count) }
      .onKeyPress("C", meaning: "to the conflict before, the next (events marked !)") { model.goToConflict(-1) }
      .onKeyPress("c", meaning: "to the conflict before, the next (events marked !)") { model.goToConflict(1) }
      .onKeyPress("t", meaning: "to an event by its number or as DEVICE:N, or to a time") {
        model.query = ""
        asks()
      }
      .onKeyPress(.space, meaning: "play, stop") { model.togglePlaying() }
      .onKeyPress("-", meaning: "play slower, faster") { model.changeSpeed(-1) }
      .onKeyPress("+", meaning: "play slower, faster") { model.changeSpeed(1) }
  }
}

private struct EventLine: View {
  private let text: String
  private let isHere: Bool
  private let isConflict: Bool

  init(_ text: String, isHere: Bool, isConflict: Bool) {
    self.text = text
    self.isHere = isHere
    self.isConflict = isConflict
  }

  var body: some View {
    // The marks say it without colour too.
    Text("\(isHere ? "▶" : " ")\(isConflict ? "!" : " ")\(text)")
      .bold(isHere).foregroundStyle(isConflict ? Color.yellow : Color.primary).lineLimit(1)
  }
}

private struct StackColumn: View {
  let rows: [ReplayModel.Row]
  let decisions: [String]
  let lines: Int

  var body: some View {
    let shown = rows.count <= room ? rows.count : room - 1
    VStack(alignment: .leading, spacing: 0) {
      if rows.isEmpty { Text("(root)").foregroundStyle(.secondary) }
      ForEach(0..<shown, id: \.self) { place in
        Text("\(mark(rows[place])) \(rows[place].value)  \(rows[place].by)")
          .bold(rows[place].change == .opened).foregroundStyle(colour(rows[place])).lineLimit(1)
      }
      if shown < rows.count { Text("  and \(rows.count - shown) beneath").foregroundStyle(.secondary) }
      ForEach(0..<decisions.count, id: \.self) { place in
        Text("! \(decisions[place])").foregroundStyle(.yellow)
      }
    }
  }

  /// How many lines the entries may take: what was decided is to be seen, too.
  private var room: Int { max(2, decisions.isEmpty ? lines : lines - min(lines / 2, 3 * decisions.count)) }

  private func mark(_ row: ReplayModel.Row) -> String {
    switch row.change {
    case .same: " "
    case .opened: "+"
    case .closed: "-"
    case .moved: "^"
    }
  }

  private func colour(_ row: ReplayModel.Row) -> Color {
    switch row.change {
    case .same: .primary
    case .opened: .green
    case .closed: .red
    case .moved: .cyan
    }
  }
}

/// Shows it until the person quits; the process ends then.
///
/// The screen runs on the main run loop. It begins from a block of the loop's own: from a block of the main queue, which a
/// task of the main actor is, the loop would not serve that queue.
@MainActor
func runReplay(_ loaded: sending LoadedHistory, at moment: Int?) async -> Never {
  let model = ReplayModel(loaded, at: moment)
  RunLoop.main.perform {
    MainActor.assumeIsolated { showScreen(model) }
  }
  while true { try? await Task.sleep(for: .seconds(3600)) }
}

/// Never comes back.
@MainActor
private func showScreen(_ model: ReplayModel) {
  TerminalProgram.run(isAccessible: false) {
    ReplayScreen(model)
  } atEnd: {
    model.exitCode
  }
}

extension ReplayModel {
  /// A damaged history ends so, as without a terminal.
  fileprivate var exitCode: Int32 { (problem?.code ?? .ok).rawValue }
}
