public import Foundation

/// Runs a body with a new, empty folder, short enough for socket paths, and removes the folder after it.
public func withTemporaryFolder<Result>(
  isolation: isolated (any Actor)? = #isolation, _ body: (URL) async throws -> Result
) async throws -> Result {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "navsync-" + UUID().uuidString.prefix(8).lowercased(), isDirectory: true)
  try FileManager.default.createDirectory(
    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder)
}
