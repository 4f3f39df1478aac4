import SharedNavigation
import TerminalUI

/// The race as one device runs it: its own way is a stack of its own, which the others watch.
struct RaceView: View {
  let race: Race
  let graph: LinkGraph
  let others: [String]
  private let device: String
  @SharedPath private var run: [Article]
  @State private var search = ""

  init(race: Race, graph: LinkGraph, device: String, others: [String]) {
    self.race = race
    self.graph = graph
    self.device = device
    self.others = others
    _run = SharedPath(race.stack(of: device), name: "article", showsStatus: false)
  }

  var body: some View {
    let here = run.last?.title ?? race.start
    List {
      Text("From \(race.start) to \(race.goal)").bold()
      RunView(name: "You", race: race, run: run)
      ForEach(others, id: \.self) { OtherRunView(name: $0, race: race) }
      if here != race.goal {
        Section("Links of \(here)") {
          if !run.isEmpty { Button("‹ Back") { run.removeLast() } }
          ForEach(links(of: here), id: \.self) { title in
            Button(title) { run.append(Article(title: title)) }
          }
        }
      }
    }
    .searchable(text: $search, prompt: "Search the links")
    .navigationTitle("Race")
  }

  private func links(of title: String) -> [String] {
    graph.links(of: title).filter { search.isEmpty || $0.localizedCaseInsensitiveContains(search) }
  }
}

/// How far somebody is.
struct RunView: View {
  let name: String
  let race: Race
  let run: [Article]

  var body: some View {
    let clicks = "\(run.count) \(run.count == 1 ? "link" : "links")"
    if run.last?.title == race.goal {
      Text("\(name): arrived by \(clicks)").foregroundStyle(.green)
    } else {
      Text("\(name): \(clicks), at \(run.last?.title ?? race.start)")
    }
  }
}

/// Another device's way, as it goes.
struct OtherRunView: View {
  let name: String
  let race: Race
  @SharedPath private var run: [Article]

  init(name: String, race: Race) {
    self.name = name
    self.race = race
    _run = SharedPath(race.stack(of: name), name: "article", showsStatus: false)
  }

  var body: some View { RunView(name: name, race: race, run: run) }
}

extension Race {
  /// The stack of a device's way.
  func stack(of device: String) -> String { "alice/race-\(number).\(device)" }
}
