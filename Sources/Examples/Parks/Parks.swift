import SharedNavigation
import TerminalUI

/// National parks: a list, details, a path that the program sets, and screens that belong to a flag or an item.
@main
struct Parks: App {
  // With `@State private var path: [Park] = []` in its place this is a program of one device.
  @SharedPath("alice/parks", name: "park") private var path: [Park]

  var body: some Scene {
    WindowGroup { ParksView(path: $path) }
  }
}

struct Park: Codable, Hashable, Identifiable, CustomStringConvertible {
  var name: String
  var country: String
  var since: Int
  var id: String { name }
  /// What other devices' last lines say.
  var description: String { name }

  static let all = [
    Park(name: "Sarek", country: "Sweden", since: 1909), Park(name: "Teide", country: "Spain", since: 1954),
    Park(name: "Triglav", country: "Slovenia", since: 1961), Park(name: "Saimaa", country: "Finland", since: 1956),
    Park(name: "Abisko", country: "Sweden", since: 1909), Park(name: "Doñana", country: "Spain", since: 1969),
  ]

  /// Parks of the same country.
  var neighbours: [Park] { Park.all.filter { $0.country == country && $0 != self } }
}

struct ParksView: View {
  @Binding var path: [Park]
  @State private var search = ""
  @State private var showsHelp = false

  var body: some View {
    NavigationStack(path: $path) {
      List {
        ForEach(found) { park in
          NavigationLink(value: park) {
            HStack {
              Text(park.name)
              Text(park.country).foregroundStyle(.secondary)
            }
          }
        }
        Button("Tour of Sweden") { showParks(in: "Sweden") }
        Button("Why parks?") { showsHelp = true }
      }
      .searchable(text: $search, prompt: "Park or country")
      .navigationTitle("Parks")
      .navigationDestination(for: Park.self) { ParkView(park: $0) { path = [] } }
      .navigationDestination(isPresented: $showsHelp) {
        Text("A park keeps a place as it is. Esc goes back, and the flag is false again.").navigationTitle("Why parks?")
      }
    }
  }

  private var found: [Park] {
    search.isEmpty ? Park.all : Park.all.filter { "\($0.name) \($0.country)".localizedCaseInsensitiveContains(search) }
  }

  /// Shows several screens at once: one action, however many they are.
  private func showParks(in country: String) { path = Park.all.filter { $0.country == country } }
}

struct ParkView: View {
  let park: Park
  let toList: () -> Void
  @State private var fact: Fact?

  /// What a screen of this one is about while it is open.
  struct Fact: Hashable {
    var title: String
    var text: String
  }

  var body: some View {
    VStack(alignment: .leading) {
      Text("\(park.name), \(park.country)").bold()
      ForEach(park.neighbours) { NavigationLink("Also there: \($0.name)", value: $0) }
      Button("How old is it?") { fact = Fact(title: "Age", text: "A park since \(park.since).") }
      Button("Back to the list", action: toList)
    }
    .navigationTitle(park.name)
    .navigationDestination(item: $fact) { Text($0.text).navigationTitle($0.title) }
  }
}
