import NavigationClient
import NavigationModel
import TerminalUI

/// A stack: its entries, bottom to top, and what can be done.
struct StackView: View {
  @ObservedObject var desk: Desk
  @ObservedObject var control: StackControl
  @Environment(\.statusLine) private var statusLine

  var body: some View {
    let _ = control.show(on: statusLine)
    let state = control.state
    List {
      Section(breadcrumbs(state.entries)) {
        row("0", "the root", devices: control.devices(at: nil))
        ForEach(Array(state.entries.enumerated()), id: \.element.id) { index, entry in
          NavigationLink(value: Place.entry(state.stack, entry.id)) {
            row("\(index + 1)", text(of: entry.value), devices: control.devices(at: entry.id))
          }
        }
      }
      if let problem = state.problem {
        Section("Problem") {
          Text("\(problem)")
          if problem.code == .policyMismatch { Button("Take the daemon's policy") { control.adoptPolicy() } }
        }
      }
      Section("Do") {
        NavigationLink("Push a value (p)", value: Place.push(state.stack))
        NavigationLink("Replace the top (r)", value: Place.replace(state.stack))
        Button("Back (b)") { control.act(.pop(1)) }
        Button("To the root (0)") { control.act(.popToRoot) }
        Button("Undo the newest action (u)") { control.undo() }
      }
      Section("Look at") {
        NavigationLink(conflicts, value: Place.conflicts(state.stack))
        NavigationLink("Devices: \(others) (d)", value: Place.devices(state.stack))
        NavigationLink("History: \(counted(state.eventCount, "event")) (h)", value: Place.history(state.stack))
      }
    }
    .navigationTitle("\(state.stack) (\(control.policy))")
    .onKeyPress("p", meaning: "push a value") { desk.path.append(.push(state.stack)) }
    .onKeyPress("r", meaning: "replace the top") { desk.path.append(.replace(state.stack)) }
    .onKeyPress("b", meaning: "back on the stack") { control.act(.pop(1)) }
    .onKeyPress("0", meaning: "to the stack's root") { control.act(.popToRoot) }
    .onKeyPress("u", meaning: "undo the newest action") { control.undo() }
    .onKeyPress("c", meaning: "conflicts") { desk.path.append(.conflicts(state.stack)) }
    .onKeyPress("d", meaning: "devices") { desk.path.append(.devices(state.stack)) }
    .onKeyPress("h", meaning: "history") { desk.path.append(.history(state.stack)) }
  }

  private var conflicts: String {
    let (all, new) = (control.state.conflicts.count, control.state.newConflicts.count)
    return "Conflicts: \(all)" + (new > 0 ? ", \(new) new" : "") + " (c)"
  }

  private var others: String {
    let count = control.state.presence.count
    return count == 0 ? "only this one" : "this one and \(counted(count, "other"))"
  }

  private func row(_ number: String, _ value: String, devices: [String]) -> some View {
    HStack {
      Text(number).foregroundStyle(.secondary)
      Text(value)
      Spacer()
      Text(devices.isEmpty ? "" : "← " + devices.joined(separator: ", ")).foregroundStyle(.cyan)
    }
  }
}

/// One entry: its value, whole.
struct EntryView: View {
  @ObservedObject var control: StackControl
  let id: NavigationModel.EntryID
  @Environment(\.dismiss) private var dismiss

  var body: some View {
    let index = control.state.entries.firstIndex { $0.id == id }
    VStack(alignment: .leading) {
      if let index {
        let entry = control.state.entries[index]
        Text("Entry \(index + 1) of \(control.state.entries.count), put there by \(author)")
        Text("Type   \(entry.value.type)")
        Text("Value  \(entry.value.json)")
        Text("Shown by \(shownBy)")
        Text("")
        Button("Close it and what is above") {
          control.close(id, itself: true)
          dismiss()
        }
        Button("Close what is above") { control.close(id, itself: false) }
      } else {
        Text("This entry was closed.")
      }
      Spacer()
    }
    .navigationTitle(index.map { text(of: control.state.entries[$0].value) } ?? "closed")
  }

  private var author: String { "\(control.names.text(id.dot.device)) (its action \(id.dot.sequence))" }

  private var shownBy: String {
    let devices = control.devices(at: id)
    return devices.isEmpty ? "nobody now" : devices.joined(separator: ", ")
  }
}

/// Asks for a value.
struct ValueForm: View {
  @ObservedObject var control: StackControl
  let replaces: Bool
  @State private var content = ""
  @State private var type = ""
  @Environment(\.dismiss) private var dismiss

  var body: some View {
    VStack(alignment: .leading) {
      Text(replaces ? "In the place of \(top):" : "On top of \(top):")
      HStack {
        Text("Value")
        TextField("a text, or JSON if there is a type", text: $content).onSubmit(done)
      }
      HStack {
        Text("Type ")
        TextField("none: the value is a text", text: $type).onSubmit(done)
      }
      Button(replaces ? "Replace" : "Push", action: done).disabled(content.isEmpty)
      Spacer()
    }
    .navigationTitle(replaces ? "Replace" : "Push")
  }

  private var top: String { control.state.top.map { text(of: $0.value) } ?? "the root" }

  private func done() {
    guard !content.isEmpty else { return }
    do {
      let value = type.isEmpty ? try Value(content) : Value(type: type, json: content)
      control.act(replaces ? .replace(value) : .push([value]))
      dismiss()
    } catch { control.tell("\(error)") }
  }
}
