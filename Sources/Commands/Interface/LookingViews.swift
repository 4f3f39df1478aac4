import NavigationClient
import NavigationModel
import TerminalUI

/// What was decided between concurrent actions.
struct ConflictsView: View {
  @ObservedObject var control: StackControl

  var body: some View {
    let (names, values) = (control.names, control.values)
    List {
      ForEach(control.state.conflicts.reversed(), id: \.self) { conflict in
        Text(text(of: conflict, names, values))
      }
      if control.state.conflicts.isEmpty { Text("No actions were concurrent.") }
    }
    .navigationTitle("Conflicts")
    .onDisappear { control.stack.markConflictsSeen() }
  }
}

/// The devices that show the stack, and where they are.
struct DevicesView: View {
  @ObservedObject var control: StackControl

  var body: some View {
    List {
      Text("\(control.device.name) (you)")
      ForEach(control.state.presence, id: \.device) { device in
        NavigationLink(value: Place.following(control.state.stack, device.device)) {
          HStack {
            Text(control.names.text(device.device))
            Text(control.place(of: device)).foregroundStyle(.secondary)
          }
        }
      }
      if control.state.presence.isEmpty { Text("No other device shows the stack.") }
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
        ForEach(history.reversed()) { row in
          NavigationLink(value: Place.event(control.state.stack, row.number)) {
            HStack {
              Text("\(row.number)").foregroundStyle(.secondary)
              Text(localTimeOfDay(milliseconds: row.event.timestamp.milliseconds))
              Text(control.names.text(row.event.dot.device)).bold()
              Text(text(of: row.event.action))
            }
          }
        }
        if history.isEmpty { Text("Nothing was done yet.") }
      } else {
        Text("Reading…")
      }
    }
    .navigationTitle("History")
    .onAppear { control.readHistory() }
  }
}

/// One event: the path after it, and the way back to that.
struct EventView: View {
  @ObservedObject var control: StackControl
  let number: Int

  var body: some View {
    VStack(alignment: .leading) {
      if let history = control.history, let row = history.first(where: { $0.number == number }) {
        Text("\(control.names.text(row.event.dot.device)): \(text(of: row.event.action))")
        Text(rfc3339(milliseconds: row.event.timestamp.milliseconds)).foregroundStyle(.secondary)
        Text("")
        Text("After it   \(breadcrumbs(row.entries))")
        Text("Before it  \(breadcrumbs(before(row, in: history)))")
        Text("Now        \(breadcrumbs(control.state.entries))")
        Text("")
        Button("Go back to after it") { control.act(.set(row.entries.map(\.value))) }
        Button("Go back to before it") { control.act(.set(before(row, in: history).map(\.value))) }
      }
      Spacer()
    }
    .navigationTitle("Event \(number)")
  }

  private func before(_ row: StackControl.HistoryRow, in history: [StackControl.HistoryRow]) -> [Entry] {
    history.last { $0.number < row.number }?.entries ?? []
  }
}
