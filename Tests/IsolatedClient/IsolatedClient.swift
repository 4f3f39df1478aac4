public import TerminalUI

// A program whose code belongs to the main actor by default, as Xcode sets new ones up. That it compiles is half of the
// test: conformances are isolated here, so that a cast to `Encodable` off the main actor would fail without a word.

public enum Route: Hashable, Codable {
  case park(Int)
  case map
}

@Observable
public final class Parks {
  public var names = ["Aspen", "Birch"]
  public init() {}
}

public final class Visits: ObservableObject {
  @Published public var count = 0
  @Published public var path = NavigationPath()
  public init() {}
}

public struct ParksView: View {
  @State private var search = ""
  @State private var isMapShown = false
  @State private var parks = Parks()
  @ObservedObject private var visits: Visits
  @Environment(\.dismiss) private var dismiss

  public init(visits: Visits) { self.visits = visits }

  public var body: some View {
    NavigationStack(path: $visits.path) {
      List {
        Section("Parks") {
          ForEach(Array(parks.names.enumerated()), id: \.offset) { index, name in
            NavigationLink(name, value: Route.park(index))
          }
        }
        Button("Map") { isMapShown.toggle() }
        Button("Add") { parks.names.append("Cedar \(parks.names.count)") }
        Toggle("Shown", isOn: $isMapShown)
        TextField("Search", text: $search)
      }
      .navigationTitle("Parks")
      .navigationDestination(for: Route.self) { route in
        switch route {
        case .park(let index): ParkView(name: parks.names[index], visits: visits)
        case .map: Text("Map")
        }
      }
      .navigationDestination(isPresented: $isMapShown) { Text("The map") }
      .task { visits.count += 1 }
      .onChange(of: search) { _, new in if new == "map" { isMapShown = true } }
    }
  }
}

struct ParkView: View {
  let name: String
  @ObservedObject var visits: Visits
  @Environment(\.dismiss) private var dismiss
  @State private var stars = 0

  var body: some View {
    VStack(alignment: .leading) {
      Text("\(name): \(stars) stars")
      Button("Star") { stars += 1 }
      Button("Close") { dismiss() }
    }
    .navigationTitle(name)
    .onAppear { visits.count += 100 }
  }
}
