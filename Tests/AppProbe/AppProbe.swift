import TerminalUI

/// What the tests of whole programs drive: a program as people write it, with `import TerminalUI` where a SwiftUI
/// program imports SwiftUI.
@main
struct AppProbe: App {
  @State private var path = NavigationPath()
  @StateObject private var clock = Ticks()

  var body: some Scene {
    WindowGroup {
      NavigationStack(path: $path) {
        List {
          ForEach(["Mint", "Pink", "Teal"], id: \.self) { NavigationLink($0, value: $0) }
          NavigationLink("Rows", value: 10_000)
          NavigationLink("Unknown", value: 1.5)
          NavigationLink("Form") { ProbeForm() }
          Button("Ticks: \(clock.count)") { clock.start() }
        }
        .navigationTitle("Colors")
        .navigationDestination(for: String.self) { name in
          VStack(alignment: .leading) {
            Text("This is \(name).").foregroundStyle(.green)
            NavigationLink("Darker", value: "Dark \(name)")
          }
          .navigationTitle(name)
        }
        .navigationDestination(for: Int.self) { count in
          List(0..<count) { Text("row \($0)") }.navigationTitle("\(count) rows")
        }
      }
      .onOpenURL { url in path = NavigationPath(url.pathComponents.filter { $0 != "/" }) }
    }
  }
}

private struct ProbeForm: View {
  @State private var name = ""

  var body: some View {
    VStack(alignment: .leading) {
      TextField("Name", text: $name)
      Text("Hello, \(name.isEmpty ? "you" : name)!")
    }
    .navigationTitle("Form")
  }
}

/// Changes from elsewhere, as another device makes them.
@MainActor
private final class Ticks: ObservableObject {
  @Published var count = 0

  func start() {
    Task {
      for _ in 0..<3 {
        await Task.yield()
        count += 1
      }
    }
  }
}
