import SharedNavigation
import TerminalUI

/// From article to article by links alone, on all devices at once, and as a race.
@main
struct Wikispeedia: App {
  // With `@State private var path = NavigationPath()` in its place this is a program of one device.
  @SharedPath("alice/wikispeedia") private var path: NavigationPath

  var body: some Scene {
    WindowGroup {
      WikispeediaView(
        path: $path, graph: .shipped, device: _path.device, others: _path.others)
    }
  }
}

/// An article by its title.
struct Article: Codable, Hashable, CustomStringConvertible {
  var title: String
  /// What other devices' last lines say.
  var description: String { title }
}

/// A race: every device finds a way of its own.
struct Race: Codable, Hashable, CustomStringConvertible {
  /// Tells one race from the others.
  var number: Int
  var start: String
  var goal: String
  var description: String { "race to \(goal)" }
}

struct WikispeediaView: View {
  @Binding var path: NavigationPath
  let graph: LinkGraph
  let device: String
  let others: [String]
  @State private var search = ""

  var body: some View {
    NavigationStack(path: $path) {
      List {
        Button("Race: a way between two articles") { path.append(graph.race(number: .random(in: 1...999_999))) }
        ForEach(graph.titles(matching: search), id: \.self) { title in
          NavigationLink(title, value: Article(title: title))
        }
      }
      .searchable(text: $search, prompt: "Search \(graph.count) articles")
      .navigationTitle("Articles")
      .navigationDestination(for: Article.self, name: "article") { ArticleView(title: $0.title, graph: graph) }
      .navigationDestination(for: Race.self, name: "race") { race in
        RaceView(race: race, graph: graph, device: device, others: others)
      }
    }
  }
}

/// An article's links.
struct ArticleView: View {
  let title: String
  let graph: LinkGraph
  @State private var search = ""

  var body: some View {
    let links = graph.links(of: title).filter { search.isEmpty || $0.localizedCaseInsensitiveContains(search) }
    List {
      ForEach(links, id: \.self) { NavigationLink($0, value: Article(title: $0)) }
      if links.isEmpty { Text(search.isEmpty ? "No links." : "No link is called that.") }
    }
    .searchable(text: $search, prompt: "Search the links")
    .navigationTitle(title)
  }
}
