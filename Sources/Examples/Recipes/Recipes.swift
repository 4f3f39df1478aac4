import NavigationClient

/// What a screen shows.
struct Recipe: Codable {
  var id: Int
  var title: String
}

@main
struct Recipes {
  static func main() async throws {
    // A replica of its own, in a folder of its own. It works without a daemon, and levels when one is there.
    let device = try await Device.open(name: "kitchen")
    let stack = try await device.stack("alice/recipes")

    // When the call returns the action is on this disk and shown; every other device gets it.
    try await stack.push(Recipe(id: 42, title: "Soup"))

    // What is shown, now and after each change on any device, until somebody goes back to the root.
    for await state in stack.states {
      let path = try state.path(of: Recipe.self).map(\.title).joined(separator: " › ")
      print(path.isEmpty ? "(root)" : path, state.waiting > 0 ? "(waiting: \(state.waiting))" : "")
      for conflict in state.newConflicts { print("decided between concurrent actions:", conflict) }
      stack.markConflictsSeen()
      if state.isAtRoot { break }
    }
    await device.close()
  }
}
