import Foundation
import IsolatedClient
import TerminalUI
import Testing

@MainActor @Suite struct ClientTests {
  @Test func aProgramThatBelongsToTheMainActor() throws {
    let visits = Visits()
    let host = TestHost { ParksView(visits: visits) }
    host.press(.down, .enter)
    #expect(host.text.contains("Birch: 0 stars"))
    #expect(visits.count >= 100)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    let stored = try encoder.encode(try #require(visits.path.codable))
    #expect(String(decoding: stored, as: UTF8.self) == #"["IsolatedClient.Route","{\"park\":{\"_0\":1}}"]"#)
    host.press(.down, .enter)
    #expect(host.text.hasPrefix("Parks"))
    visits.path = NavigationPath(try JSONDecoder().decode(NavigationPath.CodableRepresentation.self, from: stored))
    #expect(host.text.contains("Birch: 0 stars"))
    #expect(host.diagnostics == [])
  }
}
