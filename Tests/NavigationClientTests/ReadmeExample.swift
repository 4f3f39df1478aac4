// The README shows this file, up to the tests; TidyTests compares them.
import NavigationClient

struct Recipe: Codable {
  var id: Int
}

/// Opens the 42nd recipe, on this device and on all others.
func openRecipe(on device: Device) async throws -> [Recipe] {
  let stack = try await device.stack("alice/recipes")
  try await stack.push(Recipe(id: 42))
  if stack.state.conflicts.isEmpty { print("nobody was elsewhere at the same time") }
  return try stack.state.path(of: Recipe.self)
}
