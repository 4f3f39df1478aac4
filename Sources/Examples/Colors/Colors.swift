import SharedNavigation
import TerminalUI

/// Colours and their families, opened one from the other: every way to open a screen.
@main
struct Colors: App {
  // With `@State private var path = NavigationPath()` in its place this is a program of one device.
  @SharedPath("alice/colors") private var path: NavigationPath

  var body: some Scene {
    WindowGroup { ColorsView(path: $path) }
  }
}

/// A colour by its name.
struct Shade: Codable, Hashable, CustomStringConvertible {
  var name: String
  /// What other devices' last lines say.
  var description: String { name }

  var color: Color { Shade.known.first { $0.0 == name }?.1 ?? .primary }

  static let known: [(String, Color)] = [
    ("Mint", .mint), ("Teal", .teal), ("Cyan", .cyan), ("Pink", .pink), ("Orange", .orange), ("Indigo", .indigo),
  ]
}

/// Colours that go together: a second type of value on the same path.
struct Family: Codable, Hashable, CustomStringConvertible {
  var name: String
  var members: [String]
  var description: String { name }

  static let known = [
    Family(name: "Sea", members: ["Mint", "Teal", "Cyan"]),
    Family(name: "Evening", members: ["Pink", "Orange", "Indigo"]),
  ]
}

struct ColorsView: View {
  @Binding var path: NavigationPath

  var body: some View {
    NavigationStack(path: $path) {
      List {
        Section("Colours") {
          ForEach(Shade.known, id: \.0) { name, _ in NavigationLink(name, value: Shade(name: name)) }
        }
        Section("Families") {
          ForEach(Family.known, id: \.name) { family in NavigationLink(family.name, value: family) }
        }
        Section("More") {
          Button("Four screens at once") {
            path = NavigationPath(["Mint", "Teal", "Mint", "Pink"].map { Shade(name: $0) })
          }
          // A view without a value: only this device shows it.
          NavigationLink("About") { AboutView() }
        }
      }
      .navigationTitle("Colours")
      .navigationDestination(for: Shade.self, name: "shade") { ShadeView(shade: $0, path: $path) }
      .navigationDestination(for: Family.self, name: "family") { FamilyView(family: $0) }
    }
    // colors:Mint/Pink
    .onOpenURL { link in
      let names = link.absoluteString.split(separator: ":").last?.split(separator: "/") ?? []
      path = NavigationPath(names.map { Shade(name: String($0)) })
    }
  }
}

/// One colour. The same colour may be open several times, each with a note of its own.
struct ShadeView: View {
  let shade: Shade
  @Binding var path: NavigationPath
  @State private var note = ""

  var body: some View {
    VStack(alignment: .leading) {
      Text("██████  \(shade.name)").foregroundStyle(shade.color)
      TextField("A note about this screen", text: $note)
      ForEach(Shade.known.filter { $0.0 != shade.name }, id: \.0) { name, _ in
        NavigationLink("Then \(name)", value: Shade(name: name))
      }
      NavigationLink("The same again", value: shade)
      HStack {
        Button("Back") { path.removeLast() }
        Button("First") { path = NavigationPath() }
      }
    }
    .navigationTitle(shade.name)
  }
}

struct FamilyView: View {
  let family: Family

  var body: some View {
    List(family.members, id: \.self) { name in
      NavigationLink(value: Shade(name: name)) { Text(name).foregroundStyle(Shade(name: name).color) }
    }
    .navigationTitle(family.name)
  }
}

struct AboutView: View {
  @Environment(\.dismiss) private var dismiss

  var body: some View {
    VStack(alignment: .leading) {
      Text("Each colour opens others. The path of screens is the same on all of your devices.")
      Button("Close") { dismiss() }
    }
    .navigationTitle("About")
  }
}
