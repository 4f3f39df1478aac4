import NavigationClient
import NavigationModel
import StackHistory
import TerminalUI

/// What was decided between concurrent actions.
struct ConflictsView: View {
  @ObservedObject var control: StackControl

  var body: some View {
    let (names, values) = (control.names, control.values)
    List {
      ForEach(control.state.conflicts.reversed(), id: \.self) { conflict in
        NavigationLink(value: Place.conflict(control.state.stack, conflict)) {
          Text(text(of: conflict, names, values)).lineLimit(2)
        }
      }
      if control.state.conflicts.isEmpty { Text("Nothing had to be decided: no two devices acted at the same time.") }
    }
    .navigationTitle("Conflicts")
    .onAppear {
      control.readHistory()
      control.stack.markConflictsSeen()
    }
  }
}

/// One conflict: both sides, the decision, and the way to the other side.
struct ConflictView: View {
  @ObservedObject var control: StackControl
  let conflict: Conflict

  var body: some View {
    List {
      if let history = control.history {
        let account = ConflictAccount(conflict, history)
        Text(account.about)
        Section("Who did what, without having seen the other") {
          ForEach(account.sides, id: \.self) { dot in Text(account.line(about: dot, history, on: .silent)) }
        }
        Section("Decided") { Text(account.decision) }
        Section("What one of them saw, as the path for all") {
          ForEach(account.sides, id: \.self) { dot in
            if let entries = history.seen(by: dot) {
              Button("\(history.text(dot)): \(breadcrumbs(entries))") { control.act(.set(entries.map(\.value))) }
            }
          }
        }
      } else {
        Text("Reading…")
      }
    }
    .navigationTitle("Conflict")
  }
}

/// The devices that show the stack, and where they are.
struct DevicesView: View {
  @ObservedObject var control: StackControl

  var body: some View {
    List {
      Text("\(control.device.name) (you), at \(control.state.top.map { text(of: $0.value) } ?? "the root")")
      ForEach(control.state.presence, id: \.device) { device in
        NavigationLink(value: Place.following(control.state.stack, device.device)) {
          HStack {
            Text(control.names.text(device.device))
            Text(control.place(of: device)).foregroundStyle(.secondary)
          }
        }
      }
      if control.state.presence.isEmpty {
        Text("No other device shows the stack.")
      } else {
        Text("Enter follows a device; Esc stops.").foregroundStyle(.secondary)
      }
    }
    .navigationTitle("Devices")
  }
}

/// What another device shows, as it moves; going back stops following.
struct FollowingView: View {
  @ObservedObject var control: StackControl
  let device: DeviceID

  var body: some View {
    let name = control.names.text(device)
    let presence = control.state.presence.first { $0.device == device }
    VStack(alignment: .leading) {
      if let presence {
        Text("\(name) is \(control.place(of: presence)).")
        Text("")
        if let index = control.state.entries.firstIndex(where: { $0.id == presence.top }) {
          Text(breadcrumbs(Array(control.state.entries[...index])))
          Text("")
          Text("Type   \(control.state.entries[index].value.type)")
          Text("Value  \(control.state.entries[index].value.json)")
        }
      } else {
        Text("\(name) doesn't show the stack now.")
      }
      Spacer()
    }
    .navigationTitle("Following \(name)")
  }
}

/// Every event, the newest first.
struct HistoryView: View {
  @ObservedObject var control: StackControl

  var body: some View {
    List {
      if let history = control.history {
        ForEach(0..<history.timeline.count, id: \.self) { index in
          HistoryRow(control: control, history: history, number: history.timeline.count - index)
        }
      } else {
        Text(control.state.eventCount == 0 ? "Nothing was done yet." : "Reading…")
      }
    }
    .navigationTitle("History")
    .onAppear { control.readHistory() }
  }
}

private struct HistoryRow: View {
  let control: StackControl
  let history: LoadedHistory
  let number: Int

  var body: some View {
    let event = history.timeline.event(number)
    NavigationLink(value: Place.event(control.state.stack, number)) {
      HStack {
        Text("\(number)").foregroundStyle(.secondary)
        Text(localTimeOfDay(milliseconds: event.timestamp.milliseconds))
        Text(control.names.text(event.dot.device)).bold()
        Text(text(of: event.action) + (history.timeline.isVoid(number) ? " (did nothing)" : ""))
      }
    }
  }
}

/// One event: what it did, and the way back.
struct EventView: View {
  @ObservedObject var control: StackControl
  let number: Int

  var body: some View {
    VStack(alignment: .leading) {
      if let history = control.history, (1...max(1, history.timeline.count)).contains(number) {
        let event = history.timeline.event(number)
        let after = history.timeline.entries(at: number)
        let before = history.timeline.entries(at: number - 1)
        Text("\(control.names.text(event.dot.device)): \(text(of: event.action))")
        Text(localTime(milliseconds: event.timestamp.milliseconds)).foregroundStyle(.secondary)
        Text("")
        Text("Before  \(breadcrumbs(before))")
        Text("After   \(breadcrumbs(after))")
        Text("Now     \(breadcrumbs(control.state.entries))")
        Text("")
        Button("Undo it: take back what it did, keep the rest") { control.undo(number, in: history) }
        Button("Restore what was shown after it") { control.act(.set(after.map(\.value))) }
        Button("Restore what was shown before it") { control.act(.set(before.map(\.value))) }
      } else {
        Text("Reading…")
      }
      Spacer()
    }
    .navigationTitle("Event \(number)")
    .onAppear { control.readHistory() }
  }
}
