import NavigationClient
import NavigationModel
import SharedNavigation
import TerminalUI

/// A screen of `navsync ui`.
enum Place: Hashable {
  case stack(StackName)
  case entry(StackName, NavigationModel.EntryID)
  case push(StackName)
  case replace(StackName)
  case conflicts(StackName)
  case conflict(StackName, Conflict)
  case devices(StackName)
  case following(StackName, DeviceID)
  case history(StackName)
  case event(StackName, Int)
}

/// All of `navsync ui`: a stack of screens about stacks of screens.
struct DeskView: View {
  @ObservedObject var desk: Desk
  /// The stack that the command line names.
  let control: StackControl?

  var body: some View {
    NavigationStack(path: $desk.path) {
      Group {
        if let control { StackView(desk: desk, control: control) } else { StacksView(desk: desk) }
      }
      .navigationDestination(for: Place.self) { place in screen(place) }
    }
  }

  @ViewBuilder private func screen(_ place: Place) -> some View {
    switch place {
    case .stack(let name): opened(name) { StackView(desk: desk, control: $0) }
    case .entry(let name, let id): opened(name) { EntryView(control: $0, id: id) }
    case .push(let name): opened(name) { ValueForm(control: $0, replaces: false) }
    case .replace(let name): opened(name) { ValueForm(control: $0, replaces: true) }
    case .conflicts(let name): opened(name) { ConflictsView(control: $0) }
    case .conflict(let name, let conflict): opened(name) { ConflictView(control: $0, conflict: conflict) }
    case .devices(let name): opened(name) { DevicesView(control: $0) }
    case .following(let name, let device): opened(name) { FollowingView(control: $0, device: device) }
    case .history(let name): opened(name) { HistoryView(control: $0) }
    case .event(let name, let number): opened(name) { EventView(control: $0, number: number) }
    }
  }

  private func opened<Content: View>(_ name: StackName, _ content: (StackControl) -> Content) -> AnyView {
    do { return AnyView(content(try desk.open(name))) } catch {
      return AnyView(Text("\(name) can't be opened. \(error)").navigationTitle(name.description))
    }
  }
}

/// The stacks that there are.
private struct StacksView: View {
  @ObservedObject var desk: Desk
  @State private var name = ""
  @State private var problem = ""

  var body: some View {
    List {
      Section("Stacks") {
        ForEach(desk.stacks) { stack in
          NavigationLink(value: Place.stack(stack.name)) {
            HStack {
              Text(stack.name.description)
              Spacer()
              Text("\(stack.policy), \(counted(stack.events, "event"))").foregroundStyle(.secondary)
            }
          }
        }
        if desk.stacks.isEmpty { Text("None yet.") }
      }
      Section("Another") {
        TextField("space/stack", text: $name).onSubmit(open)
        if !problem.isEmpty { Text(problem) }
      }
      if let problem = desk.listProblem {
        Section("Not asked") { Text("The daemon's stacks aren't known: \(problem)") }
      }
    }
    .navigationTitle("navsync")
    .task { await desk.list() }
  }

  private func open() {
    do {
      desk.path.append(.stack(try StackName(name)))
      problem = ""
    } catch { problem = "\(error)" }
  }
}
