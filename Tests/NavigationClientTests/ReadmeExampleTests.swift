import Foundation
import NavigationClient
import TestSupport
import Testing

@Suite struct ReadmeExampleTests {
  @Test func theExampleOpensAScreen() async throws {
    try await withTemporaryFolder { folder in
      let device = try await Device.open(
        name: "laptop", options: Device.Options(folder: folder.path, connects: false))
      #expect(try await openRecipe(on: device).map(\.id) == [42])
      await device.close()
    }
  }
}
